// The second half of a connection's request: from the response to its last byte.
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/diagnostics.h"
#include "base/log.h"
#include "base/time_ahead.h"
#include "emulator/http/connection/connection.h"
#include "emulator/http/connection/wire_error.h"
#include "emulator/s3/core/peer_check.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

constinit DiagnosticEvent observer_failed("wire.answer_observer_failed");

constexpr milliseconds kDrainPatience{1'000};
constexpr int kUnsentInCrowd = 128 << 10;
constexpr std::size_t kLargeText = 16 << 10;  // smaller answers cost less than their connections

MonotonicTime Now() { return std::chrono::steady_clock::now(); }

bool AsksToClose(const s3::Response& response) {
  if (response.close) return true;
  return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return EqualsIgnoringCase(header.first, "connection") &&
           EqualsIgnoringCase(TrimBlanks(header.second), "close");
  });
}

}  // namespace

WireConnection::Pause WireConnection::FinishTurn(ServingTools& tools) {
  RequestState& state = *current_;
  if (state.exchange.pending) ShowAnswer(state);
  BoundAnswer(state);
  if (state.exchange.response.action != s3::WireAction::kSend) return EndAnswer({});
  // what is thrown away below nobody has taken
  if (state.exchange.bytes_in > 0) state.taken = state.exchange.bytes_in;
  const bool unread = !state.body.Drain(kDrainBytes);
  // A small body that is still arriving is waited for once the answer has left; a larger one costs
  // the connection.
  const bool soon_read = state.body.drainable() && state.body.Length() &&
                         *state.body.Length() - state.body.bytes_read() <= kDrainBytes;
  const bool last = most_requests_ > 0 && facts_.requests_before + 1 >= most_requests_;
  const bool can_keep = state.framing.keep_alive && (!unread || soon_read) && !last;
  if (state.exchange.response.delivery) {
    state.scripted.emplace(state.exchange.response, ContextOf(state.exchange, can_keep, tools));
    state.look_at = Now() + s3::kPeerCheckInterval;
    return SendScripted(false);
  }
  const SendResult sent = BeginSending(state.exchange, can_keep, tools);
  return sent.blocked ? AwaitRoom(tools) : EndAnswer(sent);
}

WireConnection::Pause WireConnection::SendScripted(bool expired) {
  ScriptedAnswer& answer = *current_->scripted;
  if (expired) stream_->Reset();
  for (;;) {
    const MonotonicTime now = Now();
    switch (answer.Go(*stream_, now, end_shown())) {
      case ScriptedAnswer::State::kRoom: stage_ = Stage::kAnswer; return Next::kRoom;
      case ScriptedAnswer::State::kWait:
        // A server that stops lets answers take their time, up to its grace.
        if (settings_.timers == nullptr || interrupted_.load(std::memory_order_relaxed))
          return EndAnswer(answer.result());
        if (EndPause(now)) continue;
        met_.store(false, std::memory_order_relaxed);
        pausing_.store(true, std::memory_order_relaxed);
        settings_.timers->Add(current_->abandoned
                                  ? answer.wait_until()
                                  : std::min(answer.wait_until(), current_->look_at),
                              *this);
        if (!met_.exchange(true, std::memory_order_acq_rel)) return Next::kLater;
        pausing_.store(false, std::memory_order_relaxed);
        continue;
      case ScriptedAnswer::State::kReset:
        current_->exchange.response.action = s3::WireAction::kReset;
        return EndAnswer(answer.result());
      case ScriptedAnswer::State::kHalfClose:
        current_->listen_until = answer.wait_until();
        return EndAnswer(answer.result());
      case ScriptedAnswer::State::kDone:
      case ScriptedAnswer::State::kFin:
      case ScriptedAnswer::State::kBroken: return EndAnswer(ScriptedResult());
    }
  }
}

bool WireConnection::EndPause(MonotonicTime now) {
  RequestState& state = *current_;
  if (!state.abandoned && now >= state.look_at) {
    state.look_at = now + s3::kPeerCheckInterval;
    state.abandoned = PeerHasClosed();
  }
  return state.abandoned && state.scripted->EndPause();
}

// A peer that has closed its side may still read. One that has closed the connection answers what
// is sent with RST.
SendResult WireConnection::ScriptedResult() const {
  SendResult result = current_->scripted->result();
  if (current_->abandoned && IsClosed()) result.ok = false;
  return result;
}

WireConnection::Pause WireConnection::SendAnswer(ServingTools& tools, bool expired) {
  RequestState& state = *current_;
  if (state.scripted) return SendScripted(expired);
  if (expired) {
    stream_->Reset();  // or the kernel would keep what the peer never took
    SendResult broken = state.unsent.so_far;
    broken.ok = false;
    return EndAnswer(broken);
  }
  LimitUnsent();
  const SendResult sent = tools.writer.Continue(
      *stream_, state.exchange.response, std::move(state.unsent), milliseconds(0), end_shown());
  return sent.blocked ? AwaitRoom(tools) : EndAnswer(sent);
}

