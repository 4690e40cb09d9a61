#include "emulator/http/connection/connection.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/http/parsing/wire_error.h"
#include "emulator/message/errors.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

constinit DiagnosticEvent handler_failed("wire.handler_failed");
constinit DiagnosticEvent observer_failed("wire.response_observer_failed");

// RFC 8446 section 5.1: the first byte of a ClientHello. No request line begins with it.
constexpr char kTlsHandshake = 0x16;
constexpr std::int64_t kServed = 0;
constexpr std::int64_t kExpired = -1;
// How long a closing connection receives from a peer that is still sending.
constexpr milliseconds kLingerTimeout{2'000};
// Bytes discarded from such a peer before other connections are served.
constexpr std::size_t kDiscardBytes = 4 << 20;
constexpr milliseconds kDrainTimeout{1'000};
constexpr int kCrowdedUnsentBytes = 128 << 10;
constexpr std::size_t kLargeText = 16 << 10;  // smaller responses are not counted

MonotonicTime Now() { return std::chrono::steady_clock::now(); }

std::int64_t Nanoseconds(MonotonicTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// Fatal alerts of TLS 1.2 and later (RFC 8446 section 6.2). For kTruncated: the first bytes of a
// ServerHello of 118 bytes (sections 4.1.3 and 5.1).
std::string_view RefusalBytes(TlsRefusal refusal) {
  using namespace std::string_view_literals;
  switch (refusal) {
    case TlsRefusal::kHandshakeFailure: return "\x15\x03\x03\x00\x02\x02\x28"sv;
    case TlsRefusal::kProtocolVersion: return "\x15\x03\x03\x00\x02\x02\x46"sv;
    case TlsRefusal::kNoApplicationProtocol: return "\x15\x03\x03\x00\x02\x02\x78"sv;
    case TlsRefusal::kTruncated: return "\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03"sv;
  }
  return {};
}

bool AsksToClose(const message::Response& response) {
  if (response.close) return true;
  return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return EqualsIgnoreCase(header.first, "connection") &&
           EqualsIgnoreCase(TrimBlanks(header.second), "close");
  });
}

}  // namespace

WireConnection::WireConnection(std::uint64_t id, std::unique_ptr<Stream> stream,
                               TlsStream* handshake, EpollRegistration& registration,
                               const ConnectionSettings& settings)
    : settings_(settings),
      stream_(std::move(stream)),
      handshake_(handshake),
      registration_(registration),
      buffer_(settings.limits.max_head_bytes),
      stage_(handshake != nullptr ? Stage::kHandshake : Stage::kHead) {
  facts_.id = id;
  facts_.peer = PeerName(stream_->fd());
  facts_.tls = stream_->tls();
  stream_->CancelWaitsBy(settings.cancel_event);
}

void WireConnection::Receive(const AcceptDecision& decision) {
  max_requests_ = decision.max_requests;
  if (decision.kind == AcceptDecision::Kind::kServe) return;
  if (decision.kind == AcceptDecision::Kind::kRefuseTls) {
    const ByteView bytes = AsBytes(RefusalBytes(decision.refusal));
    stream_->Write({&bytes, 1}, More::kNo, milliseconds(0));
  }
  stream_->EndWriting();
  stage_ = Stage::kLinger;
  stage_until_ = Now() + kLingerTimeout;
}

void WireConnection::StartWait(MonotonicTime now) {
  wait_began_ = now;
  MonotonicTime until = now;
  switch (stage_) {
    case Stage::kHandshake:
    case Stage::kHead:
      if (head_began_ != MonotonicTime{}) {
        // The head must be complete within one timeout of its first byte.
        until = head_began_ + settings_.progress_timeout;
      } else {
        if (idle_began_ == MonotonicTime{}) idle_began_ = now;
        until = idle_began_ + settings_.idle_timeout;
      }
      break;
    case Stage::kBody: until = now + current_->body.RemainingTimeout(); break;
    case Stage::kResponse:
      until = now + settings_.progress_timeout;
      unacknowledged_.store(stream_->UnacknowledgedBytes(), std::memory_order_relaxed);
      break;
    case Stage::kDrain:
    case Stage::kLinger: until = stage_until_; break;
  }
  waits_for_.store(stage_, std::memory_order_relaxed);
  wait_until_.store(std::max<std::int64_t>(Nanoseconds(until), 1), std::memory_order_release);
}

