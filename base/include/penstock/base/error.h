// What went wrong, as a value.
//
// `Error` is the only error type of the house: the client reports S3's and the network's failures
// with it, the emulator its refusals. It is not for our own bugs: those end in PENSTOCK_CHECK
// (check.h).
#ifndef PENSTOCK_BASE_ERROR_H_
#define PENSTOCK_BASE_ERROR_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock {

// What the caller may do about an error. The S3 `code` says what happened; the kind says what
// follows from it.
enum class ErrorKind {
  kInvalidArgument,     // the request is wrong and stays wrong: change it
  kNotFound,            // bucket, key, version or upload does not exist
  kAccessDenied,        // valid identity, not allowed
  kUnauthenticated,     // no, bad or expired credentials; wrong signature
  kAlreadyExists,       // bucket exists
  kPreconditionFailed,  // If-Match and friends (412)
  kNotModified,         // 304
  kConflict,            // 409 other than the above
  kWrongRegion,         // redirect; see `region`
  kThrottled,           // slow down and try again
  kUnavailable,         // transient on the other side or on the way: 5xx, reset, refused
  kTimeout,             // a deadline passed
  kCancelled,           // the caller gave up
  kDataLoss,            // bytes short, too many, or not matching their checksum
  kResourceExhausted,   // disk full, memory limit, too many open files
  kUnsupported,         // not implemented by this side
  kInternal,            // anything else
};

// The kind in snake_case without the `k` ("not_found"), for messages and logs.
std::string_view ErrorKindName(ErrorKind kind);

// One sending of a request that failed, for whoever asks what happened on the way.
struct FailedAttempt {
  std::chrono::system_clock::time_point at{};  // when it was sent
  std::chrono::nanoseconds duration{};
  std::string address;     // "192.0.2.1:443" that it went to; empty: no connection was made
  int http_status = 0;     // 0: no response
  std::string code;        // S3's error code, else the kind of failure ("timeout")
  std::string request_id;  // x-amz-request-id

  // "2026-01-02T03:04:05.678Z 192.0.2.1:443 503 SlowDown after 12 ms [request id X]", control
  // characters escaped.
  std::string ToString() const;
};

// One failure. Never carries a secret: whoever builds the message keeps keys, tokens and signatures
// out of it.
//
// Value type; copyable; equality is not defined. Fields are public on purpose: an Error is data.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;     // one sentence for a person; names the value, the limit and the fix
  std::string code;        // S3 error code ("NoSuchKey"), empty when the failure is not S3's
  int http_status = 0;     // 0: no response
  std::string request_id;  // x-amz-request-id
  std::string host_id;     // x-amz-id-2
  std::string operation;   // "GetObject"
  std::string bucket;
  std::string key;
  std::string region;  // the right region, where the service named it
  // C++ name of the setting that the error is about ("idle_timeout"); empty: none
  std::string setting;
  int attempts = 0;  // how often the request was sent
  // those attempts in order, where the error ended a call that was sent more than once
  std::vector<FailedAttempt> history;
  std::optional<std::chrono::milliseconds> retry_after;
  // Extra elements of S3's error document in wire order, e.g. {"BucketName", "b"}.
  std::vector<std::pair<std::string, std::string>> details;

  static Error Make(ErrorKind kind, std::string message);

  // Names the setting that the error is about. Each language renders it by its own name. Returns
  // *this.
  Error&& About(std::string_view setting_name) &&;

  // Fills operation, bucket and key where they are still empty. Returns *this.
  Error& At(std::string_view operation_name, std::string_view bucket_name = {},
            std::string_view key_name = {}) &;
  Error&& At(std::string_view operation_name, std::string_view bucket_name = {},
             std::string_view key_name = {}) &&;

  // One line, control characters escaped: "GetObject s3://bucket/key: NoSuchKey (404): message
  // [request id X, 3 attempts]". The setting follows the message where the message does not contain
  // it: "timeout: message (idle_timeout)".
  std::string ToString() const;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_ERROR_H_
