// Who is served now and who is told to slow down, how long an answer takes and how fast a
// connection is: one namespace's.
//
// Budgets live in the namespace's time, so that a test moves it instead of waiting. Chance is an
// HMAC of seed, request and how often it came (throttle/draws.h): threads and timing change
// nothing.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_RATE_LIMITER_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_RATE_LIMITER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/faults/arrivals.h"
#include "emulator/instruments/throttle_settings.h"
#include "emulator/traffic/draws.h"
#include "emulator/traffic/partition_model.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::instruments {

// A clock's time, made to stand still where that runs backwards, and to go on from there with it.
// Centuries may count less.
//
// Thread safety: one thread at a time.
class ForwardTime {
 public:
  traffic::Instant At(WallTime now);
  // What the clock showed, or would have shown, at `instant`.
  WallTime WallOf(traffic::Instant instant) const {
    return WallTime(std::chrono::duration_cast<WallTime::duration>(instant - lost_));
  }

 private:
  traffic::Instant last_ = traffic::Instant::min();  // as the clock showed it
  // by which it ran back, less what a step ahead was cut by
  traffic::Instant lost_{};
};

struct BucketReport {
  std::string name;
  traffic::Limits limits;
  std::uint64_t admitted = 0;
  std::uint64_t refused = 0;
  std::vector<traffic::PartitionGauge> partitions;  // in key order
  struct Event {
    WallTime at{};  // by the namespace's clock
    traffic::PartitionEvent what;
  };
  std::vector<Event> events;  // oldest first
};

struct ThrottleReport {
  std::string document;        // the settings
  std::uint64_t admitted = 0;  // of all buckets, also those that are not among `buckets` any more
  std::uint64_t refused = 0;
  std::vector<BucketReport> buckets;  // by name; those that were asked for something
};

// Settings in force, and what came of them so far.
//
// Thread safety: safe from any thread.
class ThrottleState {
 public:
  // Buckets whose partitions are kept; beyond that the one that was asked the longest ago begins
  // anew when it is asked again.
  static constexpr std::size_t kMostBuckets = 1'024;

  // `clock`: the namespace's; outlives this.
  ThrottleState(ThrottleSettings settings, const Clock& clock);

  const ThrottleSettings& settings() const { return settings_; }
  // Takes one of the bucket's tokens for `key`; false: there is none.
  bool Admit(std::string_view bucket, std::string_view key, traffic::Traffic traffic);
  // The id of the partition that has `key`; nullopt: the bucket has no limits.
  // Nothing is counted.
  std::optional<std::uint64_t> PartitionOf(std::string_view bucket, std::string_view key);
  // For a request's wait; the n-th of one identity draws apart from its others.
  traffic::Draw DrawFor(std::string_view identity);
  // Bytes a second; 0: no limit. The same for one connection every time.
  std::uint64_t RateOf(std::uint64_t connection) const;
  ThrottleReport Report() const;

 private:
  struct Bucket;
  std::shared_ptr<Bucket> Find(std::string_view name);
  void DropOldest() PENSTOCK_REQUIRES(mutex_);

  const ThrottleSettings settings_;
  const Clock& clock_;
  const traffic::Draws draws_;
  faults::Arrivals arrivals_;
  std::atomic<std::uint64_t> admitted_{0};
  std::atomic<std::uint64_t> refused_{0};
  mutable Mutex mutex_;
  std::uint64_t asked_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::shared_ptr<Bucket>, std::less<>> buckets_ PENSTOCK_GUARDED_BY(mutex_);
};

// Thread safety: safe from any thread.
class RateLimiter {
 public:
  // `clock`: the namespace's; outlives this.
  explicit RateLimiter(const Clock& clock) : clock_(clock) {}

  // From now on these, with full budgets and no past. Requests under way end under those they began
  // with.
  void Set(ThrottleSettings settings);
  // Null: nothing is limited and nothing waits. Costs one load then.
  std::shared_ptr<ThrottleState> Current() const;
  ThrottleReport Report() const;

 private:
  const Clock& clock_;
  std::atomic<bool> active_{false};
  mutable Mutex mutex_;
  // shared with the requests under it
  std::shared_ptr<ThrottleState> state_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_RATE_LIMITER_H_
