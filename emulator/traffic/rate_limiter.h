// The rate limiter of a namespace: admits requests or rejects them with SlowDown, and sets response
// latency and connection speed.
//
// Budgets use the namespace's time, so tests can advance it instead of waiting. Random draws are an
// HMAC of seed, request and arrival count (traffic/draws.h). They do not depend on threads or
// timing.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_RATE_LIMITER_H_
#define PENSTOCK_EMULATOR_TRAFFIC_RATE_LIMITER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/traffic/draws.h"
#include "emulator/traffic/limits/partition_model.h"
#include "emulator/traffic/occurrence_counter.h"
#include "emulator/traffic/throttle_settings.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::traffic {

// Makes a clock monotonic: time stands still while the clock runs backwards, and then advances with
// it. A step of centuries may be shortened.
//
// Thread safety: one thread at a time.
class ForwardTime {
 public:
  Instant At(WallTime now);
  // The time that the clock showed, or would have shown, at `instant`.
  WallTime WallOf(Instant instant) const {
    return WallTime(std::chrono::duration_cast<WallTime::duration>(instant - lost_));
  }

 private:
  Instant last_ = Instant::min();  // The last reading of the clock.
  // Total backward steps, minus what was cut from forward steps.
  Instant lost_{};
};

struct BucketReport {
  std::string name;
  Limits limits;
  std::uint64_t admitted = 0;
  std::uint64_t refused = 0;
  std::vector<PartitionGauge> partitions;  // In key order.
  struct Event {
    WallTime at{};  // By the namespace's clock.
    PartitionEvent what;
  };
  std::vector<Event> events;  // Oldest first.
};

struct ThrottleReport {
  std::string document;        // The settings as JSON.
  std::uint64_t admitted = 0;  // For all buckets, including those no longer in `buckets`.
  std::uint64_t refused = 0;
  std::vector<BucketReport> buckets;  // By name. Only buckets that had requests.
};

// The current settings and the state of the budgets.
//
// Thread safety: safe from any thread.
class ThrottleState {
 public:
  // The number of buckets whose partitions are kept. Above it, the least recently used bucket is
  // evicted and starts again with full budgets.
  static constexpr std::size_t kMaxBuckets = 1'024;

  // `clock`: the namespace's clock; must outlive this object.
  ThrottleState(std::shared_ptr<const ThrottleSettings> settings, const Clock& clock);

  const ThrottleSettings& settings() const { return *settings_; }
  // Takes a token of the bucket for `key`. Returns false if there is none.
  bool Admit(std::string_view bucket, std::string_view key, Traffic traffic);
  // Returns the id of the partition that serves `key`; nullopt: the bucket has no limits. Counts
  // nothing.
  std::optional<std::uint64_t> PartitionOf(std::string_view bucket, std::string_view key);
  // Returns the draw for the latency of a request. Each arrival of an identity has its own draw.
  Draw DrawFor(std::string_view identity);
  // Returns the speed of a connection in bytes per second; 0: no limit. The value is constant for a
  // connection.
  std::uint64_t RateOf(std::uint64_t connection) const;
  // `stop`, once true, ends it with the buckets so far; null: never.
  ThrottleReport Report(const std::atomic<bool>* stop = nullptr) const;

 private:
  struct Bucket;
  std::shared_ptr<Bucket> Find(std::string_view name);
  void DropOldest() PENSTOCK_REQUIRES(mutex_);

  const std::shared_ptr<const ThrottleSettings> settings_;
  const Clock& clock_;
  const Draws draws_;
  OccurrenceCounter arrivals_;
  std::atomic<std::uint64_t> admitted_{0};
  std::atomic<std::uint64_t> refused_{0};
  mutable Mutex mutex_;
  std::uint64_t uses_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::shared_ptr<Bucket>, std::less<>> buckets_ PENSTOCK_GUARDED_BY(mutex_);
};

// Thread safety: safe from any thread.
class RateLimiter {
 public:
  // `clock`: the namespace's clock; must outlive this object.
  explicit RateLimiter(const Clock& clock) : clock_(clock) {}

  // Replaces the settings and resets all budgets and counters. Requests in flight finish under the
  // old settings.
  void Set(std::shared_ptr<const ThrottleSettings> settings);
  void Set(ThrottleSettings settings) {
    Set(std::make_shared<const ThrottleSettings>(std::move(settings)));
  }
  // Returns the current state. Null: no limits and no latency; this case costs one atomic load.
  std::shared_ptr<ThrottleState> Current() const;
  ThrottleReport Report(const std::atomic<bool>* stop = nullptr) const;  // As ThrottleState's.

 private:
  const Clock& clock_;
  std::atomic<bool> active_{false};
  mutable Mutex mutex_;
  // Shared with the requests that use it.
  std::shared_ptr<ThrottleState> state_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_RATE_LIMITER_H_
