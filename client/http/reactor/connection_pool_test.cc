#include "client/http/reactor/connection_pool.h"

#include <gtest/gtest.h>

#include <memory>

namespace penstock::http {
namespace {

using std::chrono::seconds;

class ConnectionPoolTest : public ::testing::Test {
 protected:
  Connection& Add(const std::string& peer, MonotonicTime made = {}) {
    auto fresh = std::make_unique<Connection>();
    fresh->peer = peer;
    fresh->made = made;
    return pool_.Add(std::move(fresh));
  }
  void PutIdle(Connection& connection, seconds when) {
    if (auto longest = pool_.PutIdle(connection, MonotonicTime(when)); longest != nullptr)
      expired_.push_back(std::move(longest));
  }
  Connection* TakeIdle(const std::string& peer, seconds when) {
    return pool_.TakeIdle(peer, MonotonicTime(when), expired_);
  }

  ConnectionPool pool_{{.max_idle = 2, .max_idle_age = seconds(4), .max_lifetime = seconds(60)}};
  std::vector<std::unique_ptr<Connection>> expired_;
};

TEST_F(ConnectionPoolTest, ReturnsTheMostRecentlyUsedConnectionOfThePeer) {
  Connection& a1 = Add("a");
  Connection& a2 = Add("a");
  PutIdle(a1, seconds(1));
  PutIdle(a2, seconds(2));
  EXPECT_EQ(TakeIdle("b", seconds(3)), nullptr);
  EXPECT_EQ(TakeIdle("a", seconds(3)), &a2);
  EXPECT_EQ(TakeIdle("a", seconds(3)), &a1);
  EXPECT_EQ(TakeIdle("a", seconds(3)), nullptr);
  EXPECT_EQ(pool_.size(), 2u);
}

TEST_F(ConnectionPoolTest, DoesNotReuseExpiredConnections) {
  PutIdle(Add("a"), seconds(1));
  EXPECT_EQ(TakeIdle("a", seconds(6)), nullptr);
  PutIdle(Add("a"), seconds(59));
  EXPECT_EQ(TakeIdle("a", seconds(61)), nullptr);  // idle for only two seconds, but created at 0
  EXPECT_EQ(expired_.size(), 2u);
  EXPECT_EQ(pool_.size(), 0u);
  EXPECT_EQ(pool_.idle(), 0u);
}

TEST_F(ConnectionPoolTest, ExpiresConnectionsWithoutARequest) {
  EXPECT_EQ(pool_.next_expiry(), MonotonicTime::max());
  Connection& early = Add("a");
  Connection& late = Add("b");
  PutIdle(late, seconds(3));
  PutIdle(early, seconds(1));
  EXPECT_EQ(pool_.next_expiry(), MonotonicTime(seconds(5)));
  pool_.TakeExpired(MonotonicTime(seconds(4)), expired_);
  EXPECT_TRUE(expired_.empty());
  pool_.TakeExpired(MonotonicTime(seconds(5)), expired_);
  ASSERT_EQ(expired_.size(), 1u);
  EXPECT_EQ(expired_[0].get(), &early);
  EXPECT_EQ(pool_.next_expiry(), MonotonicTime(seconds(7)));
  pool_.TakeExpired(MonotonicTime(seconds(60)), expired_);
  EXPECT_EQ(expired_.size(), 2u);
  EXPECT_EQ(pool_.size(), 0u);
  EXPECT_EQ(pool_.next_expiry(), MonotonicTime::max());
}

// Regression test: the I/O thread spun from 4 s after the last idle connection was reused or closed
// by its peer.
TEST_F(ConnectionPoolTest, HasNoExpiryWithoutIdleConnections) {
  Connection& one = Add("a");
  PutIdle(one, seconds(1));
  ASSERT_EQ(TakeIdle("a", seconds(2)), &one);
  EXPECT_EQ(pool_.next_expiry(), MonotonicTime::max());
  PutIdle(one, seconds(3));
  EXPECT_EQ(pool_.next_expiry(), MonotonicTime(seconds(7)));
  expired_.push_back(pool_.Remove(one));
  EXPECT_EQ(pool_.next_expiry(), MonotonicTime::max());
}

TEST_F(ConnectionPoolTest, ConnectionsInUseDoNotExpire) {
  Connection& busy = Add("a");
  PutIdle(busy, seconds(1));
  ASSERT_EQ(TakeIdle("a", seconds(2)), &busy);
  pool_.TakeExpired(MonotonicTime(seconds(100)), expired_);
  EXPECT_TRUE(expired_.empty());
  EXPECT_EQ(pool_.size(), 1u);
}

TEST_F(ConnectionPoolTest, EvictsTheLongestIdleConnection) {
  Connection& first = Add("a");
  PutIdle(first, seconds(1));
  PutIdle(Add("b"), seconds(2));
  PutIdle(Add("c"), seconds(3));
  ASSERT_EQ(expired_.size(), 1u);
  EXPECT_EQ(expired_[0].get(), &first);
  EXPECT_EQ(pool_.idle(), 2u);
}

TEST_F(ConnectionPoolTest, RemovesConnectionsInAnyState) {
  Connection& idle = Add("a");
  PutIdle(idle, seconds(1));
  Connection& busy = Add("a");
  busy.transfer = std::make_shared<Transfer>();
  EXPECT_EQ(pool_.Remove(busy).get(), &busy);
  EXPECT_EQ(pool_.Remove(idle).get(), &idle);
  EXPECT_EQ(TakeIdle("a", seconds(1)), nullptr);
}

TEST(PeerOf, DiffersForRequestsThatMayNotShareAConnection) {
  Request request;
  request.endpoint = {"https", "h", 443};
  const std::string peer = PeerOf(request);
  request.target = "/other";
  EXPECT_EQ(PeerOf(request), peer);
  request.ca_bundle_path = "/a";
  EXPECT_NE(PeerOf(request), peer);
  request.ca_bundle_path.clear();
  request.endpoint.scheme = "http";
  EXPECT_NE(PeerOf(request), peer);
  EnvironmentProxy proxy{.address = "p:1", .variable = "all_proxy", .url = "http://p:1"};
  const std::string through_proxy = PeerOf(request, proxy);
  EXPECT_NE(through_proxy, PeerOf(request));
  proxy.url = "socks5://p:1";
  EXPECT_NE(PeerOf(request, proxy), through_proxy);
}

}  // namespace
}  // namespace penstock::http