void WireConnection::ExpireWait(MonotonicTime now) { EndWait(now, true); }

void WireConnection::EndIdleWait() { EndWait(MonotonicTime::max(), false); }

void WireConnection::Cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  std::int64_t until = wait_until_.load(std::memory_order_acquire);
  if (until == kServed || waits_for_.load(std::memory_order_relaxed) != Stage::kBody) return;
  // The socket stays open for reading: data that arrives after a shutdown of that side would reset
  // the connection, and the client could lose the response.
  if (until == kExpired ||
      wait_until_.compare_exchange_strong(until, kExpired, std::memory_order_acq_rel))
    registration_.Wake();
}

void WireConnection::EndWait(MonotonicTime now, bool of_requests) {
  std::int64_t until = wait_until_.load(std::memory_order_acquire);
  if (until == kServed || until == kExpired || until > Nanoseconds(now)) return;
  const Stage stage = waits_for_.load(std::memory_order_relaxed);
  if (!of_requests) {
    if (stage == Stage::kBody || stage == Stage::kResponse) return;
    // The peer may still read the response. A half-close of a fault may last longer: it ends.
    if (stage == Stage::kLinger && until <= Nanoseconds(Now() + kLingerTimeout)) return;
  }
  if (stage == Stage::kResponse) {
    // The peer may accept bytes slowly. The room-to-write event comes only after much progress.
    const std::size_t unacknowledged = stream_->UnacknowledgedBytes();
    if (unacknowledged < unacknowledged_.exchange(unacknowledged, std::memory_order_relaxed)) {
      wait_until_.compare_exchange_strong(until, Nanoseconds(now + settings_.progress_timeout),
                                          std::memory_order_acq_rel);
      return;
    }
  }
  if (!wait_until_.compare_exchange_strong(until, kExpired, std::memory_order_acq_rel)) return;
  stage == Stage::kResponse ? stream_->Interrupt() : stream_->InterruptReading();
}

WireConnection::Next WireConnection::Serve(ServingTools& tools, bool to_the_end) {
  to_the_end_ = to_the_end;
  const bool expired = wait_until_.exchange(kServed, std::memory_order_acq_rel) == kExpired;
  if (stage_ == Stage::kHead) {
    if (!expired) return ServeWaiting(tools);
    if (buffer_.empty() || stopping()) return Next::kClose;
    return *Refuse(RequestTimedOut(), tools);
  }
  // After a read that bypassed the buffer, bytes may remain that cause no further event.
  to_the_end_ = true;
  if (const Pause pause = Proceed(tools, expired)) return *pause;
  return PrepareNext() ? Next::kWait : ServeWaiting(tools);
}

WireConnection::Pause WireConnection::Proceed(ServingTools& tools, bool expired) {
  switch (stage_) {
    case Stage::kHandshake: return Handshake(expired);
    case Stage::kBody: return GatherBody(tools, expired);
    case Stage::kResponse: return SendResponse(tools, expired);
    case Stage::kDrain: return DrainBody(expired);
    case Stage::kLinger: return Linger(expired);
    case Stage::kHead: break;
  }
  return std::nullopt;
}

WireConnection::Pause WireConnection::Handshake(bool expired) {
  if (expired) return Next::kClose;
  const IoStatus status = handshake_->Handshake();
  if (status == IoStatus::kWouldBlock) {
    if (head_began_ == MonotonicTime{}) head_began_ = Now();
    return handshake_->waits_for_room() ? Next::kRoom : Next::kWait;
  }
  if (status != IoStatus::kOk) return Next::kClose;
  handshake_ = nullptr;
  facts_.tls_version = stream_->tls_version();
  stage_ = Stage::kHead;
  head_began_ = {};
  return std::nullopt;
}

