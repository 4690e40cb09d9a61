// A request, the response that a handler builds for it, and their connection.
//
// Sockets and framing belong to emulator/http. A handler may derive its own Exchange, to keep the
// meaning of the request (for S3: bucket, key, operation).
#ifndef PENSTOCK_EMULATOR_MESSAGE_EXCHANGE_H_
#define PENSTOCK_EMULATOR_MESSAGE_EXCHANGE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/io/executor.h"
#include "emulator/message/request.h"
#include "emulator/message/response.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::message {

// Completes a response after Handle has returned. The HTTP layer implements it.
class AsyncResponse {
 public:
  virtual ~AsyncResponse() = default;
  // Runs the work that the operation defers. Outlives the exchange.
  virtual Executor& executor() = 0;
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

// How often a deliberate wait of a handler, or a pause of a response, checks whether the client is
// still connected.
inline constexpr std::chrono::milliseconds kPeerCheckInterval{500};

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
  // True if the request is to end early because the server stops: the connection is closed in both
  // directions (reset), or the grace period is almost over. The response can then still be sent.
  virtual bool IsCancelled() const noexcept { return false; }
};

// State that a handler keeps with a request until the request ends.
class Attachment {
 public:
  virtual ~Attachment() = default;

 private:
  friend class Exchange;
  const void* type_ = nullptr;
  std::unique_ptr<Attachment> earlier_;
};

class Exchange {
 public:
  // `request_head` and `its_connection` must outlive the exchange.
  Exchange(RequestHead& request_head, Connection& its_connection, BodyReader* reader = nullptr)
      : request(request_head), body(reader), connection(its_connection) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Returns the time of the response's Date header. nullopt: the server's clock.
  virtual std::optional<WallTime> Now() const { return std::nullopt; }
  // Logs that stored bytes of the response do not match their checksums. `detail` says which.
  virtual void ReportDamage(const std::string& /*detail*/) const {}

  // Owned by the HTTP layer. Only authentication modifies it: it adds headers.
  RequestHead& request;
  BodyReader* body;  // Never null once requests are served.
  Connection& connection;
  std::string request_id;  // 16 characters.
  std::string host_id;
  WallTime received{};
  MonotonicTime began{};  // When the HTTP layer had received the head.
  // Set by the HTTP layer just before it sends the end of the response, and corrected if that
  // fails.
  MonotonicTime ended{};
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  bool whole = false;  // The whole response was sent.
  // The response's head as text, maybe with bytes after its empty line. Set by the HTTP layer while
  // it reports the end of a response that it has sent, or has begun to send.
  std::string_view sent_head;
  Response response;

  // Set if the HTTP layer can wait for the response. Null: Handle must leave the response before it
  // returns.
  AsyncResponse* async = nullptr;
  Wire* wire = nullptr;  // Null: no connection, or no thread limit.
  bool pending = false;  // The operation responds later (Handler::Finish).

  // Lets the operation respond later. Requires `async`; call it once, after the request's body was
  // read. Until Handler::Finish, only the handlers that are about to return may use the exchange.
  [[nodiscard]] PendingResponse RespondLater() {
    pending = true;
    return PendingResponse(*async);
  }

  // Creates a Wrapper of the current body, from the body and `arguments`, and makes it the body.
  template <class Wrapper, class... Arguments>
  Wrapper& WrapBody(Arguments&&... arguments) {
    auto wrapper = std::make_unique<Wrapper>(*body, std::forward<Arguments>(arguments)...);
    Wrapper& outermost = *wrapper;
    Wrap(std::move(wrapper));
    return outermost;
  }
  // Makes `wrapper`, which reads the current body, the body.
  void Wrap(std::unique_ptr<BodyWrapper> wrapper) {
    wrapper->owned_ = std::move(outermost_);
    outermost_ = std::move(wrapper);
    body = outermost_.get();
  }
  // Destroys all wrappers, the outermost first. `body` is again what it was before them.
  void UnwrapBody() {
    while (outermost_) {
      body = &outermost_->inner_;
      outermost_ = std::move(outermost_->owned_);
    }
  }

  // Creates the request's State, which derives from Attachment. It hides an earlier one.
  template <class State, class... Arguments>
  State& Attach(Arguments&&... arguments) {
    auto state = std::make_unique<State>(std::forward<Arguments>(arguments)...);
    State& attached = *state;
    Attachment& node = attached;
    node.type_ = TypeOf<State>();
    node.earlier_ = std::move(attachments_);
    attachments_ = std::move(state);
    return attached;
  }
  // Null: the request has none.
  template <class State>
  State* Find() const {
    for (Attachment* node = attachments_.get(); node != nullptr; node = node->earlier_.get()) {
      if (node->type_ == TypeOf<State>()) return static_cast<State*>(node);
    }
    return nullptr;
  }

 private:
  // An address that identifies the type.
  template <class State>
  static const void* TypeOf() {
    static char tag;
    return &tag;
  }

  std::unique_ptr<Attachment> attachments_;  // The newest.
  std::unique_ptr<BodyWrapper> outermost_;   // Null: `body` is not wrapped.
};

// Serves requests. Thread safety: called from many threads at once, each with its own Exchange.
class Handler {
 public:
  virtual ~Handler() = default;
  // Creates the exchange that Handle receives. Both arguments outlive it.
  virtual std::unique_ptr<Exchange> NewExchange(RequestHead& request, Connection& connection) {
    return std::make_unique<Exchange>(request, connection);
  }
  // Must leave a response, or make it pending (Exchange::RespondLater).
  virtual void Handle(Exchange& exchange) = 0;
  // Must leave the response of an exchange that Handle left pending. Called once the operation is
  // complete, on any serving thread. Must not block.
  virtual void Finish(Exchange& /*exchange*/) {}
};

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_EXCHANGE_H_
