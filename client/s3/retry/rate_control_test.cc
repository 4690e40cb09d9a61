#include "client/s3/retry/rate_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <queue>
#include <string>
#include <vector>

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

const MonotonicTime kStart{seconds(1000)};

// S3's side of a prefix: a rate in requests per second and a burst of a tenth of it.
class Partition {
 public:
  explicit Partition(double rate) : rate_(rate), tokens_(std::max(1.0, rate / 10)) {}
  bool Admit(MonotonicTime now) {
    tokens_ = std::min(std::max(1.0, rate_ / 10),
                       tokens_ + rate_ * std::chrono::duration<double>(now - last_).count());
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  void set_rate(double rate) { rate_ = rate; }

 private:
  double rate_;
  double tokens_;
  MonotonicTime last_ = kStart;
};

// Processes with several threads each that send to one partition as fast as allowed, in simulated
// time.
class SimulatedProcesses {
 public:
  SimulatedProcesses(int processes, int threads, double limit, std::uint64_t seed)
      : limit_(limit), partition_(limit), random_(seed) {
    for (int i = 0; i < processes; ++i)
      rates_.push_back(
          std::make_unique<PrefixRate>(seed * 1000 + static_cast<std::uint64_t>(i) * 7919 + 13));
    good_.resize(static_cast<std::size_t>(processes));
    for (int i = 0; i < processes * threads; ++i) {
      Push({kStart + milliseconds(Random() % 200), Event::kJoin, i % processes, 0, {}});
    }
  }

  void RunUntil(MonotonicTime end) {
    while (events_.top().at < end) {
      const Event event = events_.top();
      events_.pop();
      Step(event);
    }
    now_ = end;
  }
  void Forget() {
    std::fill(good_.begin(), good_.end(), 0);
    refused_ = 0;
    since_ = now_;
  }
  Partition& partition() { return partition_; }
  double total() const {
    double sum = 0;
    for (const double good : good_) sum += good;
    return sum;
  }
  // Relative to the rate of the partition.
  double goodput() const {
    return total() / (limit_ * std::chrono::duration<double>(now_ - since_).count());
  }
  double refused() const { return refused_ / (refused_ + total()); }
  double slowest() const {
    return *std::min_element(good_.begin(), good_.end()) * static_cast<double>(good_.size()) /
           total();
  }

 private:
  struct Event {
    enum Kind { kJoin, kWait, kArrive, kResponse };
    MonotonicTime at;
    Kind kind;
    int process;
    Turn turn;
    MonotonicTime sent;
    bool refused = false;
    bool operator<(const Event& other) const { return at > other.at; }
  };

  std::uint64_t Random() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return random_ >> 33;
  }
  void Push(Event event) { events_.push(event); }
  void Step(Event event) {
    PrefixRate& rate = *rates_[static_cast<std::size_t>(event.process)];
    const MonotonicTime now = event.at;
    switch (event.kind) {
      case Event::kJoin: event.turn = rate.Join(now); [[fallthrough]];
      case Event::kWait: {
        const nanoseconds wait = rate.WaitFor(event.turn, now);
        if (wait.count() > 0)
          return Push({now + wait, Event::kWait, event.process, event.turn, {}});
        return Push({now + milliseconds(3 + Random() % 4), Event::kArrive, event.process, 0, now});
      }
      case Event::kArrive:
        return Push({now + milliseconds(5), Event::kResponse, event.process, 0, event.sent,
                     !partition_.Admit(now)});
      case Event::kResponse:
        rate.OnResponse(event.refused, event.sent, now);
        event.refused ? refused_ += 1 : good_[static_cast<std::size_t>(event.process)] += 1;
        return Push({now + (event.refused ? milliseconds(Random() % 250) : milliseconds(0)),
                     Event::kJoin,
                     event.process,
                     0,
                     {}});
    }
  }

  const double limit_;
  Partition partition_;
  std::uint64_t random_;
  std::vector<std::unique_ptr<PrefixRate>> rates_;
  std::priority_queue<Event> events_;
  std::vector<double> good_;
  double refused_ = 0;
  MonotonicTime now_ = kStart;
  MonotonicTime since_ = kStart;
};

