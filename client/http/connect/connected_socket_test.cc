#include "client/http/connect/connected_socket.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <string>

#include "client/http/socket_pair_for_test.h"

namespace penstock::http {
namespace {

class ConnectedSocketTest : public ::testing::Test {
 protected:
  void ClosePeer() { pair_.ClosePeer(); }
  std::string PeerReads() { return pair_.PeerReads(); }

  SocketPair pair_;
  std::array<std::byte, 64> memory_{};
};

TEST_F(ConnectedSocketTest, SendsHeadAndBodyTogether) {
  ConnectedSocket socket(pair_.DuplicateOwn());
  EXPECT_EQ(socket.Send(AsBytes("head "), AsBytes("body")).count, 9u);
  EXPECT_EQ(PeerReads(), "head body");
  EXPECT_EQ(socket.Send({}, AsBytes("rest")).count, 4u);
  EXPECT_EQ(socket.Send(AsBytes("!"), {}).count, 1u);
  EXPECT_EQ(PeerReads(), "rest!");
}

TEST_F(ConnectedSocketTest, ReceivesAvailableBytesWithoutBlocking) {
  ConnectedSocket socket(pair_.DuplicateOwn());
  EXPECT_EQ(socket.Receive(memory_).kind, IoResult::Kind::kWouldBlock);
  ASSERT_EQ(::send(pair_.peer_fd(), "abc", 3, 0), 3);
  const IoResult got = socket.Receive(memory_);
  ASSERT_TRUE(got.moved());
  EXPECT_EQ(AsText(ByteView(memory_).first(got.count)), "abc");
  ClosePeer();
  EXPECT_EQ(socket.Receive(memory_).kind, IoResult::Kind::kClosed);
}

TEST_F(ConnectedSocketTest, FullSocketWouldBlockAndClosedSocketIsBroken) {
  ConnectedSocket socket(pair_.DuplicateOwn());
  const std::string much(1 << 22, 'x');
  IoResult sent = socket.Send({}, AsBytes(much));
  while (sent.moved()) sent = socket.Send({}, AsBytes(much));
  EXPECT_EQ(sent.kind, IoResult::Kind::kWouldBlock);
  ClosePeer();
  sent = socket.Send({}, AsBytes(much));
  EXPECT_EQ(sent.kind, IoResult::Kind::kBroken);  // and no SIGPIPE
  EXPECT_FALSE(sent.reason.empty());
}

TEST_F(ConnectedSocketTest, NotReadableBelowTheLowWaterMarkButCanBeRead) {
  ConnectedSocket socket(pair_.DuplicateOwn());
  socket.SetLowWater(10);
  int value = 0;
  socklen_t size = sizeof value;
  ASSERT_EQ(::getsockopt(pair_.own_fd(), SOL_SOCKET, SO_RCVLOWAT, &value, &size), 0);
  EXPECT_EQ(value, 10);
  ASSERT_EQ(::send(pair_.peer_fd(), "abc", 3, 0), 3);
  EXPECT_EQ(socket.Receive(memory_).count, 3u);
}

}  // namespace
}  // namespace penstock::http
