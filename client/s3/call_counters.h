// Counting of attempts and calls for ClientStats, and telling the observer. Without locks.
#ifndef PENSTOCK_CLIENT_S3_CALL_COUNTERS_H_
#define PENSTOCK_CLIENT_S3_CALL_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "client/s3/append_only_list.h"
#include "client/s3/operations.h"
#include "penstock/client.h"

namespace penstock::s3 {

// Thread safety: safe from any thread.
class CallCounters {
 public:
  using Observer = std::function<void(const RequestEvent&)>;

  // One attempt ended: counts it and calls the newest observer.
  void OnAttempt(Operation operation, const RequestEvent& event, bool throttled);
  void OnRetry() { retries_.fetch_add(1, std::memory_order_relaxed); }
  void OnFailure() { failures_.fetch_add(1, std::memory_order_relaxed); }

  // Former observers are kept, unused, as long as the counters live: one may be running.
  void SetObserver(Observer observer);
  ClientStats Snapshot() const;

 private:
  using Counter = std::atomic<std::uint64_t>;
  std::array<Counter, kOperationCount> requests_{};
  Counter retries_{0};
  Counter throttled_{0};
  Counter failures_{0};
  Counter bytes_sent_{0};
  Counter bytes_received_{0};
  AppendOnlyList<Observer> observers_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_COUNTERS_H_
