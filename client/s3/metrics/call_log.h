// Log entries of a client: attempts, retries, throttling and failures. They contain no secrets:
// base/log/log.h redacts every value.
#ifndef PENSTOCK_CLIENT_S3_METRICS_CALL_LOG_H_
#define PENSTOCK_CLIENT_S3_METRICS_CALL_LOG_H_

#include <chrono>
#include <string_view>

#include "client/auth/profile.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/model/error_codes.h"

namespace penstock::s3 {

// Applies PENSTOCK_LOG: off, error, warn (or warning), info or debug, in any case. If set, the
// process logs from now on at that level, to its sink (SetLogSink) or to standard error. Unset,
// empty or `logging` (for the Python package): no change. Returns kInvalidArgument for other
// values.
Result<void> ApplyLogLevel(const auth::Environment& environment);

// info: a client was created, with its region and endpoint.
void LogClientMade(const ClientConfig& config);
// debug: every completed attempt.
void LogAttempt(const AttemptEnd& end);
// warn: an attempt failed and is retried.
void LogRetry(const OperationInfo& info, std::string_view bucket, std::string_view key, int attempt,
              RetryDecision decision, std::chrono::nanoseconds delay, const Error& error);
// error: a call failed. info: it failed with an expected result (not found, a precondition, a
// cancellation).
void LogFailure(const Error& error);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_METRICS_CALL_LOG_H_
