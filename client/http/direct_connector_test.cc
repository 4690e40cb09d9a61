#include "client/http/direct_connector.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <optional>

#include "client/http/curl_global.h"
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
  CURLcode Connect(const Request& request) {
    handle_ = connector_->Connect(request, this);
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

TEST_F(DirectConnectorTest, HandsOverAConnectedSocketAndWatchesItNoMore) {
  RawServer server([](RawConnection& connection) { connection.Send("hello"); });
  ASSERT_EQ(Connect(server.Get()), CURLE_OK);
  const int fd = handle_->Socket();
  ASSERT_GE(fd, 0);
  epoll_event event{};
  event.events = EPOLLIN;
  EXPECT_EQ(::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event), 0) << "it is still in the set";
  EXPECT_EQ(::epoll_wait(epoll_fd_, &event, 1, 10'000), 1);
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

TEST_F(DirectConnectorTest, SaysWhyThereIsNoConnection) {
  Request request;
  request.endpoint = {"http", "127.0.0.1", UnusedPort()};
  const CURLcode code = Connect(request);
  EXPECT_NE(code, CURLE_OK);
  EXPECT_EQ(handle_->Failure(code).os_error, ECONNREFUSED);
  EXPECT_EQ(handle_->Socket(), -1);
}

TEST_F(DirectConnectorTest, ItsEndClosesTheConnection) {
  std::promise<void> closed;
  RawServer server([&](RawConnection& connection) {
    connection.WaitForClose();
    closed.set_value();
  });
  ASSERT_EQ(Connect(server.Get()), CURLE_OK);
  handle_.reset();
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(DirectConnectorTag, IsItsDescriptorsAndNoPointers) {
  EXPECT_EQ(DirectConnector::FromTag(DirectConnector::Tag(0)), 0);
  EXPECT_EQ(DirectConnector::FromTag(DirectConnector::Tag(1'000'000)), 1'000'000);
  int aligned = 0;
  EXPECT_FALSE(DirectConnector::FromTag(reinterpret_cast<std::uintptr_t>(&aligned)).has_value());
}

}  // namespace
}  // namespace penstock::http
