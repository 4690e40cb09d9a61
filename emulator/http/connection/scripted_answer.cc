#include "emulator/http/connection/scripted_answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace penstock::emulator::http {
namespace {

// How long an RST waits for the peer to acknowledge earlier bytes, and how often it checks.
constexpr std::chrono::milliseconds kResetTimeout{1'000};
constexpr std::chrono::milliseconds kResetCheckInterval{1};

using Place = message::DeliveryStep::Place;
using Kind = message::DeliveryStep::Kind;

std::string Hex(std::uint64_t value) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

ScriptedAnswer::ScriptedAnswer(const message::Response& response, ResponseContext context)
    : response_(response) {
  const ResponsePlan plan = PlanResponse(response, context);
  if (plan.length_lies) context.keep_alive = false;
  keep_alive_ = context.keep_alive;
  AppendHead(response, plan, context, head_);
  head_bytes_ = head_.size();
  if (plan.send_body) body_bytes_ = message::BodySize(response);
  if (plan.send_body && plan.framing == ResponseFraming::kChunked) {
    if (body_bytes_ > 0) head_ += Hex(body_bytes_) + "\r\n";
    tail_ = body_bytes_ > 0 ? "\r\n0\r\n\r\n" : "0\r\n\r\n";
  }
  PlaceSteps();
}

void ScriptedAnswer::PlaceSteps() {
  for (const message::DeliveryStep& step : response_.delivery->steps) {
    switch (step.place) {
      case Place::kHead: stops_.push_back({0, &step}); break;
      case Place::kBody:
        if (step.offset == 0) stops_.push_back({head_bytes_, &step});
        if (step.offset > 0 && step.offset <= body_bytes_)
          stops_.push_back({body_begin() + step.offset, &step});
        break;
      case Place::kTrailer: stops_.push_back({body_end(), &step}); break;
      case Place::kEnd: stops_.push_back({end(), &step}); break;
    }
  }
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const Stop& a, const Stop& b) { return a.at < b.at; });
}

ScriptedAnswer::State ScriptedAnswer::Go(Stream& stream, MonotonicTime now,
                                         const BeforeEnd& before_end) {
  const message::Delivery& delivery = *response_.delivery;
  for (;;) {
    if (ended_ != State::kWait) return ended_;
    if (next_stop_ < stops_.size() && stops_[next_stop_].at == at_) {
      const State state = Pass(*stops_[next_stop_].step, stream, now);
      if (state != State::kDone) return state;
      ++next_stop_;
      continue;
    }
    if (at_ == end()) return ended_ = State::kDone;
    std::uint64_t until = next_stop_ < stops_.size() ? stops_[next_stop_].at : end();
    const bool in_body = at_ >= body_begin() && at_ < body_end();
    if (delivery.piece > 0 && in_body) {
      if (piece_end_ == 0 || at_ == piece_end_) {
        if (!std::exchange(waiting_, true)) wait_until_ = NextPieceTime(now);
        if (now < wait_until_) return State::kWait;
        waiting_ = false;
        piece_end_ = at_ + delivery.piece;
      }
      until = std::min(until, piece_end_);
    } else if (delivery.piece > 0 && at_ < body_begin()) {
      until = std::min(until, body_begin());
    }
    if (until == end() && end() - at_ > kWholeBytes) {
      until -= kEndBytes;
    } else if (until == end() && before_end && EndIsNext()) {
      before_end(body_bytes_);
    }
    const IoResult sent = Send(stream, until);
    at_ += sent.bytes;
    if (sent.status == IoStatus::kWouldBlock) return State::kRoom;
    if (sent.status != IoStatus::kOk) return ended_ = State::kBroken;
  }
}

bool ScriptedAnswer::EndPause() {
  if (waiting_) wait_until_ = {};
  return waiting_;
}

bool ScriptedAnswer::EndIsNext() const {
  if (at_ < body_begin()) return body_begin() == end();
  return at_ >= body_end() || tail_.empty();
}