WireConnection::Pause WireConnection::AwaitRoom(ServingTools& tools) {
  RequestState& state = *current_;
  state.unsent = tools.writer.TakeUnsent();
  stage_ = Stage::kAnswer;
  if (state.quotas != nullptr) {
    const std::uint64_t held = stream_->Untaken();
    state.quotas->CountHeld(std::exchange(state.held, held), held);
  }
  return Next::kRoom;
}

bool WireConnection::IsDeserted() const {
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
  return stopping() && (interrupted_.load(std::memory_order_relaxed) || IsClosed());
}

void WireConnection::LimitUnsent() {
  const bool limit = settings_.quotas != nullptr && settings_.quotas->crowded();
  if (limit == unsent_limited_) return;
  unsent_limited_ = limit;
  stream_->LimitUnsent(limit ? kUnsentInCrowd : 0);
}

void WireConnection::ShowEnd(std::uint64_t body_bytes) {
  RequestState& state = *current_;
  state.exchange.ended = Now();
  state.exchange.bytes_out = body_bytes;
  state.exchange.bytes_in = state.taken.value_or(state.body.bytes_read());
  state.exchange.whole = true;
  if (settings_.on_ending) settings_.on_ending(state.exchange);
}

// The head has left with a good status, so the connection is broken off: the client sees a short
// body.
void WireConnection::ReportDamage(const std::string& damage) {
  s3::Exchange& exchange = current_->exchange;
  exchange.response.error_code = "InternalError";
  exchange.response.error_detail = damage;
  Log({LogLevel::kError,
       "store.damaged",
       {{"request_id", exchange.request_id},
        {"bucket", exchange.target.bucket.value},
        {"key", exchange.target.key.value},
        {"detail", damage}}});
}

// What it did is known before the peer can learn of its end.
WireConnection::Pause WireConnection::EndAnswer(const SendResult& sent) {
  RequestState& state = *current_;
  if (!sent.damage.empty()) ReportDamage(sent.damage);
  state.exchange.bytes_out = sent.body_bytes;
  state.exchange.bytes_in = state.taken.value_or(state.body.bytes_read());
  state.exchange.whole = sent.ok;
  if (!sent.ok || state.exchange.ended == MonotonicTime{}) state.exchange.ended = Now();
  if (settings_.on_finished) settings_.on_finished(state.exchange);
  if (state.exchange.response.action == s3::WireAction::kReset) {
    stream_->Reset();
    return Next::kClose;
  }
  if (state.listen_until != MonotonicTime{}) return CloseBy(state.listen_until);
  if (!sent.ok || !sent.keep_alive) return Close(state.refused || !state.body.at_end());
  stage_until_ = Now() + kDrainPatience;
  return DrainBody(false);
}

void WireConnection::ShowAnswer(RequestState& state) {
  state.exchange.pending = false;
  for (const auto& look : state.exchange.when_answered) {
    try {
      look(state.exchange);
    } catch (...) {
      observer_failed.Report(CurrentExceptionError());
      state.failed = true;
    }
  }
  if (!state.failed) return;
  FillErrorResponse(InternalError(), state.exchange.request_id, state.exchange.host_id,
                    state.exchange.response);
}

void WireConnection::BoundAnswer(RequestState& state) {
  const auto* const text = std::get_if<std::string>(&state.exchange.response.body);
  if (text == nullptr || text->size() < kLargeText || state.quotas == nullptr) return;
  const std::uint64_t bytes = text->capacity();
  // nothing was done that its client must hear of
  const bool can_refuse = state.exchange.request.method == "GET";
  if (state.quotas->TakeAnswer(bytes, !can_refuse)) {
    state.answer_bytes = bytes;
  } else if (can_refuse) {
    FillErrorResponse(NoRoomForAnswer(), state.exchange.request_id, state.exchange.host_id,
                      state.exchange.response);
  } else {
    state.exchange.response.action = s3::WireAction::kReset;
  }
}

ResponseContext WireConnection::ContextOf(const s3::Exchange& exchange, bool can_keep,
                                          ServingTools& tools) const {
  ResponseContext context;
  context.head_request = exchange.request.method == "HEAD";
  context.minor_version = exchange.request.minor_version;
  context.keep_alive = can_keep && !AsksToClose(exchange.response) && !stopping();
  // The date of the universe that answers: clients that mend their clocks mend them by it.
  const Clock* const clock = exchange.space ? exchange.space->clock : nullptr;
  const WallTime now = (clock != nullptr ? clock : settings_.clock)->Now();
  context.date = tools.dates.At(TimeAhead(now, exchange.clock_ahead));
  context.request_id = exchange.request_id;
  context.host_id = exchange.host_id;
  return context;
}

SendResult WireConnection::BeginSending(const s3::Exchange& exchange, bool can_keep,
                                        ServingTools& tools) {
  LimitUnsent();
  return tools.writer.Send(*stream_, exchange.response, ContextOf(exchange, can_keep, tools),
                           milliseconds(0), end_shown());
}

}  // namespace penstock::emulator::http
