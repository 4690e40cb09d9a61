// One client connection: serves its requests one after the other, from head to response.
//
// It knows HTTP messages. The engine decides which thread serves it and when.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "emulator/http/connection/completion_queue.h"
#include "emulator/http/connection/connection_quotas.h"
#include "emulator/http/connection/epoll_registration.h"
#include "emulator/http/connection/gathered_body.h"
#include "emulator/http/connection/request_ids.h"
#include "emulator/http/connection/timers.h"
#include "emulator/http/parsing/body_reader.h"
#include "emulator/http/parsing/framing.h"
#include "emulator/http/parsing/head_parser.h"
#include "emulator/http/parsing/input_buffer.h"
#include "emulator/http/sending/response_sender.h"
#include "emulator/http/socket/accept_decision.h"
#include "emulator/http/socket/stream.h"
#include "emulator/http/socket/tls.h"
#include "emulator/message/exchange.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// Shared by all connections of a server. Everything pointed to must outlive them.
struct ConnectionSettings {
  message::Handler* handler = nullptr;
  const Clock* clock = nullptr;
  RequestIdSource* ids = nullptr;
  const std::atomic<bool>* stopping = nullptr;  // true: no further request on any connection
  // Queues asynchronous responses for a serving thread. Null: handlers respond synchronously.
  CompletionQueue* completions = nullptr;
  // Null: every handler waits for its request's body on its thread.
  ConnectionQuotas* quotas = nullptr;
  Timers* timers = nullptr;  // for deliveries with pauses; null: no pauses
  // A descriptor that becomes readable when requests in progress are to end early. Handlers then
  // wait for no more bytes of their request. -1: none.
  int cancel_event = -1;
  HeadLimits limits;
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds progress_timeout{20'000};
  std::function<void(message::Exchange&)> on_ending;  // may be empty, like on_finished
  std::function<void(const message::Exchange&)> on_finished;
};

// Per-thread tools that the connection uses while a thread serves it.
struct ServingTools {
  SendBuffers buffers;
  DateCache dates;
};

// At most one thread owns a connection: the one that serves it. No thread owns it while it waits
// for bytes, for room to write or for an asynchronous response. The engine's supervisor enforces
// the time limit of the wait through ExpireWait, which touches nothing else. The connection never
// blocks its thread, except in a handler that may wait for the request's body
// (connection_quotas.h).
class WireConnection final : private message::AsyncResponse, private message::Wire {
 public:
  enum class Next {
    kWait,   // nothing more has arrived: call StartWait and rearm
    kRoom,   // the socket is full: call StartWait and rearm until it is writable
    kServe,  // more may have arrived: call StartWait and rearm for an immediate Serve
    // The response is asynchronous: another thread may already own the connection. The completion
    // queue passes it to Resume.
    kLater,
    kClose,  // destroy it
  };

  // `handshake`: the stream itself if it is TLS, else null. `registration` is the socket's; it
  // outlives the connection.
  WireConnection(std::uint64_t id, std::unique_ptr<Stream> stream, TlsStream* handshake,
                 EpollRegistration& registration, const ConnectionSettings& settings);

  // Called first. If the connection is not to be served, sends the refusal and waits for the peer's
  // close. Not for kReset.
  void Receive(const AcceptDecision& decision);

  // Continues what the connection waited for. Then serves every request that has arrived completely
  // or has begun its body, until one has an asynchronous response. `to_the_end`: the peer's close
  // may already have arrived and will not cause another event.
  Next Serve(ServingTools& tools, bool to_the_end);
  // Sends the asynchronous response that is now complete. Never returns kLater.
  Next Resume(ServingTools& tools);

