#include "client/s3/call_counters.h"

#include <string>
#include <utility>

namespace penstock::s3 {

void CallCounters::OnAttempt(Operation operation, const RequestEvent& event, bool throttled) {
  requests_[static_cast<std::size_t>(operation)].fetch_add(1, std::memory_order_relaxed);
  if (throttled) throttled_.fetch_add(1, std::memory_order_relaxed);
  bytes_sent_.fetch_add(event.bytes_sent, std::memory_order_relaxed);
  bytes_received_.fetch_add(event.bytes_received, std::memory_order_relaxed);
  const Observer* newest = observers_.FindNewest([](const Observer&) { return true; });
  if (newest != nullptr && *newest) (*newest)(event);
}

void CallCounters::SetObserver(Observer observer) { observers_.Push(std::move(observer)); }

ClientStats CallCounters::Snapshot() const {
  ClientStats stats;
  for (const OperationInfo& info : kOperations) {
    const std::uint64_t count = requests_[static_cast<std::size_t>(info.operation)].load(std::memory_order_relaxed);
    if (count > 0) stats.requests.emplace(info.name, count);
  }
  stats.retries = retries_.load(std::memory_order_relaxed);
  stats.throttled = throttled_.load(std::memory_order_relaxed);
  stats.failures = failures_.load(std::memory_order_relaxed);
  stats.bytes_sent = bytes_sent_.load(std::memory_order_relaxed);
  stats.bytes_received = bytes_received_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace penstock::s3