TEST(RateControlTest, EightProcessesShareAPrefixWithoutCommunication) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SimulatedProcesses crowd(8, 8, 55, seed);
    crowd.RunUntil(kStart + seconds(60));
    crowd.Forget();
    crowd.RunUntil(kStart + seconds(180));
    EXPECT_GE(crowd.goodput(), 0.97) << seed;
    EXPECT_LE(crowd.refused(), 0.01) << seed;
    EXPECT_GE(crowd.slowest(), 0.75) << seed;
  }
}

TEST(RateControlTest, OneProcessFindsTheLimitOfARealPrefix) {
  SimulatedProcesses crowd(1, 256, 3500, 1);
  crowd.RunUntil(kStart + seconds(60));
  crowd.Forget();
  crowd.RunUntil(kStart + seconds(90));
  EXPECT_GE(crowd.goodput(), 0.95);
  EXPECT_LE(crowd.refused(), 0.01);
}

TEST(RateControlTest, FindsAnIncreasedLimit) {
  SimulatedProcesses crowd(8, 8, 110, 1);
  crowd.partition().set_rate(55);
  crowd.RunUntil(kStart + seconds(60));
  crowd.partition().set_rate(110);
  crowd.RunUntil(kStart + seconds(300));
  crowd.Forget();
  crowd.RunUntil(kStart + seconds(360));
  EXPECT_GE(crowd.goodput(), 0.9);
}

TEST(RateControlTest, FindsADecreasedLimit) {
  SimulatedProcesses crowd(4, 8, 55, 1);
  crowd.partition().set_rate(220);
  crowd.RunUntil(kStart + seconds(60));
  crowd.partition().set_rate(55);
  crowd.RunUntil(kStart + seconds(120));
  crowd.Forget();
  crowd.RunUntil(kStart + seconds(180));
  EXPECT_GE(crowd.goodput(), 0.95);
  EXPECT_LE(crowd.refused(), 0.02);
}

TEST(RateControlTest, FewThrottlingErrorsDoNotLimit) {
  PrefixRate rate(1);
  MonotonicTime now = kStart;
  for (int i = 0; i < 10'000; ++i, now += milliseconds(1)) rate.OnResponse(i % 20 == 0, now, now);
  EXPECT_EQ(rate.rate(), 0) << "one in twenty";
  PrefixRate other(1);
  for (int i = 0; i < 15; ++i) other.OnResponse(true, now, now);
  EXPECT_EQ(other.rate(), 0) << "fifteen and then none";
  EXPECT_EQ(other.WaitFor(other.Join(now), now), nanoseconds(0));
}

TEST(RateControlTest, ManyThrottlingErrorsLimitTheRate) {
  PrefixRate rate(1);
  for (int i = 0; i < 64; ++i) rate.OnResponse(true, kStart, kStart + milliseconds(i));
  EXPECT_GT(rate.rate(), 0);
  const MonotonicTime now = kStart + milliseconds(64);
  const Turn first = rate.Join(now);
  const Turn second = rate.Join(now);
  EXPECT_GT(rate.WaitFor(second, now), nanoseconds(0));
  rate.Leave(first, now);
  EXPECT_EQ(rate.WaitFor(first, now + seconds(1)), nanoseconds(0));
}

TEST(RateControlTest, AnUnusedRateIsForgotten) {
  PrefixRate rate(1);
  for (int i = 0; i < 64; ++i) rate.OnResponse(true, kStart, kStart + milliseconds(i));
  EXPECT_EQ(rate.WaitFor(rate.Join(kStart + seconds(200)), kStart + seconds(200)), nanoseconds(0));
  EXPECT_EQ(rate.rate(), 0);
}

TEST(RateControlTest, OnlyThrottledScopesHaveARate) {
  RateControl control;
  const RateScope scope{"host", "bucket", "a/b/c", false};
  EXPECT_EQ(control.Find(scope), nullptr);
  RateLimiter& made = control.For(scope);
  EXPECT_EQ(control.Find(scope), &made);
  EXPECT_EQ(control.Find({"host", "bucket", "a/b/other", false}), &made) << "the same prefix";
  EXPECT_EQ(control.Find({"host", "bucket", "a/b/c", true}), nullptr)
      << "writes are counted separately";
  EXPECT_EQ(control.Find({"host", "bucket", "a/x/c", false}), nullptr);
  EXPECT_EQ(control.Find({"host", "other", "a/b/c", false}), nullptr);
  EXPECT_EQ(control.Find({"else", "bucket", "a/b/c", false}), nullptr);
}

}  // namespace
}  // namespace penstock::s3
