// A request and the response that handlers build for it.
//
// Authentication, faults, throttling and the journal are handlers around the router. This file
// defines HTTP messages as values. Sockets and framing belong to emulator/http, the meaning of
// requests to the router.
#ifndef PENSTOCK_EMULATOR_S3_CORE_EXCHANGE_H_
#define PENSTOCK_EMULATOR_S3_CORE_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/s3/core/delivery.h"
#include "emulator/s3/protocol/directory_session.h"
#include "emulator/s3/protocol/target.h"
#include "emulator/store/store.h"
#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator::instruments {
class Instruments;
}  // namespace penstock::emulator::instruments

namespace penstock::emulator::s3 {

// Views into the connection's buffer, valid until the exchange ends.
struct HeaderView {
  std::string_view name;   // As sent.
  std::string_view value;  // Without leading and trailing white space; otherwise the raw bytes.
};

struct RequestHead {
  std::string_view method;
  std::string_view target;          // Raw path and query, as on the request line.
  int minor_version = 1;            // HTTP/1.x.
  std::vector<HeaderView> headers;  // In order of arrival, duplicates included.

  // Returns the first header of that name, case-insensitively, or nullopt.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// The request body after transfer decoding. Authentication may wrap it (aws-chunked, payload hash).
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // Reads up to buffer.size() bytes. Returns 0 at the end, after every checksum and length of the
  // request was verified. Errors are S3 errors (IncompleteBody, RequestTimeout,
  // XAmzContentSHA256Mismatch, ...). The first call sends "100 Continue" if the client asked for
  // it.
  virtual Result<std::size_t> Read(MutableByteView buffer) = 0;
  // The number of decoded bytes that this reader delivers, if the request declares it.
  virtual std::optional<std::uint64_t> Length() const = 0;
  // Trailing headers (lower-case name, value). Complete once Read has returned 0.
  virtual const std::vector<std::pair<std::string, std::string>>& Trailers() const = 0;
  // Suppresses "100 Continue". Returns false if the client does not wait for it or has already
  // received it.
  virtual bool WithholdContinue() { return false; }
};

struct Form;

struct Connection {
  std::uint64_t id = 0;
  std::string peer;  // For example "127.0.0.1:54321".
  bool tls = false;
  std::uint64_t requests_before = 0;
};

// What the HTTP layer does with the response. Faults set it.
enum class WireAction { kSend, kReset, kClose };

// The response. The HTTP layer sends `headers` in this order. It adds Connection, the framing
// header and, unless present, x-amz-id-2, x-amz-request-id, Date and Server. A HEAD response sends
// `content_length` and no body.
struct Response {
  int status = 200;
  std::string reason;  // Empty: the standard phrase.
  std::vector<std::pair<std::string, std::string>> headers;
  std::variant<std::monostate, std::string, store::Content> body;
  std::optional<std::uint64_t> content_length;  // Overrides the size of the body (HEAD).
  // Send `body` with Transfer-Encoding: chunked (S3's error documents).
  bool chunked = false;
  bool close = false;  // Close the connection after this response.
  WireAction action = WireAction::kSend;
  std::unique_ptr<Delivery> delivery;  // Null: send the whole response at once.
  // The S3 error code, for example "NoSuchKey". Also set if the response has no document (HEAD,
  // 304). Never sent.
  std::string error_code;
  // Details for the log only, such as file paths of the server. Never sent.
  std::string error_detail;

