// The second half of a request on a connection: from the response to its last byte.
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/http/connection/connection.h"
#include "emulator/http/parsing/wire_error.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

constinit DiagnosticEvent observer_failed("wire.answer_observer_failed");

constexpr milliseconds kDrainTimeout{1'000};
constexpr int kCrowdedUnsentBytes = 128 << 10;
constexpr std::size_t kLargeText = 16 << 10;  // smaller responses are not counted

MonotonicTime Now() { return std::chrono::steady_clock::now(); }

bool AsksToClose(const message::Response& response) {
  if (response.close) return true;
  return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return EqualsIgnoreCase(header.first, "connection") &&
           EqualsIgnoreCase(TrimBlanks(header.second), "close");
  });
}

}  // namespace

WireConnection::Pause WireConnection::FinishRequest(ServingTools& tools) {
  RequestState& state = *current_;
  if (state.exchange.pending) FinishPending(state);
  ReserveAnswerBytes(state);
  if (state.exchange.response.action != message::WireAction::kSend) return EndAnswer({});
  // Bytes discarded below were not read by the handler.
  if (state.exchange.bytes_in > 0) state.taken = state.exchange.bytes_in;
  const bool unread = !state.body.Drain(kDrainBytes);
  // After the response, wait for the rest of a small body that is still arriving. With a larger
  // rest the connection is closed.
  const bool soon_read = state.body.drainable() && state.body.Length() &&
                         *state.body.Length() - state.body.bytes_read() <= kDrainBytes;
  const bool last = most_requests_ > 0 && facts_.requests_before + 1 >= most_requests_;
  const bool can_keep = state.framing.keep_alive && (!unread || soon_read) && !last;
  state.sender.emplace(state.exchange.response, ContextOf(state.exchange, can_keep, tools),
                       tools.buffers);
  return SendResponse(tools, false);
}

WireConnection::Pause WireConnection::SendResponse(ServingTools& tools, bool expired) {
  using State = ResponseSender::State;
  ResponseSender& sender = *current_->sender;
  if (expired) {
    stream_->Reset();  // otherwise the kernel would keep the unacknowledged bytes
    return EndAnswer(sender.result());
  }
  LimitUnsent();
  for (;;) {
    const MonotonicTime now = Now();
    switch (sender.Go(*stream_, tools.buffers, now, before_end())) {
      case State::kRoom: return AwaitRoom();
      case State::kWait:
        // While the server stops, pauses continue up to the grace period.
        if (settings_.timers == nullptr || interrupted_.load(std::memory_order_relaxed))
          return EndAnswer(sender.result());
        if (Pauses(now)) return Next::kLater;
        break;
      case State::kReset:
        current_->exchange.response.action = message::WireAction::kReset;
        return EndAnswer(sender.result());
      case State::kHalfClose:
        current_->listen_until = sender.wait_until();
        return EndAnswer(sender.result());
      case State::kDone:
      case State::kFin:
      case State::kBroken: return EndAnswer(ResultOfSending());
    }
  }
}

bool WireConnection::Pauses(MonotonicTime now) {
  RequestState& state = *current_;
  if (EndPause(now)) return false;
  half_done_.store(false, std::memory_order_relaxed);
  pausing_.store(true, std::memory_order_relaxed);
  const MonotonicTime until = state.sender->wait_until();
  settings_.timers->Add(state.abandoned ? until : std::min(until, state.next_peer_check), *this);
  if (!half_done_.exchange(true, std::memory_order_acq_rel)) return true;
  pausing_.store(false, std::memory_order_relaxed);
  return false;
}

bool WireConnection::EndPause(MonotonicTime now) {
  RequestState& state = *current_;
  if (state.next_peer_check == MonotonicTime{})
    state.next_peer_check = now + message::kPeerCheckInterval;
  if (!state.abandoned && now >= state.next_peer_check) {
    state.next_peer_check = now + message::kPeerCheckInterval;
    state.abandoned = PeerHasClosed();
  }
  return state.abandoned && state.sender->EndPause();
}

// A peer that has closed its sending side may still read. One that has closed the connection
// answers sent bytes with RST.
SendResult WireConnection::ResultOfSending() const {
  SendResult result = current_->sender->result();
  if (current_->abandoned && IsClosed()) result.ok = false;
  return result;
}

WireConnection::Pause WireConnection::AwaitRoom() {
  RequestState& state = *current_;
  stage_ = Stage::kAnswer;
  if (state.quotas != nullptr) {
    const std::uint64_t held = stream_->UnacknowledgedBytes();
    state.quotas->CountHeld(std::exchange(state.held, held), held);
  }
  return Next::kRoom;
}

