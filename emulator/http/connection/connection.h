// One client's connection: its requests, one after the other, from head to answer.
//
// Knows HTTP messages. Which thread serves it and when is the engine's.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "emulator/http/accept_decision.h"
#include "emulator/http/completions.h"
#include "emulator/http/connection/body_reader.h"
#include "emulator/http/connection/framing.h"
#include "emulator/http/connection/gathered_body.h"
#include "emulator/http/connection/head_parser.h"
#include "emulator/http/connection/input_buffer.h"
#include "emulator/http/connection/request_ids.h"
#include "emulator/http/connection/response_writer.h"
#include "emulator/http/connection/scripted_answer.h"
#include "emulator/http/connection/stream.h"
#include "emulator/http/connection/tls.h"
#include "emulator/http/connection_quotas.h"
#include "emulator/http/epoll_registration.h"
#include "emulator/http/timers.h"
#include "emulator/s3/core/cancellation.h"
#include "emulator/s3/core/exchange.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// What all connections of a server share. Everything pointed to outlives them.
struct ConnectionSettings {
  s3::Handler* handler = nullptr;
  const Clock* clock = nullptr;
  RequestIdSource* ids = nullptr;
  const std::atomic<bool>* stopping = nullptr;  // true: no further request on any connection
  // where answers that were given later wait for a thread; null: handlers answer at once
  CompletionQueue* completions = nullptr;
  // null: every handler waits for its request's body on its thread
  ConnectionQuotas* quotas = nullptr;
  Timers* timers = nullptr;  // for deliveries that pause; null: they do not pause
  HeadLimits limits;
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds progress_timeout{20'000};
  std::function<void(s3::Exchange&)> on_ending;  // may be empty, as the next
  std::function<void(const s3::Exchange&)> on_finished;
};

// What a serving thread lends to the connection it serves.
struct ServingTools {
  ResponseWriter writer;
  DateCache dates;
};

// Owned by one thread at a time: the one that serves it, or nobody while it waits, for bytes, for
// room to write or for an answer that is given later. The time limit of the wait is watched by a
// third party through ExpireWait, which never touches anything else. Nothing here waits on a
// thread, but a handler for a body that it was let wait for (quotas.h).
class WireConnection final : private s3::AsyncResponse, private s3::CancellableWire {
 public:
  enum class Next {
    kWait,   // nothing more has arrived: call StartWait and leave the watch
    kRoom,   // the socket is full: the same, until it can be written to
    kServe,  // more may have arrived: the same, but Serve is due at once
    // its answer is given later: it may already be another thread's; from the completions it goes
    // to Resume
    kLater,
    kClose,  // destroy it
  };

  // `handshake`: the stream itself when it is TLS, else null. `watch`: the socket's, which outlives
  // the connection.
  WireConnection(std::uint64_t id, std::unique_ptr<Stream> stream, TlsStream* handshake,
                 EpollRegistration& registration, const ConnectionSettings& settings);

  // Before anything else: one that is not to be served is told so, and its end awaited. Not kReset.
  void Receive(const AcceptDecision& decision);

  // Goes on with what the connection waited for, and serves every request that has arrived whole or
  // begun its body, up to one that is answered later. `to_the_end`: the peer's end may have come
  // with what is read first, and will not be told of again.
  Next Serve(ServingTools& tools, bool to_the_end);
  // Sends the answer that was given. Never kLater.
  Next Resume(ServingTools& tools);

  // The connection waits from now on; after this only the thread that is told of new bytes may
  // touch it.
  void StartWait(MonotonicTime now);
  // Thread safety: any thread while the connection lives. If it waits, and has waited to its limit
  // by `now`, ends the wait: its socket reports an event and the next Serve answers or closes.
  void ExpireWait(MonotonicTime now);
  // Thread safety: as ExpireWait. Ends a wait for which there is no request in progress.
  void EndIdleWait();
  // Thread safety: as ExpireWait. Ends every wait on the socket, also those of a request in
  // progress.
  void Interrupt() {
    interrupted_.store(true, std::memory_order_relaxed);
    stream_->Interrupt();
  }

  // Thread safety: as ExpireWait. Whether its answer pauses, on purpose, for a peer that is gone,
  // or as good as: it has ended.
  bool IsDeserted() const;

  std::uint64_t id() const { return facts_.id; }
  int fd() const { return stream_->fd(); }
  EpollRegistration& registration() { return registration_; }

 private:
  friend class CompletionQueue;

  // What it waits for.
  enum class Stage : std::uint8_t {
    kHandshake,
    kHead,    // or for anything at all
    kBody,    // to be gathered
    kAnswer,  // for room to send the rest of it
    kDrain,   // for the rest of a small body that nobody wanted
    kLinger,  // for the peer's end, ours being sent
  };
  // An unread body up to this size is thrown away to keep the connection; a larger one costs the
  // connection.
  static constexpr std::uint64_t kDrainBytes = 64 << 10;
  // What a step of a request came to; nullopt: the request is over, and the connection is ready for
  // another one.
  using Pause = std::optional<Next>;

