#include "emulator/http/connection/epoll_registration.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

// An EpollRegistration never dereferences its connection, so any address serves.
class EpollRegistrationTest : public testing::Test {
 protected:
  ~EpollRegistrationTest() override { ::close(epoll_); }

  // Returns the registration of the next event, or null without one. `events`: the event's bits.
  EpollRegistration* NextEvent(std::uint32_t* events = nullptr, int timeout_ms = 0) {
    epoll_event event{};
    if (::epoll_wait(epoll_, &event, 1, timeout_ms) != 1) return nullptr;
    if (events != nullptr) *events = event.events;
    return static_cast<EpollRegistration*>(event.data.ptr);
  }
  EpollRegistration* ToldSoon(std::uint32_t* events = nullptr) {
    return NextEvent(events, static_cast<int>(kTestTimeout.count()));
  }
  std::size_t Read() {
    std::vector<std::byte> into(4096);
    return pipe_.stream->TryRead(into).bytes;
  }

  const int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  Pipe pipe_;
  char somebody_ = 0;
  WireConnection& connection_ = reinterpret_cast<WireConnection&>(somebody_);
  EpollRegistration registration_;
};

TEST_F(EpollRegistrationTest, ReportsBytesThatArrivedBeforeOpen) {
  ASSERT_TRUE(pipe_.peer->Send("x"));
  pollfd arrived{pipe_.stream->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestTimeout.count())), 1);
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(NextEvent(), &registration_);
  EXPECT_EQ(registration_.Claim(), &connection_);
}

TEST_F(EpollRegistrationTest, HasOneOwnerThatRetriesAfterAnEvent) {
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(NextEvent(), nullptr);
  ASSERT_TRUE(pipe_.peer->Send("first"));
  ASSERT_EQ(ToldSoon(), &registration_);
  ASSERT_EQ(registration_.Claim(), &connection_);
  EXPECT_EQ(Read(), 5u);
  ASSERT_TRUE(pipe_.peer->Send("second"));
  ASSERT_EQ(ToldSoon(), &registration_);
  EXPECT_EQ(registration_.Claim(), nullptr);
  EXPECT_EQ(registration_.Claim(), nullptr);
  EXPECT_EQ(registration_.Rearm(), EpollRegistration::Rearmed::kRetry);
  EXPECT_EQ(Read(), 6u);
  EXPECT_EQ(registration_.Rearm(), EpollRegistration::Rearmed::kYes);
  EXPECT_EQ(registration_.Claim(), &connection_);
}

TEST_F(EpollRegistrationTest, ReportsACloseThatArrivesWithTheLastBytes) {
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_TRUE(pipe_.peer->Send("last"));
  pipe_.peer->EndSending();
  std::uint32_t events = 0;
  bool ended = false;
  while (!ended && ToldSoon(&events) == &registration_) ended = (events & EPOLLRDHUP) != 0;
  EXPECT_TRUE(ended);
}

TEST_F(EpollRegistrationTest, MuteSuppressesEventsUntilRearm) {
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(registration_.Claim(), &connection_);
  registration_.Mute();
  ASSERT_TRUE(pipe_.peer->Send("body"));
  pollfd arrived{pipe_.stream->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestTimeout.count())), 1);
  EXPECT_EQ(NextEvent(), nullptr);
  EXPECT_EQ(registration_.Rearm(), EpollRegistration::Rearmed::kYes);
  EXPECT_EQ(NextEvent(), &registration_);
}

TEST_F(EpollRegistrationTest, RearmReadyCausesExactlyOneEventAtOnce) {
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(registration_.Claim(), &connection_);
  EXPECT_EQ(registration_.RearmReady(), EpollRegistration::Rearmed::kYes);
  ASSERT_EQ(NextEvent(), &registration_);
  ASSERT_EQ(registration_.Claim(), &connection_);
  EXPECT_EQ(registration_.Rearm(), EpollRegistration::Rearmed::kYes);
  EXPECT_EQ(NextEvent(), nullptr);
}

TEST_F(EpollRegistrationTest, RearmUntilWritableReportsOnlyRoom) {
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(registration_.Claim(), &connection_);
  const std::string text(64 << 20, 'x');
  const ByteView all = AsBytes(text);
  ASSERT_EQ(pipe_.stream->Write({&all, 1}, More::kNo, std::chrono::milliseconds(0)).status,
            IoStatus::kWouldBlock);
  ASSERT_EQ(registration_.RearmUntilWritable(), EpollRegistration::Rearmed::kYes);
  ASSERT_TRUE(pipe_.peer->Send("more"));
  pollfd arrived{pipe_.stream->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestTimeout.count())), 1);
  EXPECT_EQ(NextEvent(), nullptr);
  std::vector<char> taken(16 << 20);
  while (NextEvent(nullptr, 1) == nullptr)
    ASSERT_GT(::recv(pipe_.peer->fd(), taken.data(), taken.size(), 0), 0);
  ASSERT_EQ(registration_.Claim(), &connection_);
  EXPECT_EQ(registration_.Rearm(), EpollRegistration::Rearmed::kYes);
  EXPECT_EQ(NextEvent(), &registration_) << "what arrived meanwhile";
}

TEST_F(EpollRegistrationTest, AfterCloseItCanServeAnotherConnection) {
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(registration_.Claim(), &connection_);
  registration_.Close();
  EXPECT_EQ(registration_.Claim(), nullptr);
  ASSERT_TRUE(pipe_.peer->Send("late"));
  EXPECT_EQ(NextEvent(), nullptr);
  Pipe another;
  char other = 0;
  ASSERT_TRUE(
      registration_.Open(epoll_, another.stream->fd(), reinterpret_cast<WireConnection&>(other)));
  EXPECT_EQ(registration_.Claim(), &reinterpret_cast<WireConnection&>(other));
}

// Every byte is processed by exactly one thread: several threads receive events while one sends.
TEST_F(EpollRegistrationTest, EveryByteHasExactlyOneReader) {
  constexpr std::size_t kBytes = 20'000;
  ASSERT_TRUE(registration_.Open(epoll_, pipe_.stream->fd(), connection_));
  std::atomic<std::size_t> read{0};
  std::atomic<int> owners{0};
  std::atomic<bool> shared{false};
  const auto serve = [&] {
    while (read.load() < kBytes && !shared.load()) {
      EpollRegistration* const event = NextEvent(nullptr, 20);
      if (event == nullptr || event->Claim() == nullptr) continue;
      do {
        if (owners.fetch_add(1) != 0) shared = true;
        while (const std::size_t got = Read()) read += got;
        owners.fetch_sub(1);
      } while (event->Rearm() == EpollRegistration::Rearmed::kRetry);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(serve);
  for (std::size_t sent = 0; sent < kBytes; ++sent) ASSERT_TRUE(pipe_.peer->Send("x"));
  threads.clear();
  EXPECT_EQ(read.load(), kBytes);
  EXPECT_FALSE(shared.load());
}

}  // namespace
}  // namespace penstock::emulator::http
