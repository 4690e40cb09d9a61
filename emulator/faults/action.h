// `do`: what happens to a request that a rule chose, and when.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTION_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/faults/documents/number_set.h"
#include "emulator/faults/pattern.h"

namespace penstock::emulator::faults {

// In the order in which a request passes them.
enum class Stage : std::uint8_t {
  kAccept,        // a connection has been accepted: of a connection, not of a request
  kHeaders,       // the head has been read, nothing else
  kBodyIn,        // `offset` bytes of the body have been read, as they came over the wire
  kBeforeCommit,  // the body has been read and verified, nothing has been done
  kAfterCommit,   // everything has been done, nothing has been answered
  kStatus,        // the status line and the headers have left
  kBodyOut,       // `offset` bytes of the answer's body have left
  kTrailer,       // the whole body has left, and the chunk that ends it, where it has one, has not
  kClose,         // the answer has left
};

struct Point {
  Stage stage = Stage::kHeaders;
  std::uint64_t offset = 0;  // kBodyIn and kBodyOut
};

enum class ErrorBody : std::uint8_t { kXml, kEmpty, kHtml, kJson, kTruncatedXml };

// An answer of S3's in place of the request's own.
struct ErrorAction {
  int status = 503;
  std::string code = "SlowDown";
  std::string message;                                       // empty: S3's own
  std::optional<std::chrono::milliseconds> retry_after;      // x-amz-retry-after
  std::vector<std::pair<std::string, std::string>> headers;  // added
  ErrorBody body = ErrorBody::kXml;
  bool close = false;
  bool chunked = true;
};

// 200, then white space, then an error's document (CompleteMultipartUpload, CopyObject,
// UploadPartCopy).
struct LateErrorAction {
  std::string code = "InternalError";
  std::string message;
  std::chrono::milliseconds after{};       // white space goes out in between ...
  std::chrono::milliseconds every{1'000};  // ... that often
};

// Entries of a request about many objects (DeleteObjects) that fail inside its answer, while the
// others are carried out.
struct PartialFailureAction {
  std::string code = "InternalError";
  std::string message;                // empty: S3's own
  std::vector<Pattern> keys;          // one of them; empty: any key
  std::optional<NumberSet> entries;   // places in the request, from 1 on
  std::optional<std::uint64_t> most;  // of one request: the first of those that the others choose
  double probability = 1;             // by key
};

// The request is carried out twice, as where a proxy sends it once more; the answer is that of one
// of them.
struct DuplicateAction {
  enum class Answer : std::uint8_t { kSecond, kFirst } answer = Answer::kSecond;
};

// Of what is written the first bytes alone are kept, and the answer knows nothing of it. No correct
// S3 does this.
struct CommitPartialAction {
  std::uint64_t bytes = 0;
};

// The write is done, and reads do not see it for so long, in the namespace's time. S3 has not done
// this since December 2020.
struct DelayVisibilityAction {
  std::chrono::milliseconds time{};
};

enum class DropKind : std::uint8_t { kReset, kFin, kHalfClose, kHang };
struct DropAction {
  DropKind kind = DropKind::kReset;
  // kHang: nothing more moves for that long, then the connection ends
  std::chrono::milliseconds hang{60'000};
};

struct StallAction {
  std::chrono::milliseconds time{};
};

// No faster than this; or so many bytes at a time, and the next ones `every` later.
struct PaceAction {
  std::uint64_t bytes_per_second = 0;
  std::uint64_t piece = 0;  // 0: in pieces of the rate's
  std::chrono::milliseconds every{};
  enum class Scope : std::uint8_t {
    kRequest,
    kConnection,
    kClient,
    kBucket,
    kServer
  } scope = Scope::kRequest;
};

// Milliseconds to the first byte: a floor and a log-normal share on top, or uniform between two, or
// a profile's, or those of a trace, one after the other and from the beginning again.
struct LatencyAction {
  double floor_ms = 0;
  double median_ms = 0;
  double sigma = 0;
  double most_ms = 0;            // uniform from floor_ms to this where it is more
  std::string profile;           // of throttle/latency_profile.h; empty: none
  std::vector<double> trace_ms;  // empty: none
};

// kStaleVersion: the bytes that the object's version before has there.
enum class CorruptKind : std::uint8_t { kFlipBit, kZero, kRepeatBlock, kSwapHalves, kStaleVersion };
struct CorruptAction {
  CorruptKind kind = CorruptKind::kFlipBit;
  std::uint64_t length = 1;   // bytes from the point on; 0: all (kStaleVersion)
  bool fix_checksum = false;  // the answer's checksum headers are those of the wrong bytes
};

struct TruncateAction {
  enum class Kind : std::uint8_t { kFin, kReset, kLengthLie, kNoTerminator } kind = Kind::kFin;
};

// Headers of the answer that are not true.
struct HeaderAction {
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<std::string> drop;
  std::vector<std::string> repeat;
};

struct RedirectAction {
  int status = 307;
  std::string location;  // empty: back to the same place
  std::string region;    // x-amz-bucket-region and the document's Endpoint; empty: neither
};

struct ContinueAction {
  enum class Kind : std::uint8_t { kNever, kRefuse, kLate } kind = Kind::kNever;
  std::chrono::milliseconds late{};
};

// What is wrong with the credentials, whatever they are.
struct CredentialsAction {
  enum class Kind : std::uint8_t {
    kExpired,
    kInvalidToken,
    kInvalidKey,
    kRevokedSession
  } kind = Kind::kExpired;
};

// The server's clock is that much ahead for this request: its Date, its judgement of the
// signature's age.
struct SkewAction {
  std::chrono::milliseconds ahead{};
};

// In place of a TLS handshake an alert, or the begin of one and FIN.
struct TlsAbortAction {
  enum class Kind : std::uint8_t {
    kHandshakeFailure,
    kProtocolVersion,
    kNoApplicationProtocol,
    kTruncated
  } kind = Kind::kHandshakeFailure;
};

// A certificate that clients must refuse; the handshake goes on if they do not.
struct TlsCertificateAction {
  enum class Kind : std::uint8_t {
    kExpired,
    kNotYetValid,
    kWrongHost,
    kSelfSigned,
    kUnknownAuthority
  } kind = Kind::kExpired;
};

// The connection is closed behind so many requests.
struct GoAwayAction {
  std::uint64_t requests = 1;
};

// A connection beyond so many at a time is reset.
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
  std::string_view name = "action";  // the documents', of a literal
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTION_H_