  // Begins a wait. From now on only the thread that claims the next event may touch the connection.
  void StartWait(MonotonicTime now);
  // Thread safety: any thread while the connection lives. Ends a wait that has reached its limit by
  // `now`: the socket reports an event, and the next Serve responds or closes.
  void ExpireWait(MonotonicTime now);
  // Thread safety: as ExpireWait. Ends a wait without a request in progress. A closing connection
  // may still wait until its peer has read the response.
  void EndIdleWait();
  // Thread safety: as ExpireWait. The server stops: the request in progress is to end early, also
  // while it waits for its body. Its response is still sent. Call it repeatedly until the
  // connection is gone: a wait may begin later, and a wake-up may be lost to a thread that rearms
  // the socket.
  void Cancel();
  // Thread safety: as ExpireWait. Ends every wait on the socket, including those of a request in
  // progress.
  void Interrupt() {
    cancelled_.store(true, std::memory_order_relaxed);
    interrupted_.store(true, std::memory_order_relaxed);
    stream_->Interrupt();
  }

  // Thread safety: as ExpireWait. Whether the response is in a deliberate pause and the peer has
  // closed the connection or its sending side.
  bool IsPausedForClosedPeer() const;

  std::uint64_t id() const { return facts_.id; }
  int fd() const { return stream_->fd(); }
  EpollRegistration& registration() { return registration_; }

 private:
  friend class CompletionQueue;

  // What the connection waits for.
  enum class Stage : std::uint8_t {
    kHandshake,
    kHead,      // a request
    kBody,      // the body, which is stored as it arrives
    kResponse,  // room to send the rest of the response
    kDrain,     // the unread rest of a small body
    kLinger,    // the peer's FIN, after ours
  };
  // An unread rest of a body up to this size is discarded to keep the connection. With a larger one
  // the connection is closed.
  static constexpr std::uint64_t kDrainBytes = 64 << 10;
  // Result of a step of a request. nullopt: the request is over, and the connection is ready for
  // the next one.
  using Pause = std::optional<Next>;

  // State of one request, from its head to its response.
  struct RequestState {
    RequestState(WireConnection& connection, const Framing& request_framing);
    ~RequestState();
    const Framing framing;
    WireBodyReader body;
    std::optional<GatheredBody> gathered;
    const std::unique_ptr<message::Exchange> owned;  // the handler's
    message::Exchange& exchange;
    bool failed = false;  // an exception was thrown after the operation had become asynchronous
    // The handler waits for the body on its thread (ConnectionQuotas::EnterThread).
    bool entered = false;
    bool refused = false;  // before the handler: further bytes cannot be interpreted
    std::optional<ResponseSender> sender;  // set once the response is complete
    // When a pause of `sender` next checks whether the peer is connected. Epoch: none has begun.
    MonotonicTime next_peer_check{};
    bool abandoned = false;  // the peer has closed, maybe only its sending side: no more pauses
    MonotonicTime listen_until{};  // after a half-close, receive until then; epoch: close
    ConnectionQuotas* const quotas;
    // Bytes of the request's body that a handler read before it stopped, if it stopped early.
    std::optional<std::uint64_t> taken;
    std::uint64_t response_bytes = 0;  // reserved in the quotas for the response's text
    std::uint64_t held = 0;            // bytes in the socket buffer, as reported to the quotas
  };

  Executor& executor() override { return *settings_.completions; }
  void Complete() noexcept override;
  void BeginWait() noexcept override {
    if (current_->gathered) current_->gathered->ReportWait();
    settings_.quotas->BeginWait(current_->entered);
  }
  void EndWait() noexcept override { settings_.quotas->EndWait(current_->entered); }
  bool PeerHasClosed() const noexcept override;
  bool IsCancelled() const noexcept override;
  // Both directions have ended: the peer has reset the connection.
  bool IsClosed() const noexcept;

