#include "emulator/http/connection.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "emulator/http/wire_error.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

constexpr char kTlsHandshake = 0x16;  // RFC 8446 §5.1: the first byte of a ClientHello, and of no request line
constexpr std::int64_t kServed = 0;
constexpr std::int64_t kExpired = -1;
// An unread body up to this size is thrown away to keep the connection; a larger one costs the connection.
constexpr std::uint64_t kDrainBytes = 64 << 10;
constexpr milliseconds kDrainPatience{1'000};
// How long a closing connection waits for a peer that is still sending to notice.
constexpr milliseconds kLingerPatience{2'000};

std::int64_t Nanoseconds(MonotonicTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

bool AsksToClose(const api::Response& response) {
  if (response.close) return true;
  return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return EqualsIgnoringCase(header.first, "connection") && EqualsIgnoringCase(TrimBlanks(header.second), "close");
  });
}

}  // namespace

WireConnection::WireConnection(std::uint64_t id, std::unique_ptr<Stream> stream, TlsStream* handshake,
                               Watch& watch, const ConnectionSettings& settings)
    : settings_(settings),
      stream_(std::move(stream)),
      handshake_(handshake),
      watch_(watch),
      buffer_(settings.limits.max_head_bytes) {
  facts_.id = id;
  facts_.peer = PeerName(stream_->fd());
  facts_.tls = stream_->tls();
}

void WireConnection::StartWait(MonotonicTime now) {
  MonotonicTime until = now + settings_.idle_timeout;
  if (!buffer_.empty()) until = head_began_ + settings_.progress_timeout;  // a head must arrive within one time-out
  wait_until_.store(std::max<std::int64_t>(Nanoseconds(until), 1), std::memory_order_release);
}

void WireConnection::ExpireWait(MonotonicTime now) {
  std::int64_t until = wait_until_.load(std::memory_order_acquire);
  if (until == kServed || until == kExpired || until > Nanoseconds(now)) return;
  if (wait_until_.compare_exchange_strong(until, kExpired, std::memory_order_acq_rel)) stream_->InterruptReading();
}

WireConnection::Next WireConnection::Serve(ServingTools& tools, bool to_the_end) {
  to_the_end_ = to_the_end;
  const bool expired = wait_until_.exchange(kServed, std::memory_order_acq_rel) == kExpired;
  if (expired) {
    if (!buffer_.empty() && !stopping()) Refuse(RequestTimedOut(), tools);
    return Next::kClose;
  }
  if (handshake_ != nullptr) {
    if (handshake_->Handshake(settings_.progress_timeout) != IoStatus::kOk) return Next::kClose;
    handshake_ = nullptr;
  }
  return ServeWaiting(tools);
}

WireConnection::Next WireConnection::ServeWaiting(ServingTools& tools) {
  for (;;) {
    if (stopping()) return Next::kClose;
    const std::size_t head_bytes = FindHead();
    if (head_bytes > 0) {
      const Next next = ServeRequest(head_bytes, tools);
      if (next != Next::kServe) return next;
      if (PrepareNext()) return Next::kWait;
      continue;
    }
    if (!buffer_.empty() && buffer_.text().front() == kTlsHandshake) {
      // Such a client waits for an answer before it sends a line: it hears at once that there is no TLS here.
      Refuse(BadRequest("this port speaks plain http, not TLS."), tools);
      return Next::kClose;
    }
    if (buffer_.full()) {
      Refuse(HeadTooLarge(settings_.limits.max_head_bytes), tools);
      return Next::kClose;
    }
    const IoResult result = buffer_.Fill(*stream_, milliseconds(0));
    if (result.status == IoStatus::kWouldBlock) {
      if (buffer_.empty()) {
        head_began_ = {};
      } else if (head_began_ == MonotonicTime{}) {
        head_began_ = std::chrono::steady_clock::now();
      }
      return Next::kWait;
    }
    if (result.status != IoStatus::kOk) return Next::kClose;
  }
}

std::size_t WireConnection::FindHead() {
  // RFC 9112 §2.2: empty lines before a request line are ignored.
  while (buffer_.text().starts_with("\r\n")) {
    buffer_.Consume(2);
    scanned_ = 0;
  }
  if (buffer_.empty()) return 0;
  return FindHeadEnd(buffer_.text(), scanned_);
}

WireConnection::Turn::Turn(WireConnection& connection, const Framing& request_framing)
    : framing(request_framing),
      body(*connection.stream_, connection.buffer_, framing, connection.settings_.progress_timeout),
      exchange{connection.request_, &body, connection.facts_} {
  RequestIds ids = connection.settings_.ids->Next();
  exchange.request_id = std::move(ids.request_id);
  exchange.host_id = std::move(ids.host_id);
  exchange.received = connection.settings_.clock->Now();
}

WireConnection::Next WireConnection::ServeRequest(std::size_t head_bytes, ServingTools& tools) {
  const std::string_view head = buffer_.PinHead(head_bytes);
  const Result<void> parsed = ParseHead(head, settings_.limits, request_);
  if (!parsed.ok()) {
    Refuse(parsed.error(), tools);
    return Next::kClose;
  }
  const Result<Framing> framing = ReadFraming(request_);
  if (!framing.ok()) {
    Refuse(framing.error(), tools);
    return Next::kClose;
  }
  Turn& turn = turn_.emplace(*this, *framing);
  if (settings_.backlog != nullptr) turn.exchange.late = this;
  met_.store(false, std::memory_order_relaxed);
  if (!BodyArrived(*framing)) watch_.Mute();
  CallHandler(turn);
  if (turn.exchange.pending && !met_.exchange(true, std::memory_order_acq_rel)) return Next::kLater;
  return FinishTurn(tools) ? Next::kServe : Next::kClose;
}