  // One request, from its head to its answer.
  struct RequestState {
    RequestState(WireConnection& connection, const Framing& request_framing);
    ~RequestState();
    const Framing framing;
    WireBodyReader body;
    std::optional<GatheredBody> gathered;
    s3::Exchange exchange;
    bool failed = false;  // something was thrown after the operation had promised to answer later
    // its handler waits for the body on its thread (ConnectionQuotas::EnterThread)
    bool entered = false;
    bool refused = false;  // by the wire: whatever else was sent belongs to nothing
    UnsentResponse unsent;
    std::optional<ScriptedAnswer> scripted;  // in place of `unsent`
    MonotonicTime look_at{};  // when a pause of `scripted` checks whether the peer is connected
    bool abandoned = false;   // it was not, or only half: `scripted` pauses no more
    MonotonicTime listen_until{};  // its end leaves the peer's side open; epoch: it does not
    ConnectionQuotas* const quotas;
    // of the request's body, where a handler stopped reading at a certain byte
    std::optional<std::uint64_t> taken;
    std::uint64_t answer_bytes = 0;  // of the quotas, for the answer's text
    std::uint64_t held = 0;          // by the socket, as far as the quotas know
  };

  store::Executor& executor() override { return *settings_.completions; }
  void Complete() noexcept override;
  void BeginWait() noexcept override { settings_.quotas->BeginWait(current_->entered); }
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
  // Answers the request of current_ and ends it.
  Pause FinishTurn(ServingTools& tools);
  Pause SendAnswer(ServingTools& tools, bool expired);
  void ReportDamage(const std::string& damage);
  Pause EndAnswer(const SendResult& sent);
  // The end of current_'s answer leaves next; of its body so many bytes do in all.
  void ShowEnd(std::uint64_t body_bytes);
  BeforeEnd end_shown() {
    return [this](std::uint64_t body_bytes) { ShowEnd(body_bytes); };
  }
  // Goes on with current_'s scripted answer.
  Pause SendScripted(bool expired);
  // Whether a pause of the scripted answer ends now because the peer has closed the connection or
  // its sending side.
  bool EndPause(MonotonicTime now);
  SendResult ScriptedResult() const;
  ResponseContext ContextOf(const s3::Exchange& exchange, bool can_keep, ServingTools& tools) const;
  Pause DrainBody(bool expired);
  // The connection ends. Nothing more is written, and what the peer still sends is thrown away for
  // a while.
  Pause Close(bool peer_sends);
  Pause CloseBy(MonotonicTime until);
  Pause Linger(bool expired);
  // Between two requests. True: as far as is known, nothing of the next one has arrived.
  bool PrepareNext();
  // The views of a served request die with its pinned head; a refusal of the next one must not find
  // them.
  void ForgetRequest();
  void Handle(RequestState& state);
  static void ShowAnswer(RequestState& state);
  // Counts the answer's text against the quotas; where they are used up, refuses the request, or
  // breaks the connection off.
  static void BoundAnswer(RequestState& state);
  // Before anything of an answer is sent.
  void LimitUnsent();
  Pause AwaitRoom(ServingTools& tools);
  SendResult BeginSending(const s3::Exchange& exchange, bool can_keep, ServingTools& tools);
  // Sends an error document for a request that never reached the handler, and closes.
  Pause Refuse(const Error& error, ServingTools& tools);
  // The whole of the request's body has been read from the socket, if it has one.
  bool BodyArrived(const Framing& framing) const;
  bool stopping() const { return settings_.stopping->load(std::memory_order_relaxed); }

  const ConnectionSettings& settings_;
  std::unique_ptr<Stream> stream_;
  TlsStream* handshake_;  // null once done
  EpollRegistration& registration_;
  InputBuffer buffer_;
  std::size_t scanned_ = 0;     // of the head that is arriving
  bool to_the_end_ = false;     // more may have arrived that will not be told of: read on
  MonotonicTime head_began_{};  // when its first byte was seen; epoch: not yet
  // when the wait for the next request began; epoch: it has not. Empty lines do not renew it
  MonotonicTime idle_began_{};
  Stage stage_ = Stage::kHead;
  MonotonicTime stage_until_{};  // kDrain, kLinger: how long it may last
  MonotonicTime wait_began_{};
  bool unsent_limited_ = false;
  std::atomic<bool> interrupted_{false};
  std::uint64_t most_requests_ = 0;  // 0: as many as come
  s3::RequestHead request_;
  s3::Connection facts_;
  // 0: served; kExpired; otherwise the time (nanoseconds, monotonic) until which it may wait.
  std::atomic<std::int64_t> wait_until_{0};
  // For the third party: what is waited for, and how much the peer had not taken when the wait
  // began or last went on.
  std::atomic<Stage> waits_for_{Stage::kHead};
  std::atomic<std::size_t> untaken_{0};
  std::atomic<bool> pausing_{false};
  std::optional<RequestState> current_;
  // Of an answer given later: set by the handler's return and by Give. Whoever comes second goes on
  // with the connection.
  std::atomic<bool> met_{false};
  WireConnection* next_answer_ = nullptr;  // the completions's
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_CONNECTION_H_