  void EndWait(MonotonicTime now, bool of_requests);
  Pause Proceed(ServingTools& tools, bool expired);
  Pause Handshake(bool expired);
  Next ServeWaiting(ServingTools& tools);
  std::size_t FindHead();
  Pause ServeRequest(std::size_t head_bytes, ServingTools& tools);
  Pause GatherBody(ServingTools& tools, bool expired);
  Pause CallHandler(ServingTools& tools);
  // Responds to current_ and ends it.
  Pause FinishRequest(ServingTools& tools);
  // Continues to send the response of current_.
  Pause SendResponse(ServingTools& tools, bool expired);
  void ReportDamage(const std::string& damage);
  Pause EndResponse(const SendResult& sent);
  // Records the result of current_ before the last bytes of its response are sent. `body_bytes`:
  // size of the whole body.
  void ReportResponseEnd(std::uint64_t body_bytes);
  BeforeEnd before_end() {
    return [this](std::uint64_t body_bytes) { ReportResponseEnd(body_bytes); };
  }
  // Whether another thread continues once the pause of the response is over. Otherwise it is over.
  bool Pauses(MonotonicTime now);
  // Returns whether a pause of the response ends now because the peer has closed the connection or
  // its sending side.
  bool EndPause(MonotonicTime now);
  SendResult ResultOfSending() const;
  ResponseContext ContextOf(const message::Exchange& exchange, bool can_keep,
                            ServingTools& tools) const;
  Pause DrainBody(bool expired);
  // Closes the sending side. Then discards what the peer still sends, for a limited time.
  Pause Close(bool peer_sends);
  Pause CloseBy(MonotonicTime until);
  Pause Linger(bool expired);
  // Between two requests. Returns true if no byte of the next request is known to have arrived.
  bool PrepareNext();
  // Clears the views of the served request, which end with its pinned head. A refusal of the next
  // request must not use them.
  void ForgetRequest();
  void Handle(RequestState& state);
  // Lets the handler finish its pending response.
  void FinishPending(RequestState& state);
  // Counts the response's text against the quotas. If they are used up, refuses the request or
  // resets the connection.
  static void ReserveResponseBytes(RequestState& state);
  // Called before any byte of a response is sent.
  void LimitUnsent();
  Pause AwaitRoom();
  // Sends an error document for a request that never reached the handler, and closes.
  Pause Refuse(const Error& error, ServingTools& tools);
  // Whether the whole request body, if any, has been read from the socket.
  bool BodyArrived(const Framing& framing) const;
  bool stopping() const { return settings_.stopping->load(std::memory_order_relaxed); }

  const ConnectionSettings& settings_;
  std::unique_ptr<Stream> stream_;
  TlsStream* handshake_;  // null once done
  EpollRegistration& registration_;
  InputBuffer buffer_;
  std::size_t scanned_ = 0;     // bytes of the arriving head that were searched for its end
  bool to_the_end_ = false;     // bytes without a further event may have arrived: read on
  MonotonicTime head_began_{};  // when its first byte was seen; epoch: not yet
  // When the wait for the next request began; epoch: not yet. Empty lines do not restart it.
  MonotonicTime idle_began_{};
  Stage stage_ = Stage::kHead;
  MonotonicTime stage_until_{};  // end of kDrain and kLinger
  MonotonicTime wait_began_{};
  bool unsent_limited_ = false;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> interrupted_{false};
  std::uint64_t max_requests_ = 0;  // 0: no limit
  message::RequestHead request_;
  message::Connection facts_;
  // kServed, kExpired, or the time limit of the wait (nanoseconds, monotonic).
  std::atomic<std::int64_t> wait_until_{0};
  // For the supervisor: the kind of wait, and the unacknowledged bytes when the wait began or last
  // made progress.
  std::atomic<Stage> waits_for_{Stage::kHead};
  std::atomic<std::size_t> unacknowledged_{0};
  std::atomic<bool> pausing_{false};
  std::optional<RequestState> current_;
  // For an asynchronous response: set by the handler's return and by Complete. The second of the
  // two continues with the connection.
  std::atomic<bool> half_done_{false};
  WireConnection* next_response_ = nullptr;  // used by the completion queue
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_H_
