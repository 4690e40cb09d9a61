// Counts attempts and calls for ClientStats and notifies the observer. Lock-free.
#ifndef PENSTOCK_CLIENT_S3_METRICS_CALL_COUNTERS_H_
#define PENSTOCK_CLIENT_S3_METRICS_CALL_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "client/http/transport.h"
#include "client/memory/append_only_list.h"
#include "client/s3/metrics/time_counts.h"
#include "client/s3/model/error_codes.h"
#include "client/s3/model/operations.h"
#include "penstock/base/error.h"
#include "penstock/client.h"

namespace penstock::s3 {

// The connections that one attempt used.
struct ConnectionsUsed {
  std::uint32_t opened = 0;
  std::uint32_t reused = 0;
  http::PeerAddress address = {};  // The remote address of the last one.

  bool any() const { return opened + reused > 0; }
  void Add(const http::ConnectionUse& use) {
    ++(use.reused ? reused : opened);
    address = use.address;
  }
};

// RequestEvent without copies; the views are valid during the call.
struct AttemptEnd {
  Operation operation = Operation::kGetObject;
  std::string_view bucket;
  std::string_view key;
  int attempt = 1;
  int http_status = 0;
  std::string_view request_id;  // Without secrets. Empty if CallCounters::observed() is false.
  std::string_view error_code;
  bool throttled = false;
  WallTime started{};
  std::chrono::nanoseconds first_byte{};  // Zero: no byte arrived.
  std::chrono::nanoseconds duration{};
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  ConnectionsUsed connections;
};

// Thread safety: may be used from any thread.
class CallCounters {
 public:
  using Observer = std::function<void(const RequestEvent&)>;

  CallCounters();
  ~CallCounters();

  // Counts a completed attempt and calls the newest observer.
  void OnAttempt(const AttemptEnd& end);
  void OnRetry(RetryReason reason) {
    retries_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }
  void OnHedge() { hedges_.fetch_add(1, std::memory_order_relaxed); }
  void OnHedgeWon() { hedges_won_.fetch_add(1, std::memory_order_relaxed); }
  void OnFailure(ErrorKind kind) {
    failures_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
  }

  // Whether OnAttempt calls an observer.
  bool observed() const { return NewestObserver() != nullptr; }
  // Earlier observers are kept until destruction, because one may still be running.
  void SetObserver(Observer observer);
  ClientStats Snapshot() const;

 private:
  using Counter = std::atomic<std::uint64_t>;
  struct Times {
    TimeCounts first_byte;
    TimeCounts duration;
  };
  Times& TimesOf(Operation operation);
  const Observer* NewestObserver() const {  // Null: none.
    const Observer* newest = observers_.FindNewest([](const Observer&) { return true; });
    return newest != nullptr && *newest ? newest : nullptr;
  }

  std::array<Counter, kOperationCount> requests_{};
  // Owned; created by an operation's first attempt.
  std::array<std::atomic<Times*>, kOperationCount> times_{};
  Counter opened_{0};  // Requests that opened a connection.
  Counter reused_{0};
  std::array<Counter, kRetryReasonCount> retries_{};
  Counter hedges_{0};
  Counter hedges_won_{0};
  Counter throttled_{0};
  std::array<Counter, static_cast<std::size_t>(ErrorKind::kInternal) + 1> failures_{};
  Counter bytes_sent_{0};
  Counter bytes_received_{0};
  const std::uint64_t exceptions_before_;  // Of the process.
  AppendOnlyList<Observer> observers_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_METRICS_CALL_COUNTERS_H_