WireConnection::Next WireConnection::ServeWaiting(ServingTools& tools) {
  for (;;) {
    if (stopping()) return Next::kClose;
    const std::size_t head_bytes = FindHead();
    if (head_bytes > 0) {
      if (const Pause pause = ServeRequest(head_bytes, tools)) return *pause;
      if (PrepareNext()) return Next::kWait;
      continue;
    }
    if (!buffer_.empty() && buffer_.text().front() == kTlsHandshake) {
      // Such a client waits for a response before it sends a line. Refuse it at once.
      return *Refuse(BadRequest("this port speaks plain http, not TLS."), tools);
    }
    if (buffer_.full()) return *Refuse(HeadTooLarge(settings_.limits.max_head_bytes), tools);
    const IoResult result = buffer_.Fill(*stream_, milliseconds(0));
    if (result.status == IoStatus::kWouldBlock) {
      if (buffer_.empty()) {
        head_began_ = {};
      } else if (head_began_ == MonotonicTime{}) {
        head_began_ = Now();
      }
      return Next::kWait;
    }
    if (result.status != IoStatus::kOk) return Next::kClose;
  }
}

std::size_t WireConnection::FindHead() {
  // RFC 9112 section 2.2: ignore empty lines before a request line.
  while (buffer_.text().starts_with("\r\n")) {
    buffer_.Consume(2);
    scanned_ = 0;
  }
  if (buffer_.empty()) return 0;
  return FindHeadEnd(buffer_.text(), scanned_);
}

WireConnection::RequestState::RequestState(WireConnection& connection,
                                           const Framing& request_framing)
    : framing(request_framing),
      body(*connection.stream_, connection.buffer_, framing, connection.settings_.progress_timeout),
      owned(connection.settings_.handler->NewExchange(connection.request_, connection.facts_)),
      exchange(*owned),
      quotas(connection.settings_.quotas) {
  exchange.body = &body;
  RequestIds ids = connection.settings_.ids->Next();
  exchange.request_id = std::move(ids.request_id);
  exchange.host_id = std::move(ids.host_id);
  exchange.received = connection.settings_.clock->Now();
  exchange.began = Now();
}

WireConnection::RequestState::~RequestState() {
  if (held > 0) quotas->CountHeld(held, 0);
  if (response_bytes > 0) quotas->ReleaseResponse(response_bytes);
}

WireConnection::Pause WireConnection::ServeRequest(std::size_t head_bytes, ServingTools& tools) {
  const std::string_view head = buffer_.PinHead(head_bytes);
  const Result<void> parsed = ParseHead(head, settings_.limits, request_);
  if (!parsed.ok()) return Refuse(parsed.error(), tools);
  const Result<Framing> framing = ReadFraming(request_);
  if (!framing.ok()) return Refuse(framing.error(), tools);
  RequestState& state = current_.emplace(*this, *framing);
  if (settings_.completions != nullptr) state.exchange.async = this;
  if (settings_.quotas != nullptr) state.exchange.wire = this;
  if (BodyArrived(*framing)) return CallHandler(tools);
  if (settings_.quotas != nullptr && !settings_.quotas->EnterThread()) {
    to_the_end_ = true;
    state.exchange.body = &state.gathered.emplace(state.body, *settings_.quotas);
    return GatherBody(tools, false);
  }
  const HeldThread held(settings_.quotas);  // another thread may own the connection when it ends
  state.entered = settings_.quotas != nullptr;
  registration_.Mute();
  return CallHandler(tools);
}

