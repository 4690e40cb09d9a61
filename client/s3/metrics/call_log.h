// What a client tells the log: its attempts, retries, throttles and failures. Never a secret:
// base/log.h redacts every value.
#ifndef PENSTOCK_CLIENT_S3_METRICS_CALL_LOG_H_
#define PENSTOCK_CLIENT_S3_METRICS_CALL_LOG_H_

#include <chrono>
#include <string_view>

#include "client/auth/profile.h"
#include "client/s3/config.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/retry/retry_rules.h"

namespace penstock::s3 {

// PENSTOCK_LOG: off, error, warn (or warning), info, debug, in any case. Set: from then on the
// process logs at that level to standard error. Unset or empty: nothing changes. kInvalidArgument
// for any other value.
Result<void> ApplyLogLevel(const auth::Environment& environment);

// info: a client was made, and for where.
void LogClientMade(const ResolvedConfig& config);
// debug: every attempt as it ended.
void LogAttempt(const AttemptEnd& end);
// warn: an attempt failed and another follows.
void LogRetry(const OperationInfo& info, std::string_view bucket, std::string_view key, int attempt,
              RetryDecision decision, std::chrono::nanoseconds delay, const Error& error);
// error: a call failed. info: it failed in a way that callers ask for (not found, a precondition, a
// cancellation).
void LogFailure(const Error& error);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_METRICS_CALL_LOG_H_