  // Returns `delivery`; creates it if it is null.
  Delivery& Delivering();
  // Appends a header without a check for duplicates.
  void Add(std::string name, std::string value);
  std::optional<std::string_view> Find(std::string_view name) const;
};

// An account as S3 shows it. The account owns what its users create.
struct Owner {
  std::string id;  // Canonical id, 64 hexadecimal digits.
  std::string display_name;
  std::string account_id;  // 12 digits.
};

// Looks up accounts. Thread safety: safe from any thread.
class OwnerDirectory {
 public:
  virtual ~OwnerDirectory() = default;
  // Returns nullopt if no account has that canonical id.
  virtual std::optional<Owner> FindOwner(std::string_view canonical_id) const = 0;
};

// A namespace of buckets, selected by the access key of the request.
struct Namespace {
  std::string name;
  std::shared_ptr<store::Store> store;
  const Clock* clock = nullptr;            // Never null once requests are served.
  const OwnerDirectory* owners = nullptr;  // Null: only the requester is known.
  // Faults, limits and journal (emulator/instruments). Null: none.
  std::shared_ptr<instruments::Instruments> instruments = {};
};

// The requester: a user or the root of an account. Anonymous if the access key is empty.
struct Identity {
  std::string access_key_id;
  std::string owner_id;        // Canonical id of the account, 64 hexadecimal digits.
  std::string display_name;    // Of the account.
  std::string account_id;      // 12 digits.
  std::string arn = {};        // "arn:aws:iam::111122223333:user/ann", or ":root".
  std::string user_name = {};  // Empty: the account's root.
  // Null: not authenticated by session credentials.
  std::shared_ptr<const DirectorySession> session = {};
  bool anonymous() const { return access_key_id.empty(); }
};

// The journal entry of a request (emulator/instruments).
struct JournalPlace {
  std::uint64_t mark = 0;        // Marks the request as in flight while the response is sent.
  std::uint64_t number = 0;      // Number of the entry. 0: not written yet.
  MonotonicTime ended{};         // The end time in the entry.
  std::size_t faults_bytes = 0;  // Size of the list of fired rules in the entry.
};

// State that handlers keep with a request until its response has been sent.
class RequestNotes {
 public:
  virtual ~RequestNotes() = default;
  // Upper bound of the length of FiredRules().
  virtual std::size_t MostFiredBytes() const = 0;
  // Comma-separated ids of the fault rules that have fired for the request so far.
  virtual std::string FiredRules() const = 0;
  // Returns an error for one entry of a request with many objects (DeleteObjects), or nullopt.
  // Called for each entry in order, with `place` from 0, before any entry is processed.
  virtual std::optional<Error> RefuseEntry(std::size_t /*place*/, std::string_view /*key*/) {
    return std::nullopt;
  }
};

// Completes a response after Handle has returned. The HTTP layer implements it.
class AsyncResponse {
 public:
  virtual ~AsyncResponse() = default;
  // Runs the work that the operation defers. Outlives the exchange.
  virtual store::Executor& executor() = 0;
  // Marks the response as ready to be made. Called once, from any thread, possibly before Handle
  // has returned.
  virtual void Complete() noexcept = 0;
};

// Calls AsyncResponse::Complete when it is destroyed. The AsyncResponse is not used before that.
class PendingResponse {
 public:
  explicit PendingResponse(AsyncResponse& response) : response_(&response) {}
  PendingResponse(PendingResponse&& other) noexcept
      : response_(std::exchange(other.response_, nullptr)) {}
  PendingResponse& operator=(PendingResponse&&) = delete;
  ~PendingResponse() {
    if (response_ != nullptr) response_->Complete();
  }

 private:
  AsyncResponse* response_;
};

// The connection and the thread that serve a request, as far as handlers may use them. Thread
// safety: only the handler's thread may call it.
class Wire {
 public:
  virtual ~Wire() = default;
  // Mark a deliberate wait of the handler. Between the two calls the thread does not count against
  // the server's thread limit, so that the waits of faults do not block other requests.
  virtual void BeginWait() noexcept = 0;
  virtual void EndWait() noexcept = 0;
  // True if the client has closed the connection or its sending side, so that it may not read the
  // response.
  virtual bool PeerHasClosed() const noexcept = 0;
};

struct Exchange {
  // Owned by the HTTP layer. Only authentication modifies it: it adds headers.
  RequestHead& request;
  BodyReader* body = nullptr;  // Never null.
  Connection& connection;
  Target target;      // The parsed request target (target.h).
  Identity identity;  // Set by authentication.
  // The region of the signature's scope, set by authentication. Empty: unsigned (regions.h).
  std::string signing_region;
  // Set by authentication or the outermost handler. Never null in the router.
  std::shared_ptr<Namespace> space;
  std::string request_id;  // 16 characters.
  std::string host_id;
  std::string operation;  // For example "GetObject". Set once the target is parsed.
  WallTime received{};
  MonotonicTime began{};  // When the HTTP layer had received the head.
  // How far the time for this request is ahead of the namespace's clock (clock skew fault).
  std::chrono::nanoseconds clock_ahead{};
  std::shared_ptr<RequestNotes> notes = {};  // Null: none.
  JournalPlace journal = {};
  const SessionIssuer* sessions = nullptr;  // For CreateSession; set by authentication.
  // The form of a PostObject request, set by authentication. `body` is then the content of the file
  // (form.h).
  const Form* form = nullptr;
  // Set by the HTTP layer just before it sends the end of the response, and corrected if that
  // fails.
  MonotonicTime ended{};
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  bool whole = false;  // The whole response was sent.
  Response response;

  // Set if the HTTP layer can wait for the response. Null: Handle must leave the response before it
  // returns.
  AsyncResponse* late = nullptr;
  Wire* wire = nullptr;  // Null: no connection, or no thread limit.
  bool pending = false;  // The operation responds later; `response` is not set yet.
  std::vector<std::function<void(Exchange&)>> when_answered = {};

  // Lets the operation respond later. Requires `late`; call it once, after the request's body was
  // read. Until the returned object is destroyed, only the handlers that are about to return may
  // use the exchange.
  [[nodiscard]] PendingResponse RespondLater() {
    pending = true;
    return PendingResponse(*late);
  }
  // Calls `look` once the response is complete: now, or, if the operation responds later, on
  // another thread before the response is sent. Calls happen in the order of registration. `look`
  // must not block.
  template <class Look>
  void WhenAnswered(Look look) {
    if (!pending) return look(*this);
    when_answered.emplace_back(std::move(look));
  }
};

// Thread safety: Handle is called from many threads at once, each with its own Exchange. Handle
// must leave a response, now or later. A handler that wraps another handler calls it first, and
// then inspects the response in exchange.WhenAnswered.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void Handle(Exchange& exchange) = 0;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_EXCHANGE_H_