MonotonicTime ScriptedAnswer::NextPieceTime(MonotonicTime now) const {
  const message::Delivery& delivery = *response_.delivery;
  // The first piece waits only for `pace`.
  const MonotonicTime dripped = piece_end_ == 0 ? now : now + delivery.piece_every;
  return delivery.pace
             ? std::max(dripped, delivery.pace(std::min(delivery.piece, body_end() - at_), now))
             : dripped;
}

// An RST discards what the peer's kernel has not acknowledged. The peer would then see a varying
// part of the sent bytes.
bool ScriptedAnswer::MayReset(const Stream& stream, MonotonicTime now) {
  if (stream.UnacknowledgedBytes() == 0) return true;
  if (reset_by_ == MonotonicTime{}) reset_by_ = now + kResetTimeout;
  wait_until_ = std::min(now + kResetCheckInterval, reset_by_);
  return now >= reset_by_;
}

// kDone: the response continues after the step.
ScriptedAnswer::State ScriptedAnswer::Pass(const message::DeliveryStep& step, const Stream& stream,
                                           MonotonicTime now) {
  if (step.kind == Kind::kReset && !MayReset(stream, now)) return State::kWait;
  if (step.kind == Kind::kWait) {
    if (!std::exchange(waiting_, true)) wait_until_ = now + step.wait;
    if (now < wait_until_) return State::kWait;
    waiting_ = false;
  }
  if (step.done) step.done();
  switch (step.kind) {
    case Kind::kWait: return State::kDone;
    case Kind::kReset: return ended_ = State::kReset;
    case Kind::kFin: return ended_ = State::kFin;
    case Kind::kHalfClose: wait_until_ = now + step.wait; return ended_ = State::kHalfClose;
  }
  return State::kDone;
}

// Uses More::kNo because a pause may follow.
IoResult ScriptedAnswer::Send(Stream& stream, std::uint64_t until) {
  if (at_ < body_begin()) {
    const ByteView piece = AsBytes(head_).subspan(at_, std::min(until, body_begin()) - at_);
    return stream.Write({&piece, 1}, More::kNo, std::chrono::milliseconds(0));
  }
  if (at_ < body_end())
    return SendBody(stream, at_ - body_begin(), std::min(until, body_end()) - body_begin());
  const ByteView piece = AsBytes(tail_).subspan(at_ - body_end(), until - at_);
  return stream.Write({&piece, 1}, More::kNo, std::chrono::milliseconds(0));
}

IoResult ScriptedAnswer::SendBody(Stream& stream, std::uint64_t begin, std::uint64_t body_end_at) {
  constexpr std::chrono::milliseconds kNow{0};
  if (const auto* text = std::get_if<std::string>(&response_.body)) {
    const ByteView piece = AsBytes(*text).subspan(begin, body_end_at - begin);
    return stream.Write({&piece, 1}, More::kNo, kNow);
  }
  const auto& content = std::get<Content>(response_.body);
  std::uint64_t slice_begin = 0;
  for (const ContentSlice& slice : content.slices) {
    const std::uint64_t slice_end = slice_begin + slice.range.size();
    if (begin < slice_end) {
      const std::uint64_t offset = slice.range.begin + (begin - slice_begin);
      const std::uint64_t wanted = std::min(body_end_at, slice_end) - begin;
      const Result<std::uint64_t> checked = slice.blob->Checked({offset, offset + wanted});
      if (!checked.ok()) {
        damage_ = checked.error().message;
        return {IoStatus::kBroken, 0};
      }
      const std::uint64_t count = *checked;
      if (const std::optional<ByteView> memory = slice.blob->Memory()) {
        const ByteView piece = memory->subspan(offset, count);
        return stream.Write({&piece, 1}, More::kNo, kNow);
      }
      return stream.SendFile(slice.blob->FileDescriptor(), offset, count, kNow);
    }
    slice_begin = slice_end;
  }
  return {IoStatus::kBroken, 0};
}

SendResult ScriptedAnswer::result() const {
  SendResult result;
  result.ok = at_ == end() && ended_ != State::kReset;
  result.damage = damage_;
  result.keep_alive = keep_alive_ && ended_ == State::kDone;
  result.body_bytes = std::clamp(at_, body_begin(), body_end()) - body_begin();
  return result;
}

}  // namespace penstock::emulator::http
