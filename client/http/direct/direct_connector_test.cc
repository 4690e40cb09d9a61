#include "client/http/direct/direct_connector.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/http/curl/curl_global.h"
#include "client/http/direct/address_circuit_breaker.h"
#include "client/http/raw_server_for_test.h"

namespace penstock::http {
namespace {

class DirectConnectorTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(InitCurl()); }
  ~DirectConnectorTest() override {
    handle_.reset();
    connector_.reset();
    ::close(epoll_fd_);
  }
  // Runs the connector until the attempt has ended.
  CURLcode Connect(const Request& request, bool tries_all = false) {
    handle_ = connector_->Connect(request, this, tries_all);
    std::optional<CURLcode> code;
    while (!code) {
      epoll_event events[8];
      const int count = ::epoll_wait(epoll_fd_, events, 8, 10);
      for (int i = 0; i < count; ++i) {
        const auto fd = DirectConnector::FromTag(events[i].data.u64);
        EXPECT_TRUE(fd.has_value());
        if (fd) connector_->OnEvents(*fd, events[i].events);
      }
      connector_->OnTime(SystemClock().Monotonic());
      connector_->Finished([&](void* owner, CURLcode ended) {
        EXPECT_EQ(owner, this);
        code = ended;
      });
    }
    return *code;
  }

  const int epoll_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::optional<DirectConnector> connector_{std::in_place, nullptr, std::size_t{4}, epoll_fd_};
  std::unique_ptr<ConnectHandle> handle_;
};

TEST_F(DirectConnectorTest, HandsOverAConnectedSocketAndStopsWatchingIt) {
  RawServer server([](RawConnection& connection) { connection.Send("hello"); });
  ASSERT_EQ(Connect(server.Get()), CURLE_OK);
  const int fd = handle_->Socket();
  ASSERT_GE(fd, 0);
  epoll_event event{};
  event.events = EPOLLIN;
  EXPECT_EQ(::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event), 0)
      << "the descriptor is still in the set";
  EXPECT_EQ(::epoll_wait(epoll_fd_, &event, 1, 10'000), 1);
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

TEST_F(DirectConnectorTest, ReportsWhyConnectingFailed) {
  Request request;
  request.endpoint = {"http", "127.0.0.1", UnusedPort()};
  const CURLcode code = Connect(request);
  EXPECT_NE(code, CURLE_OK);
  EXPECT_EQ(handle_->Failure(code).os_error, ECONNREFUSED);
  EXPECT_EQ(handle_->Socket(), -1);
}

TEST_F(DirectConnectorTest, DestructionClosesTheConnection) {
  std::promise<void> closed;
  RawServer server([&](RawConnection& connection) {
    connection.WaitForClose();
    closed.set_value();
  });
  ASSERT_EQ(Connect(server.Get()), CURLE_OK);
  handle_.reset();
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST_F(DirectConnectorTest, SkipsAFailedAddressIfThereIsAnother) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  Request request = server.Get();
  const int port = request.endpoint.port;
  request.endpoint.host = "two.test";
  const std::string both = "two.test:" + std::to_string(port) + ":127.0.0.2,127.0.0.1";
  connector_.emplace(nullptr, std::size_t{4}, epoll_fd_, std::vector<std::string>{both});
  const PeerAddress dead = PeerAddress::OfText("127.0.0.2", port);
  for (int i = 0; i < 8; ++i)
    AddressCircuitBreaker::PerProcess().OnFailure(dead, SystemClock().Monotonic());
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(Connect(request), CURLE_OK);
    EXPECT_EQ(handle_->tried(), std::vector<PeerAddress>{PeerAddress::OfText("127.0.0.1", port)});
  }
}

TEST_F(DirectConnectorTest, TriesAllAddressesIfAllFailed) {
  RawServer server([](RawConnection& connection) { connection.WaitForClose(); });
  const Request request = server.Get();
  const PeerAddress only = PeerAddress::OfText("127.0.0.1", request.endpoint.port);
  for (int i = 0; i < 8; ++i)
    AddressCircuitBreaker::PerProcess().OnFailure(only, SystemClock().Monotonic());
  EXPECT_NE(Connect(request), CURLE_OK);
  EXPECT_TRUE(handle_->skipped_all());
  EXPECT_EQ(Connect(request, true), CURLE_OK);
  handle_->RecordResult(CURLE_OK);
  EXPECT_EQ(Connect(request), CURLE_OK) << "the server is up again";
}

TEST_F(DirectConnectorTest, RecordsWhichAddressFailed) {
  Request request;
  request.endpoint = {"http", "127.0.0.1", UnusedPort()};
  const CURLcode code = Connect(request);
  handle_->RecordResult(code);
  EXPECT_TRUE(AddressCircuitBreaker::PerProcess().Avoids(
      PeerAddress::OfText("127.0.0.1", request.endpoint.port),
      SystemClock().Monotonic() - std::chrono::hours(1)));
}

TEST(DirectConnectorTag, DistinguishesDescriptorsFromPointers) {
  EXPECT_EQ(DirectConnector::FromTag(DirectConnector::Tag(0)), 0);
  EXPECT_EQ(DirectConnector::FromTag(DirectConnector::Tag(1'000'000)), 1'000'000);
  int aligned = 0;
  EXPECT_FALSE(DirectConnector::FromTag(reinterpret_cast<std::uintptr_t>(&aligned)).has_value());
}

}  // namespace
}  // namespace penstock::http