WireConnection::Pause WireConnection::GatherBody(ServingTools& tools, bool expired) {
  if (stage_ == Stage::kBody)
    current_->body.CountWait(std::chrono::round<milliseconds>(Now() - wait_began_));
  stage_ = Stage::kBody;
  if (expired) {
    const bool cancelled = cancelled_.load(std::memory_order_relaxed);
    current_->gathered->Fail(cancelled ? message::ServerStops() : RequestTimedOut());
  } else {
    const GatheredBody::State state = current_->gathered->Gather();
    if (state != GatheredBody::State::kReady)
      return state == GatheredBody::State::kMore ? Next::kServe : Next::kWait;
  }
  stage_ = Stage::kHead;
  return CallHandler(tools);
}

WireConnection::Pause WireConnection::CallHandler(ServingTools& tools) {
  half_done_.store(false, std::memory_order_relaxed);
  Handle(*current_);
  if (current_->exchange.pending && !half_done_.exchange(true, std::memory_order_acq_rel))
    return Next::kLater;
  return FinishRequest(tools);
}

void WireConnection::Complete() noexcept {
  if (half_done_.exchange(true, std::memory_order_acq_rel))
    settings_.completions->AddResponse(*this);
}

WireConnection::Next WireConnection::Resume(ServingTools& tools) {
  pausing_.store(false, std::memory_order_relaxed);
  if (const Pause pause = current_->sender ? SendResponse(tools, false) : FinishRequest(tools))
    return *pause;
  if (stopping()) return Next::kClose;
  if (PrepareNext()) return Next::kWait;
  if (!buffer_.empty()) head_began_ = Now();
  return Next::kServe;
}

WireConnection::Pause WireConnection::DrainBody(bool expired) {
  if (!current_->body.Drain(kDrainBytes)) {
    if (expired || stopping() || !current_->body.drainable()) return Close(true);
    stage_ = Stage::kDrain;
    return Next::kWait;
  }
  current_.reset();
  ++facts_.requests_before;
  stage_ = Stage::kHead;
  return std::nullopt;
}

WireConnection::Pause WireConnection::Close(bool peer_sends) {
  return CloseBy(peer_sends ? Now() + std::min(kLingerTimeout, settings_.progress_timeout)
                            : MonotonicTime::min());
}

WireConnection::Pause WireConnection::CloseBy(MonotonicTime until) {
  current_.reset();
  stage_ = Stage::kLinger;
  stage_until_ = until;
  stream_->EndWriting();
  return Linger(false);
}

WireConnection::Pause WireConnection::Linger(bool expired) {
  const IoStatus status = stream_->Discard(kDiscardBytes);
  const bool more = status == IoStatus::kOk || status == IoStatus::kWouldBlock;
  const MonotonicTime now = Now();
  const MonotonicTime last = stopping() ? now + kLingerTimeout : MonotonicTime::max();
  if (!more || expired || now >= stage_until_ || stage_until_ > last) return Next::kClose;
  return status == IoStatus::kOk ? Next::kServe : Next::kWait;
}

bool WireConnection::PrepareNext() {
  ForgetRequest();
  buffer_.Unpin();
  scanned_ = 0;
  head_began_ = {};
  idle_began_ = {};
  // A client that waits for its response has sent nothing more. An event is cheaper than a read
  // that finds nothing. TLS may hold bytes that cause no event.
  return buffer_.empty() && buffer_.took_all() && !to_the_end_ && !facts_.tls && !stopping();
}

bool WireConnection::BodyArrived(const Framing& framing) const {
  if (framing.body == BodyFraming::kChunked) return false;
  return framing.body == BodyFraming::kUndeclared || framing.length <= buffer_.size();
}

void WireConnection::ForgetRequest() {
  request_.method = {};
  request_.target = {};
  request_.minor_version = message::RequestHead().minor_version;
  request_.headers.clear();  // keeps its memory for the next head
}

void WireConnection::Handle(RequestState& state) {
  message::Exchange& exchange = state.exchange;
  try {
    settings_.handler->Handle(exchange);
  } catch (...) {  // only this request fails
    handler_failed.Report(CurrentExceptionError());
    state.failed = exchange.pending;
    if (exchange.pending) return;  // the response is still completed asynchronously: touch nothing
    FillErrorResponse(InternalError(), exchange.request_id, exchange.host_id, exchange.response);
  }
}

