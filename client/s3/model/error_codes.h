// The table of S3's error codes and of HTTP's statuses: the kind of each, and what the client does
// about it.
#ifndef PENSTOCK_CLIENT_S3_MODEL_ERROR_CODES_H_
#define PENSTOCK_CLIENT_S3_MODEL_ERROR_CODES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "penstock/base/error.h"

namespace penstock::s3 {

enum class RetryDecision {
  kNo,
  kTransient,  // Connection, 5xx, short body.
  kTimeout,    // Like transient, but costs more tokens in some modes.
  kThrottled,  // Longer backoff.
};

// Why an attempt is followed by another one, for ClientStats::retries_by_reason.
enum class RetryReason : std::uint8_t {
  kThrottled,        // SlowDown, another throttling code, or a 429 or 503 without a code.
  kServerError,      // Another 5xx, or an <Error> after a 200.
  kTimeout,          // Of the client, or S3's RequestTimeout.
  kConnection,       // No connection, or it ended before the response was complete.
  kDataLoss,         // Bytes were missing or differ from their checksum, in either direction.
  kInvalidResponse,  // A success that S3 cannot have sent.
  kClockSkew,        // Signed again with the server's time.
  kCredentials,      // Signed again with newer credentials.
  kRegion,           // Sent to the region that the response named.
  kRetryPolicy,      // The retry mode would have ended the call.
};
inline constexpr std::size_t kRetryReasonCount = 10;

// Returns the name in ClientStats, such as "server_error".
std::string_view RetryReasonName(RetryReason reason);

// Returns the reason of a retry after a delay. `complete`: the whole response arrived.
RetryReason ReasonOf(const Error& error, bool complete);

// What a code says beyond its kind. The retry traits are those of AWS's standard and legacy retry
// modes; mode `tuned` decides by kind.
enum class CodeTrait : std::uint8_t {
  kNone = 0,
  kThrottling = 1,      // Retried after a longer delay.
  kTransient = 2,       // Retried by `standard`, whatever the status.
  kTransientBy400 = 4,  // Retried by `legacy` with status 400.
  kOtherRegion = 8,     // The request was sent to or signed for another region than the bucket's.
  kStaleCredentials = 16,  // Newer credentials may succeed.
  kWrongClock = 32,        // A wrong local clock may be the cause.
};

// Returns whether the table gives `code` that trait.
bool HasTrait(std::string_view code, CodeTrait trait);

// Returns the kind of an S3 error code, or nullopt for a code without a kind of its own.
std::optional<ErrorKind> KindOfCode(std::string_view code);

// Returns the kind for a status without a code.
ErrorKind KindOfStatus(int status);

// Returns the message for a status without a document.
std::string_view StatusText(int status);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_MODEL_ERROR_CODES_H_
