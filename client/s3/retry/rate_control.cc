#include "client/s3/retry/rate_control.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/process_id.h"
#include "client/memory/per_process.h"

namespace penstock::s3 {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

// Limiting starts above these: plain retries handle fewer throttling errors, or a smaller share of
// them.
constexpr int kMinRefused = 16;
constexpr double kMinShare = 0.15;
constexpr seconds kForgetRefusals{10};
constexpr double kShareMemory = 1.0 / 32;

constexpr double kMinRate = 0.5;
constexpr double kFirstRate = 10;  // At least; or twice the measured rate.
constexpr double kSavedTurns = 1;

// Without throttling the rate grows by Step() * Gain() per second; on a throttling error it falls
// by the share Step(). It is stable where the share p of throttled requests satisfies p * rate^2 =
// Gain(). This share is nearly independent of the current rate of a process, which makes the rates
// of processes equal.
constexpr double kSettlingGain = 6;
constexpr double kSettlingGainPerRate = 0.4;
constexpr double kSteadyGain = 0.15;
constexpr double kSteadyGainPerRate = 0.02;
constexpr double kMaxRefused = 0.7;
constexpr double kFirstStep = 0.5;
constexpr double kMinSettlingStep = 0.05;
constexpr double kSteadyStep = 0.03;
constexpr seconds kSettling{40};
constexpr double kAveraged = 0.6;  // The last part of the settling time determines the rate.
constexpr double kSettleAgainShare =
    0.3;  // The limit has decreased, or other processes have started.
// After this many quiet intervals the limit has probably increased.
constexpr double kQuietIntervals = 3;
constexpr seconds kUnusedFor{60};  // No request waits: nothing to limit.

std::string_view PrefixOf(std::string_view key) {
  const std::size_t first = key.find('/');
  if (first == std::string_view::npos) return {};
  const std::size_t second = key.find('/', first + 1);
  return key.substr(0, second == std::string_view::npos ? first : second);
}

std::uint64_t HashOf(const RateScope& scope) {
  std::uint64_t hash = scope.writes ? 0x9e3779b97f4a7c15u : 0;
  for (const std::string_view part : {scope.host, scope.bucket, PrefixOf(scope.key)}) {
    hash = (hash ^ std::hash<std::string_view>{}(part)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

double PrefixRate::NextRandom() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<double>(random_ >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

double PrefixRate::Gain() const {
  const bool settling = phase_ == Phase::kSettling;
  const double gain = settling ? kSettlingGain + kSettlingGainPerRate * rate_
                               : kSteadyGain + kSteadyGainPerRate * rate_;
  return std::min(gain, kMaxRefused * rate_ * rate_);
}

double PrefixRate::Step() const {
  if (phase_ == Phase::kSteady) return kSteadyStep;
  return std::max(kMinSettlingStep, kFirstStep / (1 + cuts_ / 2.0));
}

void PrefixRate::BeginSettling(double rate, MonotonicTime now) {
  if (phase_ == Phase::kWatching) line_.Reset(now);
  phase_ = Phase::kSettling;
  rate_ = std::max(rate, kMinRate);
  since_ = last_cut_ = last_wait_ = now;
  cuts_ = 0;
  area_ = area_time_ = 0;
}

void PrefixRate::EndSettling() {
  if (area_time_ > 0) rate_ = area_ / area_time_;
  // Subtract the share that is throttled.
  rate_ = std::max(kMinRate, rate_ * std::max(1 - kMaxRefused, 1 - Gain() / (rate_ * rate_)));
  phase_ = Phase::kSteady;
  share_ = 0;
}

void PrefixRate::Advance(MonotonicTime now) {
  const bool waited = line_.waits();
  const double passed = line_.Move(rate_, kSavedTurns, now);
  if (waited) last_wait_ = now;
  if (now - last_wait_ > kUnusedFor && now - last_cut_ > kUnusedFor) {
    phase_ = Phase::kWatching;
    refused_ = 0;
    share_ = 0;
    return;
  }
  if (phase_ == Phase::kSettling) {
    if (Seconds(now - since_) > Seconds(kSettling) * (1 - kAveraged)) {
      area_ += rate_ * passed;
      area_time_ += passed;
    }
    if (now - since_ > kSettling) EndSettling();
  }
  if (!waited) return;  // Without demand there is nothing to learn.
  const double gain = Gain();
  double growth = Step() * gain;
  const double interval = rate_ / gain;  // Expected between two throttling errors.
  const double quiet = Seconds(now - last_cut_) - kQuietIntervals * interval;
  if (quiet > 0) growth *= 1 + quiet / interval;
  rate_ += growth * passed;
}

void PrefixRate::Cut(MonotonicTime now) {
  rate_ = std::max(kMinRate, rate_ * (1 - Step()));
  last_cut_ = now;
  // In a burst of errors every cut is large; smaller steps are for a rate that is about right.
  if (share_ < 0.5) ++cuts_;
}

void PrefixRate::Watch(bool throttled, MonotonicTime now) {
  if (refused_ == 0 || now - last_cut_ > kForgetRefusals) {
    refused_ = accepted_ = 0;
    since_ = now;
  }
  if (!throttled) {
    ++accepted_;
    return;
  }
  last_cut_ = now;
  if (++refused_ < kMinRefused || share_ < kMinShare) return;
  const double measured = accepted_ / std::max(0.02, Seconds(now - since_));
  BeginSettling(std::max(kFirstRate, 2 * measured), now);
}

Turn PrefixRate::Join(MonotonicTime now) {
  const MutexLock lock(mutex_);
  if (phase_ == Phase::kWatching) return 0;
  Advance(now);
  if (phase_ == Phase::kWatching) return 0;
  // While settling, random offsets keep two processes from colliding in every cycle.
  return line_.Join(phase_ == Phase::kSettling ? NextRandom() : 0);
}

nanoseconds PrefixRate::WaitFor(Turn turn, MonotonicTime now) {
  if (turn == 0) return {};
  const MutexLock lock(mutex_);
  if (phase_ == Phase::kWatching) return {};
  Advance(now);
  return phase_ == Phase::kWatching ? nanoseconds() : line_.WaitFor(turn, rate_);
}

void PrefixRate::Leave(Turn turn, MonotonicTime now) {
  if (turn == 0) return;
  const MutexLock lock(mutex_);
  if (phase_ == Phase::kWatching) return;
  Advance(now);
  line_.Leave();
}

void PrefixRate::OnResponse(bool throttled, MonotonicTime sent, MonotonicTime now) {
  const MutexLock lock(mutex_);
  share_ += kShareMemory * ((throttled ? 1 : 0) - share_);
  if (phase_ == Phase::kWatching) return Watch(throttled, now);
  Advance(now);
  // Requests sent before the last cut say nothing about the rate since.
  if (phase_ == Phase::kWatching || !throttled || sent < last_cut_) return;
  Cut(now);
  if (phase_ == Phase::kSteady && share_ > kSettleAgainShare) BeginSettling(rate_, now);
}

double PrefixRate::rate() const {
  const MutexLock lock(mutex_);
  return phase_ == Phase::kWatching ? 0 : rate_;
}

RateControl& RateControl::PerProcess() {
  static constinit memory::PerProcess<RateControl> of_process;
  return of_process.Mine([](RateControl*) { return new RateControl; });
}

RateControl::~RateControl() {
  for (const auto& rate : rates_) delete rate.load(std::memory_order_acquire);
}

RateLimiter* RateControl::Lookup(const RateScope& scope) const {
  return rates_[HashOf(scope) % rates_.size()].load(std::memory_order_acquire);
}

RateLimiter& RateControl::For(const RateScope& scope) {
  const std::uint64_t hash = HashOf(scope);
  std::atomic<PrefixRate*>& slot = rates_[hash % rates_.size()];
  PrefixRate* seen = slot.load(std::memory_order_acquire);
  if (seen == nullptr) {
    // Seeded per process: processes with the same random numbers would stay in step.
    auto made = std::make_unique<PrefixRate>(
        hash ^ (static_cast<std::uint64_t>(ProcessId()) * 0x9e3779b97f4a7c15u));
    if (slot.compare_exchange_strong(seen, made.get(), std::memory_order_acq_rel))
      seen = made.release();
  }
  used_.store(true, std::memory_order_relaxed);
  return *seen;
}

}  // namespace penstock::s3