void WireConnection::Give() noexcept {
  if (met_.exchange(true, std::memory_order_acq_rel)) settings_.backlog->AddAnswer(*this);
}

WireConnection::Next WireConnection::Resume(ServingTools& tools) {
  if (!FinishTurn(tools) || stopping()) return Next::kClose;
  if (PrepareNext()) return Next::kWait;
  if (!buffer_.empty()) head_began_ = std::chrono::steady_clock::now();
  return Next::kServe;
}

bool WireConnection::FinishTurn(ServingTools& tools) {
  if (turn_->exchange.pending) ShowAnswer(*turn_);
  const bool keep = Answer(turn_->exchange, turn_->framing, turn_->body, tools);
  turn_.reset();
  ++facts_.requests_before;
  return keep;
}

void WireConnection::ShowAnswer(Turn& turn) {
  turn.exchange.pending = false;
  for (const auto& look : turn.exchange.when_answered) {
    try {
      look(turn.exchange);
    } catch (...) {
      turn.failed = true;
    }
  }
  if (!turn.failed) return;
  FillErrorResponse(InternalError(), turn.exchange.request_id, turn.exchange.host_id, turn.exchange.response);
}

bool WireConnection::PrepareNext() {
  ForgetRequest();
  buffer_.Unpin();
  scanned_ = 0;
  head_began_ = {};
  // A client that waits for its answer has sent nothing more: the watch on the socket tells as soon as it does, for less
  // than a read that finds nothing. TLS may hold bytes that no watch sees.
  return buffer_.empty() && buffer_.took_all() && !to_the_end_ && !facts_.tls && !stopping();
}

bool WireConnection::BodyArrived(const Framing& framing) const {
  if (framing.body == BodyFraming::kChunked) return false;
  return framing.body == BodyFraming::kUndeclared || framing.length <= buffer_.size();
}

void WireConnection::ForgetRequest() {
  request_.method = {};
  request_.target = {};
  request_.minor_version = api::RequestHead().minor_version;
  request_.headers.clear();  // its memory stays for the next head
}

void WireConnection::CallHandler(Turn& turn) {
  api::Exchange& exchange = turn.exchange;
  try {
    settings_.handler->Handle(exchange);
  } catch (...) {  // out of memory, or a bug behind the seam: this request fails, the server goes on
    turn.failed = exchange.pending;
    if (exchange.pending) return;  // the promise still holds: nothing more may be touched
    FillErrorResponse(InternalError(), exchange.request_id, exchange.host_id, exchange.response);
  }
}

bool WireConnection::Answer(api::Exchange& exchange, const Framing& framing, WireBodyReader& body, ServingTools& tools) {
  api::Response& response = exchange.response;
  bool unread = !body.Drain(kDrainBytes, milliseconds(0));
  bool keep = false;
  if (response.action == api::WireAction::kSend) {
    // A small body that is still arriving is waited for once the answer has left; a larger one costs the connection.
    const bool soon_read = body.drainable() && body.Length() && *body.Length() - body.bytes_read() <= kDrainBytes;
    const bool can_keep = framing.keep_alive && (!unread || soon_read);
    const SendResult sent = Send(exchange, can_keep, tools);
    exchange.bytes_out = sent.body_bytes;
    keep = sent.ok && sent.keep_alive;
  } else if (response.action == api::WireAction::kReset) {
    stream_->Reset();
  }
  exchange.bytes_in = body.bytes_read();
  if (settings_.on_finished) settings_.on_finished(exchange);
  if (keep && unread) {
    unread = !body.Drain(kDrainBytes, kDrainPatience);
    keep = !unread;
  }
  if (!keep && response.action != api::WireAction::kReset) {
    stream_->Linger(unread ? std::min(kLingerPatience, settings_.progress_timeout) : milliseconds(0));
  }
  return keep;
}

SendResult WireConnection::Send(const api::Exchange& exchange, bool can_keep, ServingTools& tools) {
  const api::Response& response = exchange.response;
  ResponseContext context;
  context.head_request = exchange.request.method == "HEAD";
  context.minor_version = exchange.request.minor_version;
  context.keep_alive = can_keep && !AsksToClose(response) && !stopping();
  // The date of the universe that answers: clients that mend their clocks mend them by it.
  const Clock* const clock = exchange.space ? exchange.space->clock : nullptr;
  context.date = tools.dates.At((clock != nullptr ? clock : settings_.clock)->Now());
  context.request_id = exchange.request_id;
  context.host_id = exchange.host_id;
  return tools.writer.Send(*stream_, response, context, settings_.progress_timeout);
}

void WireConnection::Refuse(const Error& error, ServingTools& tools) {
  Framing nothing;
  nothing.keep_alive = false;
  WireBodyReader body(*stream_, buffer_, nothing, settings_.progress_timeout);
  RequestIds ids = settings_.ids->Next();
  api::Exchange exchange{request_, &body, facts_};
  exchange.request_id = std::move(ids.request_id);
  exchange.host_id = std::move(ids.host_id);
  exchange.received = settings_.clock->Now();
  FillErrorResponse(error, exchange.request_id, exchange.host_id, exchange.response);
  Answer(exchange, nothing, body, tools);
  stream_->Linger(std::min(kLingerPatience, settings_.progress_timeout));  // whatever it sent belongs to nothing
}

}  // namespace penstock::emulator::http
