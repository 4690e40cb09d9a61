// One request and the response under construction: what Handlers see.
//
// Auth, faults, throttle and journal are Handlers around the router. This file knows HTTP messages
// as values; sockets and framing are emulator/http's, the S3 meaning is the router's.
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

// Views into the connection's buffer; they live until the exchange ends.
struct HeaderView {
  std::string_view name;   // as sent
  std::string_view value;  // outer white space removed, otherwise the raw bytes
};

struct RequestHead {
  std::string_view method;
  std::string_view target;          // raw path and query, exactly as on the request line
  int minor_version = 1;            // HTTP/1.x
  std::vector<HeaderView> headers;  // arrival order, duplicates kept

  // First header of that name, case-insensitively; nullopt when absent.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// The request's body after transfer decoding. Auth may wrap it (aws-chunked, payload hash).
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // Up to buffer.size() bytes; 0 is the end, reached only after everything claimed about the body
  // was verified. Errors are S3 errors (IncompleteBody, RequestTimeout, XAmzContentSHA256Mismatch,
  // ...). The first call sends "100 Continue" where the client asked for it.
  virtual Result<std::size_t> Read(MutableByteView buffer) = 0;
  // Bytes this reader will deliver (decoded), when the request declares it.
  virtual std::optional<std::uint64_t> Length() const = 0;
  // Trailing headers (name lower-case, value); complete after the end was read.
  virtual const std::vector<std::pair<std::string, std::string>>& Trailers() const = 0;
  // The client waits for "100 Continue", and from now on it waits in vain. False: it does not, or
  // has been told already.
  virtual bool WithholdContinue() { return false; }
};

struct Form;

struct Connection {
  std::uint64_t id = 0;
  std::string peer;  // "127.0.0.1:54321"
  bool tls = false;
  std::uint64_t requests_before = 0;
};

// What the wire must do instead of a plain answer. Faults set it; more actions come with the fault
// engine.
enum class WireAction { kSend, kReset, kClose };

// The response. `headers` leave in this order. The wire adds x-amz-id-2, x-amz-request-id, Date and
// Server where they are not among them, Connection and the framing header; a HEAD response sends
// `content_length` and no body.
struct Response {
  int status = 200;
  std::string reason;  // empty: the standard phrase
  std::vector<std::pair<std::string, std::string>> headers;
  std::variant<std::monostate, std::string, store::Content> body;
  std::optional<std::uint64_t> content_length;  // overrides the body's size (HEAD)
  // send `body` with Transfer-Encoding: chunked (S3's error documents)
  bool chunked = false;
  bool close = false;  // close the connection after this response
  WireAction action = WireAction::kSend;
  std::unique_ptr<Delivery> delivery;  // null: at once, and whole
  // "NoSuchKey" where this is a refusal, also without a document (HEAD, 304); never sent
  std::string error_code;
  // what the log may say beyond the code, with this machine's paths; never sent
  std::string error_detail;

  // `delivery`, made where there is none.
  Delivery& Delivering();
  // Appends; does not look for duplicates.
  void Add(std::string name, std::string value);
  std::optional<std::string_view> Find(std::string_view name) const;
};

// An account as S3 shows it. All users of an account own things in its name.
struct Owner {
  std::string id;  // canonical id, 64 hex digits
  std::string display_name;
  std::string account_id;  // 12 digits
};

// Thread safety: safe from any thread.
class OwnerDirectory {
 public:
  virtual ~OwnerDirectory() = default;
  // nullopt: no account has that canonical id (any more).
  virtual std::optional<Owner> FindOwner(std::string_view canonical_id) const = 0;
};

// One universe: what an access key selects.
struct Namespace {
  std::string name;
  std::shared_ptr<store::Store> store;
  const Clock* clock = nullptr;            // never null once in use
  const OwnerDirectory* owners = nullptr;  // null: nobody but the requester is known
  // faults, limits, journal (emulator/instruments); null: none
  std::shared_ptr<instruments::Instruments> instruments = {};
};

// Who asks: a user, or an account's root. Anonymous: empty access key.
struct Identity {
  std::string access_key_id;
  std::string owner_id;        // canonical id of the account, 64 hex digits
  std::string display_name;    // of the account
  std::string account_id;      // 12 digits
  std::string arn = {};        // "arn:aws:iam::111122223333:user/ann", or ":root"
  std::string user_name = {};  // empty: the account's root
  // null: not by the credentials of a session
  std::shared_ptr<const DirectorySession> session = {};
  bool anonymous() const { return access_key_id.empty(); }
};

// Where the journal has a request (emulator/instruments).
struct JournalPlace {
  std::uint64_t mark = 0;        // while the answer leaves
  std::uint64_t number = 0;      // of its entry; 0: there is none yet
  MonotonicTime ended{};         // as the entry has it
  std::size_t faults_bytes = 0;  // of what it tells of fired rules
};