WireConnection::Pause WireConnection::Refuse(const Error& error, ServingTools& tools) {
  Framing nothing;
  nothing.keep_alive = false;
  RequestState& state = current_.emplace(*this, nothing);
  state.refused = true;
  message::Exchange& exchange = state.exchange;
  FillErrorResponse(error, exchange.request_id, exchange.host_id, exchange.response);
  return FinishRequest(tools);
}

// From the response of a request to its last byte.

WireConnection::Pause WireConnection::FinishRequest(ServingTools& tools) {
  RequestState& state = *current_;
  if (state.exchange.pending) FinishPending(state);
  ReserveResponseBytes(state);
  if (state.exchange.response.action != message::WireAction::kSend) return EndResponse({});
  // Bytes discarded below were not read by the handler.
  if (state.exchange.bytes_in > 0) state.taken = state.exchange.bytes_in;
  const bool unread = !state.body.Drain(kDrainBytes);
  // After the response, wait for the rest of a small body that is still arriving. With a larger
  // rest the connection is closed.
  const bool soon_read = state.body.drainable() && state.body.Length() &&
                         *state.body.Length() - state.body.bytes_read() <= kDrainBytes;
  const bool last = max_requests_ > 0 && facts_.requests_before + 1 >= max_requests_;
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
    return EndResponse(sender.result());
  }
  LimitUnsent();
  for (;;) {
    const MonotonicTime now = Now();
    switch (sender.Resume(*stream_, tools.buffers, now, before_end())) {
      case State::kSocketFull: return AwaitRoom();
      case State::kWait:
        // While the server stops, pauses continue up to the grace period, but streams end.
        if (stopping() && sender.EndStream()) break;
        if (settings_.timers == nullptr || interrupted_.load(std::memory_order_relaxed))
          return EndResponse(sender.result());
        if (Pauses(now)) return Next::kLater;
        break;
      case State::kReset:
        current_->exchange.response.action = message::WireAction::kReset;
        return EndResponse(sender.result());
      case State::kHalfClose:
        current_->listen_until = sender.wait_until();
        return EndResponse(sender.result());
      case State::kDone:
      case State::kFin:
      case State::kBroken: return EndResponse(ResultOfSending());
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
// responds to sent bytes with RST.
SendResult WireConnection::ResultOfSending() const {
  SendResult result = current_->sender->result();
  if (current_->abandoned && IsClosed()) result.ok = false;
  return result;
}

WireConnection::Pause WireConnection::AwaitRoom() {
  RequestState& state = *current_;
  stage_ = Stage::kResponse;
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
  state.exchange.sent_head = state.sender->head();
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
WireConnection::Pause WireConnection::EndResponse(const SendResult& sent) {
  RequestState& state = *current_;
  if (!sent.damage.empty()) ReportDamage(sent.damage);
  state.exchange.bytes_out = sent.body_bytes;
  state.exchange.bytes_in = state.taken.value_or(state.body.bytes_read());
  state.exchange.whole = sent.ok;
  if (!sent.ok || state.exchange.ended == MonotonicTime{}) state.exchange.ended = Now();
  state.exchange.sent_head = !sent.ok && state.sender ? state.sender->head() : std::string_view();
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

void WireConnection::ReserveResponseBytes(RequestState& state) {
  const auto* const text = std::get_if<std::string>(&state.exchange.response.body);
  if (text == nullptr || text->size() < kLargeText || state.quotas == nullptr) return;
  const std::uint64_t bytes = text->capacity();
  // A GET has no side effect that the client must learn of.
  const bool can_refuse = state.exchange.request.method == "GET";
  if (state.quotas->ReserveResponse(bytes, !can_refuse)) {
    state.response_bytes = bytes;
  } else if (can_refuse) {
    FillErrorResponse(NoRoomForResponse(), state.exchange.request_id, state.exchange.host_id,
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
