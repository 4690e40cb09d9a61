#include "client/http/peer_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

namespace penstock::http {
namespace {

TEST(PeerAddressTest, ParsesLiteralsAndFormatsThemWithTheirPort) {
  EXPECT_EQ(PeerAddress::OfText("192.0.2.1", 443).ToString(), "192.0.2.1:443");
  EXPECT_EQ(PeerAddress::OfText("2001:db8::1", 9000).ToString(), "[2001:db8::1]:9000");
  EXPECT_FALSE(PeerAddress::OfText("localhost", 443).known());
  EXPECT_EQ(PeerAddress().ToString(), "");
}

TEST(PeerAddressTest, ReadsTheRemoteAddressOfASocket) {
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(server, 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(server, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_FALSE(PeerAddress::OfSocket(client).known());
  ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(PeerAddress::OfSocket(client),
            PeerAddress::OfText("127.0.0.1", ntohs(address.sin_port)));
  ::close(client);
  ::close(server);
}

}  // namespace
}  // namespace penstock::http