// What handlers keep with a request until its answer has left.
class RequestNotes {
 public:
  virtual ~RequestNotes() = default;
  // How long FiredRules can become at most.
  virtual std::size_t MostFiredBytes() const = 0;
  // Ids of the fault rules that fired for it so far, with commas between.
  virtual std::string FiredRules() const = 0;
  // An error in place of what one entry of a request about many objects (DeleteObjects) asks for;
  // nullopt: none. Called in the order of the entries, `place` from 0 on, before anything is done
  // for any of them.
  virtual std::optional<Error> RefuseEntry(std::size_t /*place*/, std::string_view /*key*/) {
    return std::nullopt;
  }
};

// Takes an answer that is given after Handle has returned. The wire's part.
class AsyncResponse {
 public:
  virtual ~AsyncResponse() = default;
  // For what the operation leaves to others; outlives the exchange.
  virtual store::Executor& executor() = 0;
  // The response can be made now. Once, from any thread, also before Handle has returned.
  virtual void Complete() noexcept = 0;
};

// The promise of an answer: gives it when destroyed. What it was made from is untouched until then.
class PendingResponse {
 public:
  explicit PendingResponse(AsyncResponse& answer) : answer_(&answer) {}
  PendingResponse(PendingResponse&& other) noexcept
      : answer_(std::exchange(other.answer_, nullptr)) {}
  PendingResponse& operator=(PendingResponse&&) = delete;
  ~PendingResponse() {
    if (answer_ != nullptr) answer_->Complete();
  }

 private:
  AsyncResponse* answer_;
};

// What a handler may ask of the connection and the thread that serve its request. Thread safety:
// the handler's thread alone.
class Wire {
 public:
  virtual ~Wire() = default;
  // The handler waits on purpose between these two calls, and its thread does no work. The thread
  // does not count against the server's limits in the meantime, so that waits of faults take no
  // thread from other requests.
  virtual void BeginWait() noexcept = 0;
  virtual void EndWait() noexcept = 0;
  // The client has closed the connection, or its side of it: nobody may be there to read the
  // response.
  virtual bool PeerHasClosed() const noexcept = 0;
};

struct Exchange {
  // the wire's; auth adds headers while the request is handled, and no other handler changes it
  RequestHead& request;
  BodyReader* body = nullptr;  // never null
  Connection& connection;
  Target target;      // parsed request target (target.h)
  Identity identity;  // set by auth
  // of the signature's scope, set by auth; empty: not signed (regions.h)
  std::string signing_region;
  // set by auth (or the outermost handler); never null for the router
  std::shared_ptr<Namespace> space;
  std::string request_id;  // 16 characters
  std::string host_id;
  std::string operation;  // "GetObject"; set as soon as the target is parsed
  WallTime received{};
  MonotonicTime began{};  // when the wire had its head
  // of the namespace's clock, where this request is judged and answered
  std::chrono::nanoseconds clock_ahead{};
  std::shared_ptr<RequestNotes> notes = {};  // null: none
  JournalPlace journal = {};
  const SessionIssuer* sessions = nullptr;  // CreateSession's, set by auth
  // PostObject's, read by auth; `body` then is the file's content (form.h)
  const Form* form = nullptr;
  // By the wire, when the end of the response is about to leave; corrected where it did not.
  MonotonicTime ended{};
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  bool whole = false;  // the whole answer left
  Response response;

  // Set by a wire that can wait for an answer; null: Handle must leave the response before it
  // returns.
  AsyncResponse* late = nullptr;
  Wire* wire = nullptr;  // null: the request came over no connection, or its threads have no limit
  bool pending = false;  // the operation answers later: there is no response yet
  std::vector<std::function<void(Exchange&)>> when_answered = {};

  // Lets the operation answer later; only where `late` is set, and once. It must be through with
  // the request's body, and until the promise is kept nothing may touch the exchange but the
  // handlers that are about to return.
  [[nodiscard]] PendingResponse RespondLater() {
    pending = true;
    return PendingResponse(*late);
  }
  // Calls `look` when the response is there: now, or, where the operation answers later, before the
  // answer leaves, on another thread, in the order of the calls. It must not wait for anything.
  template <class Look>
  void WhenAnswered(Look look) {
    if (!pending) return look(*this);
    when_answered.emplace_back(std::move(look));
  }
};

// Thread safety: Handle is called from many threads at once, each with its own Exchange. It must
// leave a response, now or later: a handler that wraps another one looks at the response inside
// exchange.WhenAnswered, which it calls behind it.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void Handle(Exchange& exchange) = 0;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_EXCHANGE_H_
