// The `do` member of a rule: the actions that happen to a matched request, and when.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_ACTION_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_ACTION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/faults/rules/number_set.h"
#include "emulator/faults/rules/pattern.h"

namespace penstock::emulator::faults {

// Moments in the life of a request, in the order in which they occur.
enum class Stage : std::uint8_t {
  kAccept,        // A connection has been accepted. Applies to a connection, not to a request.
  kHeaders,       // The request head has been read, nothing else.
  kBodyIn,        // `offset` bytes of the request body have been read, counted on the wire.
  kBeforeCommit,  // The body has been read and verified; the operation has not started.
  kAfterCommit,   // The operation is complete; no response has been sent.
  kStatus,        // The status line and the headers have been sent.
  kBodyOut,       // `offset` bytes of the response body have been sent.
  kTrailer,  // The whole response body has been sent, but not its final chunk, if it is chunked.
  kClose,    // The response has been sent.
};

struct Point {
  Stage stage = Stage::kHeaders;
  std::uint64_t offset = 0;  // For kBodyIn and kBodyOut.
};

enum class ErrorBody : std::uint8_t { kXml, kEmpty, kHtml, kJson, kTruncatedXml };

// Returns an S3 error response instead of the response of the operation.
struct ErrorAction {
  int status = 503;
  std::string code = "SlowDown";
  std::string message;  // Empty: the message that S3 sends for `code`.
  std::optional<std::chrono::milliseconds> retry_after;  // Value of the x-amz-retry-after header.
  std::vector<std::pair<std::string, std::string>> headers;  // Replace headers of the same name.
  ErrorBody body = ErrorBody::kXml;
  bool close = false;
  std::optional<bool> chunked;  // Unset: chunked, as S3, except for an empty body.
};

// Sends status 200, then white space, then an error document. S3 does this for
// CompleteMultipartUpload, CopyObject and UploadPartCopy.
struct LateErrorAction {
  std::string code = "InternalError";
  std::string message;
  std::chrono::milliseconds after{};       // The error is sent after this time.
  std::chrono::milliseconds every{1'000};  // White space is sent at this interval until then.
};

// Some entries of a multi-object request (DeleteObjects) fail within its response. The other
// entries are processed.
struct PartialFailureAction {
  std::string code = "InternalError";
  std::string message;               // Empty: the message that S3 sends for `code`.
  std::vector<Pattern> keys;         // The key must match one of them. Empty: any key.
  std::optional<NumberSet> entries;  // 1-based positions in the request.
  // At most so many entries per request: the first that match the other fields.
  std::optional<std::uint64_t> most;
  double probability = 1;  // Per key.
};

// Executes the request twice, as if a proxy had retransmitted it. The client receives one of the
// two responses.
struct DuplicateAction {
  enum class Response : std::uint8_t { kSecond, kFirst } response = Response::kSecond;
};

// Stores only the first `bytes` bytes of a write, but returns a response for the whole write. No
// correct S3 server does this.
struct CommitPartialAction {
  std::uint64_t bytes = 0;
};

// The write succeeds, but reads do not see it for `time`, in the namespace's time. S3 has not done
// this since December 2020.
struct DelayVisibilityAction {
  std::chrono::milliseconds time{};
};

enum class DropKind : std::uint8_t { kReset, kFin, kHalfClose, kHang };
struct DropAction {
  DropKind kind = DropKind::kReset;
  // For kHang: nothing is sent or received for this time, then the connection closes.
  std::chrono::milliseconds hang{60'000};
};

struct StallAction {
  std::chrono::milliseconds time{};
};

// Limits the rate to `bytes_per_second`, or sends `piece` bytes every `every`.
struct PaceAction {
  std::uint64_t bytes_per_second = 0;
  std::uint64_t piece = 0;  // In bytes. 0: the piece size follows from the rate.
  std::chrono::milliseconds every{};
  enum class Scope : std::uint8_t {
    kRequest,
    kConnection,
    kClient,
    kBucket,
    kServer
  } scope = Scope::kRequest;
};

// Time to the first byte, in milliseconds. One of: a floor plus a log-normal part; uniform between
// two values; a profile; or a trace, whose values are used in order and repeated.
struct LatencyAction {
  double floor_ms = 0;
  double median_ms = 0;
  double sigma = 0;
  double max_ms = 0;    // If greater than floor_ms: uniform from floor_ms to this.
  std::string profile;  // A name from traffic/latency_profile.h. Empty: none.
  std::vector<double> trace_ms;
};

// kStaleVersion: the bytes at the same offset of the object's previous version.
enum class CorruptKind : std::uint8_t { kFlipBit, kZero, kRepeatBlock, kSwapHalves, kStaleVersion };
struct CorruptAction {
  CorruptKind kind = CorruptKind::kFlipBit;
  // Bytes, from the action's offset. 0: up to the end (kStaleVersion only).
  std::uint64_t length = 1;
  bool fix_checksum = false;  // The response's checksum headers match the corrupted bytes.
};

struct TruncateAction {
  enum class Kind : std::uint8_t { kFin, kReset, kLengthLie, kNoTerminator } kind = Kind::kFin;
};

// Sets, removes or repeats response headers, so that they do not match the object.
struct HeaderAction {
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<std::string> drop;
  std::vector<std::string> repeat;
};

struct RedirectAction {
  int status = 307;
  std::string location;  // Empty: the URL of the request.
  std::string region;    // For x-amz-bucket-region and the document's Endpoint. Empty: neither.
};

struct ContinueAction {
  enum class Kind : std::uint8_t { kNever, kRefuse, kLate } kind = Kind::kNever;
  std::chrono::milliseconds late{};
};

// Rejects the credentials of the request, even if they are valid.
struct CredentialsAction {
  enum class Kind : std::uint8_t {
    kExpired,
    kInvalidToken,
    kInvalidKey,
    kRevokedSession
  } kind = Kind::kExpired;
};

// For this request the server's clock is `ahead` of its real time. Affects the Date header and the
// check of the signature's age.
struct SkewAction {
  std::chrono::milliseconds ahead{};
};

// Sends a TLS alert instead of a handshake, or the start of a handshake and FIN.
struct TlsAbortAction {
  enum class Kind : std::uint8_t {
    kHandshakeFailure,
    kProtocolVersion,
    kNoApplicationProtocol,
    kTruncated
  } kind = Kind::kHandshakeFailure;
};

// Presents a certificate that clients must reject. If the client does not, the handshake continues.
struct TlsCertificateAction {
  enum class Kind : std::uint8_t {
    kExpired,
    kNotYetValid,
    kWrongHost,
    kSelfSigned,
    kUnknownAuthority
  } kind = Kind::kExpired;
};

// Closes the connection after `requests` requests.
struct GoAwayAction {
  std::uint64_t requests = 1;
};

// Resets a new connection if `most` others are open.
struct ConnectionLimitAction {
  std::uint64_t most = 0;
};

using Action =
    std::variant<ErrorAction, LateErrorAction, PartialFailureAction, DuplicateAction,
                 CommitPartialAction, DelayVisibilityAction, DropAction, StallAction, PaceAction,
                 LatencyAction, CorruptAction, TruncateAction, HeaderAction, RedirectAction,
                 ContinueAction, CredentialsAction, SkewAction, TlsAbortAction,
                 TlsCertificateAction, GoAwayAction, ConnectionLimitAction>;

struct TimedAction {
  Action action;
  Point at;
  std::string_view name =
      "action";  // The member name in the JSON document. Points to a string literal.
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_ACTION_H_
