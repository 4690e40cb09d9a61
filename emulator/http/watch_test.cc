#include "emulator/http/watch.h"

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

// A Watch never looks into its connection: any address serves.
class WatchTest : public testing::Test {
 protected:
  ~WatchTest() override { ::close(epoll_); }

  // The next event's Watch; null: there is none. `events`: what it says.
  Watch* Told(std::uint32_t* events = nullptr, int patience_ms = 0) {
    epoll_event event{};
    if (::epoll_wait(epoll_, &event, 1, patience_ms) != 1) return nullptr;
    if (events != nullptr) *events = event.events;
    return static_cast<Watch*>(event.data.ptr);
  }
  Watch* ToldSoon(std::uint32_t* events = nullptr) { return Told(events, static_cast<int>(kTestPatience.count())); }
  std::size_t Read() {
    std::vector<std::byte> into(4096);
    return pipe_.stream->TryRead(into).bytes;
  }

  const int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  Pipe pipe_;
  char somebody_ = 0;
  WireConnection& connection_ = reinterpret_cast<WireConnection&>(somebody_);
  Watch watch_;
};

TEST_F(WatchTest, TellsOfWhatArrivedBeforeItWasOpened) {
  ASSERT_TRUE(pipe_.peer->Send("x"));
  pollfd arrived{pipe_.stream->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestPatience.count())), 1);
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(Told(), &watch_);
  EXPECT_EQ(watch_.Claim(), &connection_);
}

TEST_F(WatchTest, OneOwnerAtATimeWhoLooksAgainWhenToldMeanwhile) {
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(Told(), nullptr);
  ASSERT_TRUE(pipe_.peer->Send("first"));
  ASSERT_EQ(ToldSoon(), &watch_);
  ASSERT_EQ(watch_.Claim(), &connection_);
  EXPECT_EQ(Read(), 5u);
  ASSERT_TRUE(pipe_.peer->Send("second"));
  ASSERT_EQ(ToldSoon(), &watch_);
  EXPECT_EQ(watch_.Claim(), nullptr);
  EXPECT_EQ(watch_.Claim(), nullptr);
  EXPECT_EQ(watch_.Leave(), Watch::Left::kTold);
  EXPECT_EQ(Read(), 6u);
  EXPECT_EQ(watch_.Leave(), Watch::Left::kYes);
  EXPECT_EQ(watch_.Claim(), &connection_);
}

TEST_F(WatchTest, TheEndThatCameWithTheLastBytesIsTold) {
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_TRUE(pipe_.peer->Send("last"));
  pipe_.peer->EndSending();
  std::uint32_t events = 0;
  bool ended = false;
  while (!ended && ToldSoon(&events) == &watch_) ended = (events & EPOLLRDHUP) != 0;
  EXPECT_TRUE(ended);
}

TEST_F(WatchTest, MutedItTellsNothingUntilItIsLeft) {
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(watch_.Claim(), &connection_);
  watch_.Mute();
  ASSERT_TRUE(pipe_.peer->Send("body"));
  pollfd arrived{pipe_.stream->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestPatience.count())), 1);
  EXPECT_EQ(Told(), nullptr);
  EXPECT_EQ(watch_.Leave(), Watch::Left::kYes);
  EXPECT_EQ(Told(), &watch_);
}

TEST_F(WatchTest, LeftReadyItIsToldOfAtOnceAndOnce) {
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(watch_.Claim(), &connection_);
  EXPECT_EQ(watch_.LeaveReady(), Watch::Left::kYes);
  ASSERT_EQ(Told(), &watch_);
  ASSERT_EQ(watch_.Claim(), &connection_);
  EXPECT_EQ(watch_.Leave(), Watch::Left::kYes);
  EXPECT_EQ(Told(), nullptr);
}

TEST_F(WatchTest, LeftUntilWritableItTellsOfRoomAlone) {
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(watch_.Claim(), &connection_);
  const std::string text(64 << 20, 'x');
  const ByteView all = AsBytes(text);
  ASSERT_EQ(pipe_.stream->Write({&all, 1}, More::kNo, std::chrono::milliseconds(0)).status, IoStatus::kWouldBlock);
  ASSERT_EQ(watch_.LeaveUntilWritable(), Watch::Left::kYes);
  ASSERT_TRUE(pipe_.peer->Send("more"));
  pollfd arrived{pipe_.stream->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&arrived, 1, static_cast<int>(kTestPatience.count())), 1);
  EXPECT_EQ(Told(), nullptr);
  std::vector<char> taken(16 << 20);
  while (Told(nullptr, 1) == nullptr) ASSERT_GT(::recv(pipe_.peer->fd(), taken.data(), taken.size(), 0), 0);
  ASSERT_EQ(watch_.Claim(), &connection_);
  EXPECT_EQ(watch_.Leave(), Watch::Left::kYes);
  EXPECT_EQ(Told(), &watch_) << "what arrived meanwhile";
}

TEST_F(WatchTest, ClosedItGivesNobodyAwayAndServesAnother) {
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  ASSERT_EQ(watch_.Claim(), &connection_);
  watch_.Close();
  EXPECT_EQ(watch_.Claim(), nullptr);
  ASSERT_TRUE(pipe_.peer->Send("late"));
  EXPECT_EQ(Told(), nullptr);
  Pipe another;
  char other = 0;
  ASSERT_TRUE(watch_.Open(epoll_, another.stream->fd(), reinterpret_cast<WireConnection&>(other)));
  EXPECT_EQ(watch_.Claim(), &reinterpret_cast<WireConnection&>(other));
}

// Nothing is lost and nothing is served by two: threads that are told, against one that sends.
TEST_F(WatchTest, EveryByteFindsOneReader) {
  constexpr std::size_t kBytes = 20'000;
  ASSERT_TRUE(watch_.Open(epoll_, pipe_.stream->fd(), connection_));
  std::atomic<std::size_t> read{0};
  std::atomic<int> owners{0};
  std::atomic<bool> shared{false};
  const auto serve = [&] {
    while (read.load() < kBytes && !shared.load()) {
      Watch* const told = Told(nullptr, 20);
      if (told == nullptr || told->Claim() == nullptr) continue;
      do {
        if (owners.fetch_add(1) != 0) shared = true;
        while (const std::size_t got = Read()) read += got;
        owners.fetch_sub(1);
      } while (told->Leave() == Watch::Left::kTold);
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
