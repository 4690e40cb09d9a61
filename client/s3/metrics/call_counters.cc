#include "client/s3/metrics/call_counters.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/log/caught.h"

namespace penstock::s3 {
namespace {

void Add(std::atomic<std::uint64_t>& counter, std::uint64_t count) {
  if (count != 0) counter.fetch_add(count, std::memory_order_relaxed);
}

// Adds the counters that are not 0 to `out` under the names of their enumerators. Returns the sum.
template <class Enum, std::size_t kCount>
std::uint64_t ReadByName(const std::array<std::atomic<std::uint64_t>, kCount>& counters,
                         std::string_view (*name_of)(Enum),
                         std::map<std::string, std::uint64_t>& out) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::uint64_t count = counters[i].load(std::memory_order_relaxed);
    if (count == 0) continue;
    out.emplace(name_of(static_cast<Enum>(i)), count);
    sum += count;
  }
  return sum;
}

RequestEvent EventOf(const AttemptEnd& end) {
  return {.operation = std::string(Info(end.operation).name),
          .bucket = std::string(end.bucket),
          .key = std::string(end.key),
          .attempt = end.attempt,
          .http_status = end.http_status,
          .error_code = std::string(end.error_code),
          .request_id = std::string(end.request_id),
          .started = end.started,
          .first_byte = end.first_byte,
          .duration = end.duration,
          .bytes_sent = end.bytes_sent,
          .bytes_received = end.bytes_received,
          .connection_reused = end.connections.opened == 0 && end.connections.reused != 0};
}

}  // namespace

CallCounters::CallCounters() : exceptions_before_(CaughtExceptions()) {}

CallCounters::~CallCounters() {
  for (const auto& times : times_) delete times.load(std::memory_order_acquire);
}

CallCounters::Times& CallCounters::TimesOf(Operation operation) {
  std::atomic<Times*>& slot = times_[static_cast<std::size_t>(operation)];
  Times* seen = slot.load(std::memory_order_acquire);
  if (seen != nullptr) return *seen;
  auto made = std::make_unique<Times>();
  if (slot.compare_exchange_strong(seen, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *seen;  // Another thread was first.
}

void CallCounters::OnAttempt(const AttemptEnd& end) {
  Add(requests_[static_cast<std::size_t>(end.operation)], 1);
  Times& times = TimesOf(end.operation);
  if (end.first_byte.count() != 0) times.first_byte.Add(end.first_byte);
  times.duration.Add(end.duration);
  if (end.throttled) Add(throttled_, 1);
  Add(bytes_sent_, end.bytes_sent);
  Add(bytes_received_, end.bytes_received);
  Add(opened_, end.connections.opened);
  Add(reused_, end.connections.reused);
  if (const Observer* const newest = NewestObserver(); newest != nullptr)
    Contain("the observer of a Client", [&] { (*newest)(EventOf(end)); });
}

void CallCounters::SetObserver(Observer observer) { observers_.Push(std::move(observer)); }

ClientStats CallCounters::Snapshot() const {
  ClientStats stats;
  for (const OperationInfo& info : kOperations) {
    const auto index = static_cast<std::size_t>(info.operation);
    const std::uint64_t count = requests_[index].load(std::memory_order_relaxed);
    if (count == 0) continue;
    const std::string name(info.name);
    stats.requests.emplace(name, count);
    OperationStats& operation = stats.operations[name];
    operation.requests = count;
    const Times* times = times_[index].load(std::memory_order_acquire);
    if (times == nullptr) continue;  // Another thread is counting the first attempt.
    operation.first_byte = times->first_byte.Snapshot();
    operation.duration = times->duration.Snapshot();
  }
  stats.connections = {opened_.load(std::memory_order_relaxed),
                       reused_.load(std::memory_order_relaxed)};
  stats.retries = ReadByName(retries_, RetryReasonName, stats.retries_by_reason);
  stats.hedges = hedges_.load(std::memory_order_relaxed);
  stats.hedges_won = hedges_won_.load(std::memory_order_relaxed);
  stats.throttled = throttled_.load(std::memory_order_relaxed);
  stats.exceptions = CaughtExceptions() - exceptions_before_;
  stats.failures = ReadByName(failures_, ErrorKindName, stats.failures_by_kind);
  stats.bytes_sent = bytes_sent_.load(std::memory_order_relaxed);
  stats.bytes_received = bytes_received_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace penstock::s3
