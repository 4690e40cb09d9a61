#include "emulator/traffic/rate_limiter.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace penstock::emulator::traffic {

Instant ForwardTime::At(WallTime now) {
  // Leaves room for the times that the models add.
  constexpr Instant kEnd = Instant::max() - std::chrono::days(1);
  const auto shown = std::chrono::duration_cast<Instant>(now.time_since_epoch());
  if (last_ == Instant::min()) last_ = shown;
  const Instant step = shown - last_;
  const Instant left = kEnd - (last_ + lost_);
  if (step < Instant(0)) lost_ -= step;
  // After repeated large forward steps, use half of the remaining range.
  if (step > left) lost_ -= step - left / 2;
  last_ = shown;
  return shown + lost_;
}

struct ThrottleState::Bucket {
  Bucket(Limits bucket_limits, const std::vector<std::string>& boundaries, WallTime now)
      : limits(bucket_limits), model(bucket_limits) {
    model.Cut(boundaries, time.At(now));
  }

  const Limits limits;
  std::uint64_t last_used = 0;  // Guarded by ThrottleState::mutex_.
  Mutex mutex;
  ForwardTime time PENSTOCK_GUARDED_BY(mutex);
  PartitionModel model PENSTOCK_GUARDED_BY(mutex);
  std::uint64_t admitted PENSTOCK_GUARDED_BY(mutex) = 0;
  std::uint64_t refused PENSTOCK_GUARDED_BY(mutex) = 0;
};

ThrottleState::ThrottleState(std::shared_ptr<const ThrottleSettings> settings, const Clock& clock)
    : settings_(std::move(settings)), clock_(clock), draws_(settings_->seed) {}

std::shared_ptr<ThrottleState::Bucket> ThrottleState::Find(std::string_view name) {
  const Limits* const limits = settings_->LimitsOf(name);
  if (limits == nullptr) return nullptr;
  const MutexLock lock(mutex_);
  auto found = buckets_.find(name);
  if (found == buckets_.end()) {
    if (buckets_.size() >= kMaxBuckets) DropOldest();
    const auto own = settings_->buckets.find(name);
    const std::vector<std::string> none;
    auto bucket = std::make_shared<Bucket>(
        *limits, own == settings_->buckets.end() ? none : own->second.boundaries, clock_.Now());
    found = buckets_.emplace(name, std::move(bucket)).first;
  }
  found->second->last_used = ++uses_;
  return found->second;
}

void ThrottleState::DropOldest() {
  buckets_.erase(std::min_element(
      buckets_.begin(), buckets_.end(),
      [](const auto& a, const auto& b) { return a.second->last_used < b.second->last_used; }));
}

bool ThrottleState::Admit(std::string_view bucket_name, std::string_view key, Traffic traffic) {
  const std::shared_ptr<Bucket> bucket = Find(bucket_name);
  if (!bucket) return true;
  bool admitted = false;
  {
    const MutexLock lock(bucket->mutex);
    // Read the clock under the lock, so that times follow the order of admission.
    admitted = bucket->model.Admit(key, traffic, bucket->time.At(clock_.Now())).admitted;
    ++(admitted ? bucket->admitted : bucket->refused);
  }
  (admitted ? admitted_ : refused_).fetch_add(1, std::memory_order_relaxed);
  return admitted;
}

std::optional<std::uint64_t> ThrottleState::PartitionOf(std::string_view bucket_name,
                                                        std::string_view key) {
  const std::shared_ptr<Bucket> bucket = Find(bucket_name);
  if (!bucket) return std::nullopt;
  const MutexLock lock(bucket->mutex);
  return bucket->model.PartitionOf(key);
}

Draw ThrottleState::DrawFor(std::string_view identity) {
  return draws_.Of(identity, arrivals_.Next(std::hash<std::string_view>()(identity)));
}

std::uint64_t ThrottleState::RateOf(std::uint64_t connection) const {
  if (settings_->latency.connection_median <= 0) return 0;
  return ConnectionRate(settings_->latency, draws_.Of("connection", connection));
}

ThrottleReport ThrottleState::Report(const std::atomic<bool>* stop) const {
  ThrottleReport report{
      .document = settings_->document, .admitted = admitted_.load(), .refused = refused_.load()};
  std::vector<std::pair<std::string, std::shared_ptr<Bucket>>> buckets;
  {
    const MutexLock lock(mutex_);
    buckets.assign(buckets_.begin(), buckets_.end());
  }
  for (auto& [name, bucket] : buckets) {
    if (stop != nullptr && *stop) break;
    const MutexLock lock(bucket->mutex);
    BucketReport one{.name = std::move(name),
                     .limits = bucket->limits,
                     .admitted = bucket->admitted,
                     .refused = bucket->refused,
                     .partitions = bucket->model.Gauges(bucket->time.At(clock_.Now()))};
    for (const PartitionEvent& event : bucket->model.events())
      one.events.push_back({bucket->time.WallOf(event.at), event});
    report.buckets.push_back(std::move(one));
  }
  return report;
}

void RateLimiter::Set(std::shared_ptr<const ThrottleSettings> settings) {
  std::shared_ptr<ThrottleState> throttle;
  if (!settings->idle()) throttle = std::make_shared<ThrottleState>(std::move(settings), clock_);
  {
    const MutexLock lock(mutex_);
    active_.store(throttle != nullptr, std::memory_order_release);
    std::swap(throttle, state_);
  }
}

std::shared_ptr<ThrottleState> RateLimiter::Current() const {
  if (!active_.load(std::memory_order_acquire)) return nullptr;
  const MutexLock lock(mutex_);
  return state_;
}

ThrottleReport RateLimiter::Report(const std::atomic<bool>* stop) const {
  const std::shared_ptr<ThrottleState> throttle = Current();
  return throttle ? throttle->Report(stop) : ThrottleReport{.document = "{}"};
}

}  // namespace penstock::emulator::traffic
