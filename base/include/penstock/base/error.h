// Errors as values.
//
// `Error` is the only error type of Penstock. The client reports failures of S3 and of the network
// with it, and the emulator reports rejected requests. Internal bugs end in PENSTOCK_CHECK instead
// (check.h).
#ifndef PENSTOCK_BASE_ERROR_H_
#define PENSTOCK_BASE_ERROR_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// What the caller can do about an error. The S3 `code` names the cause; the kind decides the
// reaction.
enum class ErrorKind {
  kInvalidArgument,     // the request is invalid: change it
  kNotFound,            // bucket, key, version or upload does not exist
  kAccessDenied,        // valid identity, not allowed
  kUnauthenticated,     // missing, invalid or expired credentials, or a wrong signature
  kAlreadyExists,       // the bucket exists
  kPreconditionFailed,  // If-Match and other preconditions (412)
  kNotModified,         // 304
  kConflict,            // 409 other than the above
  kWrongRegion,         // redirect; see `region`
  kThrottled,           // slow down and retry
  kUnavailable,  // transient failure of the server or network: 5xx, connection reset or refused
  kTimeout,      // a deadline passed
  kCancelled,    // cancelled by the caller
  kDataLoss,     // too few or too many bytes, or a checksum mismatch
  kResourceExhausted,  // disk full, memory limit, too many open files
  kUnsupported,        // not implemented
  kInternal,           // anything else
};

// Returns the kind in snake_case without the `k` ("not_found"), for messages and logs.
std::string_view ErrorKindName(ErrorKind kind);

// One failed attempt of a request, for diagnostics.
struct FailedAttempt {
  std::chrono::system_clock::time_point at{};  // when the request was sent
  std::chrono::nanoseconds duration{};
  std::string address;  // peer address, for example "192.0.2.1:443"; empty: no connection was made
  int http_status = 0;  // 0: no response
  std::string code;     // S3 error code, else the kind of failure ("timeout")
  std::string request_id;  // x-amz-request-id

  // Format: "2026-01-02T03:04:05.678Z 192.0.2.1:443 503 SlowDown after 12 ms [request id X]".
  // Control characters are escaped.
  std::string ToString() const;
};

// One failure. Never contains a secret: code that builds the message must leave out keys, tokens
// and signatures.
//
// Copyable value type without equality. Fields are public because an Error is plain data.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;     // one sentence for people: the value, the limit and the fix
  std::string code;        // S3 error code ("NoSuchKey"); empty if the failure is not from S3
  int http_status = 0;     // 0: no response
  std::string request_id;  // x-amz-request-id
  std::string host_id;     // x-amz-id-2
  std::string operation;   // "GetObject"
  std::string bucket;
  std::string key;
  std::string region;  // the correct region, if the service named it
  // C++ name of the setting that the error is about ("idle_timeout"). Empty: none.
  std::string setting;
  int attempts = 0;  // number of times the request was sent
  // The failed attempts in order, if the call was sent more than once.
  std::vector<FailedAttempt> history;
  std::optional<std::chrono::milliseconds> retry_after;
  // Additional elements of the S3 error document in wire order, for example {"BucketName", "b"}.
  std::vector<std::pair<std::string, std::string>> details;

  static Error Make(ErrorKind kind, std::string message);

  // Sets `setting`. Each language binding shows it under its own name. Returns *this.
  Error&& About(std::string_view setting_name) &&;

  // Sets operation, bucket and key where they are still empty. Returns *this.
  Error& At(std::string_view operation_name, std::string_view bucket_name = {},
            std::string_view key_name = {}) &;
  Error&& At(std::string_view operation_name, std::string_view bucket_name = {},
             std::string_view key_name = {}) &&;

  // Returns one line with control characters escaped: "GetObject s3://bucket/key: NoSuchKey (404):
  // message [request id X, 3 attempts]". If the message does not contain the setting, the setting
  // follows it: "timeout: message (idle_timeout)".
  std::string ToString() const;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_ERROR_H_