bool WireConnection::IsPausedForClosedPeer() const {
  return pausing_.load(std::memory_order_relaxed) && PeerHasClosed();
}

bool WireConnection::PeerHasClosed() const noexcept {
  pollfd peer{.fd = stream_->fd(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&peer, 1, 0) > 0;
}

bool WireConnection::IsClosed() const noexcept {
  // POLLERR and POLLHUP are reported without being asked for
  pollfd peer{.fd = stream_->fd(), .events = 0, .revents = 0};
  return ::poll(&peer, 1, 0) > 0;
}

// A peer that has ended its side alone may still read. If its body is incomplete, reading it fails
// without a wait.
bool WireConnection::IsCancelled() const noexcept {
  return stopping() && (cancelled_.load(std::memory_order_relaxed) || IsClosed());
}

void WireConnection::LimitUnsent() {
  const bool limit = settings_.quotas != nullptr && settings_.quotas->sockets_full();
  if (limit == unsent_limited_) return;
  unsent_limited_ = limit;
  stream_->LimitUnsent(limit ? kCrowdedUnsentBytes : 0);
}

void WireConnection::ReportResponseEnd(std::uint64_t body_bytes) {
  RequestState& state = *current_;
  state.exchange.ended = Now();
  state.exchange.bytes_out = body_bytes;
  state.exchange.bytes_in = state.taken.value_or(state.body.bytes_read());
  state.exchange.whole = true;
  if (settings_.on_ending) settings_.on_ending(state.exchange);
}

// The head was already sent with a success status, so the connection is aborted: the client sees a
// short body.
void WireConnection::ReportDamage(const std::string& damage) {
  message::Exchange& exchange = current_->exchange;
  exchange.response.error_code = "InternalError";
  exchange.response.error_detail = damage;
  exchange.ReportDamage(damage);
}

// on_finished runs before the connection closes, so the client cannot see the end earlier.
WireConnection::Pause WireConnection::EndAnswer(const SendResult& sent) {
  RequestState& state = *current_;
  if (!sent.damage.empty()) ReportDamage(sent.damage);
  state.exchange.bytes_out = sent.body_bytes;
  state.exchange.bytes_in = state.taken.value_or(state.body.bytes_read());
  state.exchange.whole = sent.ok;
  if (!sent.ok || state.exchange.ended == MonotonicTime{}) state.exchange.ended = Now();
  if (settings_.on_finished) settings_.on_finished(state.exchange);
  if (state.exchange.response.action == message::WireAction::kReset) {
    stream_->Reset();
    return Next::kClose;
  }
  if (state.listen_until != MonotonicTime{}) return CloseBy(state.listen_until);
  if (!sent.ok || !sent.keep_alive) return Close(state.refused || !state.body.at_end());
  stage_until_ = Now() + kDrainTimeout;
  return DrainBody(false);
}

void WireConnection::FinishPending(RequestState& state) {
  state.exchange.pending = false;
  try {
    settings_.handler->Finish(state.exchange);
  } catch (...) {
    observer_failed.Report(CurrentExceptionError());
    state.failed = true;
  }
  if (!state.failed) return;
  FillErrorResponse(InternalError(), state.exchange.request_id, state.exchange.host_id,
                    state.exchange.response);
}

void WireConnection::ReserveAnswerBytes(RequestState& state) {
  const auto* const text = std::get_if<std::string>(&state.exchange.response.body);
  if (text == nullptr || text->size() < kLargeText || state.quotas == nullptr) return;
  const std::uint64_t bytes = text->capacity();
  // A GET has no side effect that the client must learn of.
  const bool can_refuse = state.exchange.request.method == "GET";
  if (state.quotas->TakeAnswer(bytes, !can_refuse)) {
    state.answer_bytes = bytes;
  } else if (can_refuse) {
    FillErrorResponse(NoRoomForAnswer(), state.exchange.request_id, state.exchange.host_id,
                      state.exchange.response);
  } else {
    state.exchange.response.action = message::WireAction::kReset;
  }
}

ResponseContext WireConnection::ContextOf(const message::Exchange& exchange, bool can_keep,
                                          ServingTools& tools) const {
  ResponseContext context;
  context.head_request = exchange.request.method == "HEAD";
  context.minor_version = exchange.request.minor_version;
  context.keep_alive = can_keep && !AsksToClose(exchange.response) && !stopping();
  // Clients correct their clocks by this date.
  const std::optional<WallTime> now = exchange.Now();
  context.date = tools.dates.At(now ? *now : settings_.clock->Now());
  context.request_id = exchange.request_id;
  context.host_id = exchange.host_id;
  return context;
}

}  // namespace penstock::emulator::http
