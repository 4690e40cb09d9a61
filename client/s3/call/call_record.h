// What happened in one call: counts and logs its attempts, and completes the error that it returns.
#ifndef PENSTOCK_CLIENT_S3_CALL_CALL_RECORD_H_
#define PENSTOCK_CLIENT_S3_CALL_CALL_RECORD_H_

#include <vector>

#include "client/http/transport.h"
#include "client/s3/attempt/hedged_sender.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/clock.h"
#include "penstock/base/error.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// Not thread-safe. The arguments of the constructor must outlive this object.
class CallRecord {
 public:
  CallRecord(const WireRequest& request, CallCounters& counters, const Clock& clock)
      : info_(Info(request.operation)), request_(request), counters_(counters), clock_(clock) {}

  // `reason`: of a retry; without meaning for the first attempt.
  void OnSend(RetryReason reason) {
    if (attempts_++ > 0) counters_.OnRetry(reason);
  }
  int attempts() const { return attempts_; }

  // Returns the facts of a request that ended now.
  AttemptEnd EndOf(const SentRequest& sent, const Result<http::Outcome>& outcome) const;
  // Counts and logs that request. `failure` is null for a success, and if the caller's sink needed
  // no more bytes. `secrets` are those of the request.
  void OnEnd(AttemptEnd end, const SentRequest& sent, const RequestSecrets& secrets,
             const Error* failure);

  // Adds the latest attempt to the history of the error.
  void AddFailure(const SentRequest& sent, const Error& error);
  bool has_failures() const { return !failures_.empty(); }
  // Called before a retry after a delay: remembers whether the failed attempt may have been
  // executed.
  void OnRetry(const SentRequest& sent, const Error& error);
  // Returns whether an earlier attempt was sent and may have been executed.
  bool may_have_happened() const { return may_have_happened_; }

  // Adds the call, its attempts and their history to the error that the call returns.
  void Complete(Error& error);

 private:
  const OperationInfo& info_;
  const WireRequest& request_;
  CallCounters& counters_;
  const Clock& clock_;
  int attempts_ = 0;
  bool may_have_happened_ = false;
  std::vector<FailedAttempt> failures_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_CALL_RECORD_H_
