#include "client/http/curl/curl_sockets.h"

#include <gtest/gtest.h>

#include <string>

#include "client/http/curl/curl_global.h"
#include "client/http/direct/peer_address.h"
#include "client/http/raw_server_for_test.h"

namespace penstock::http {
namespace {

struct Seen {
  CurlSockets* sockets;
  CURL* handle;
  std::optional<int> socket;
  PeerAddress peer;
};

// Called while the body of the response arrives.
std::size_t OnBody(char*, std::size_t size, std::size_t count, void* self) {
  Seen& seen = *static_cast<Seen*>(self);
  seen.socket = seen.sockets->Of(seen.handle);
  if (seen.socket) seen.peer = PeerAddress::OfSocket(*seen.socket);
  return size * count;
}

TEST(CurlSocketsTest, FindsTheSocketOfARequestAndReportsClosedSockets) {
  ASSERT_TRUE(InitCurl());
  RawServer server(RawServer::Ok);
  CurlSockets sockets;
  CURL* const handle = curl_easy_init();
  Seen seen{&sockets, handle, {}, {}};
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  sockets.Install(handle);
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &seen);
  EXPECT_EQ(sockets.Of(handle), std::nullopt) << "not connected yet";
  for (int i = 0; i < 2; ++i) {  // the second request uses the kept connection
    seen.socket.reset();
    ASSERT_EQ(curl_easy_perform(handle), CURLE_OK);
    ASSERT_TRUE(seen.socket);
    EXPECT_EQ(seen.peer.port, server.port());
  }
  EXPECT_FALSE(sockets.TakeClosed());
  curl_easy_cleanup(handle);
  EXPECT_TRUE(sockets.TakeClosed());
  EXPECT_FALSE(sockets.TakeClosed());
}

}  // namespace
}  // namespace penstock::http
