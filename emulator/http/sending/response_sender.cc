#include "emulator/http/sending/response_sender.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

namespace penstock::emulator::http {
namespace {

// Parts of a body up to these sizes are copied after the head, because one write of one buffer
// costs less than one of two. Larger ones in files are sent with sendfile.
constexpr std::uint64_t kJoinMemoryBytes = 4 << 10;
constexpr std::uint64_t kJoinFileBytes = 32 << 10;
// How long an RST waits for the peer to acknowledge earlier bytes, and how often it checks.
constexpr std::chrono::milliseconds kResetTimeout{1'000};
constexpr std::chrono::milliseconds kResetCheckInterval{1};
constexpr std::chrono::milliseconds kNoWait{0};

using Place = message::DeliveryStep::Place;
using Kind = message::DeliveryStep::Kind;

void AppendChunkHeader(std::string& out, std::uint64_t size) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  out.append(digits.data(), end).append("\r\n");
}

bool ReadFile(int file, std::uint64_t offset, MutableByteView into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

// Concatenates the pieces and the part in `memory`, which becomes the only piece. Returns false
// if the file cannot be read.
bool ResponseSender::Join(const BodyPart& part, std::array<ByteView, 3>& pieces,
                          std::vector<std::byte>& memory) {
  const std::size_t size = pieces[0].size() + part.size + pieces[2].size();
  if (memory.size() < size) memory.resize(size);
  auto end = std::copy(pieces[0].begin(), pieces[0].end(), memory.begin());
  if (part.file < 0) {
    end = std::copy(pieces[1].begin(), pieces[1].end(), end);
  } else {
    if (!ReadFile(part.file, part.offset, MutableByteView(&*end, part.size))) return false;
    end += static_cast<std::ptrdiff_t>(part.size);
  }
  std::copy(pieces[2].begin(), pieces[2].end(), end);
  pieces = {ByteView(memory).first(size), {}, {}};
  return true;
}

ResponseSender::ResponseSender(const message::Response& response, ResponseContext context,
                               SendBuffers& buffers)
    : response_(response), head_(std::move(buffers.head)) {
  const ResponsePlan plan = PlanResponse(response, context);
  if (plan.length_is_wrong || plan.framing == ResponseFraming::kClose) context.keep_alive = false;
  keep_alive_ = context.keep_alive;
  head_.clear();
  AppendHead(response, plan, context, head_);
  const std::uint64_t head_bytes = head_.size();
  if (plan.send_body) stream_ = response.stream.get();
  if (plan.send_body && stream_ == nullptr) body_bytes_ = message::BodySize(response);
  chunked_ = plan.framing == ResponseFraming::kChunked;
  if (stream_ == nullptr && plan.send_body && chunked_) {
    if (body_bytes_ > 0) AppendChunkHeader(head_, body_bytes_);
    tail_ = body_bytes_ > 0 ? "\r\n0\r\n\r\n" : "0\r\n\r\n";
  }
  body_begin_ = head_.size();
  if (response.delivery && stream_ == nullptr) ComputeStops(head_bytes);
}

void ResponseSender::ComputeStops(std::uint64_t head_bytes) {
  for (const message::DeliveryStep& step : response_.delivery->steps) {
    switch (step.place) {
      case Place::kHead: stops_.push_back({0, &step}); break;
      case Place::kBody:
        if (step.offset == 0) stops_.push_back({head_bytes, &step});
        if (step.offset > 0 && step.offset <= body_bytes_)
          stops_.push_back({body_begin_ + step.offset, &step});
        break;
      case Place::kTrailer: stops_.push_back({body_end(), &step}); break;
      case Place::kEnd: stops_.push_back({end(), &step}); break;
    }
  }
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const Stop& a, const Stop& b) { return a.at < b.at; });
}

ResponseSender::State ResponseSender::Resume(Stream& stream, SendBuffers& buffers,
                                             MonotonicTime now, const BeforeEnd& before_end) {
  for (;;) {
    if (ended_ != State::kWait) return ended_;
    if (next_stop_ < stops_.size() && stops_[next_stop_].at == at_) {
      const State state = RunStep(*stops_[next_stop_].step, stream, now);
      if (state != State::kDone) return state;
      ++next_stop_;
      continue;
    }
    if (at_ == end() && stream_ != nullptr) {
      if (!BeginStreamPiece(now)) return State::kWait;
      continue;
    }
    if (at_ == end()) {
      buffers.head = std::move(head_);
      return ended_ = State::kDone;
    }
    std::uint64_t until = next_stop_ < stops_.size() ? stops_[next_stop_].at : end();
    if (response_.delivery && !LimitToPiece(now, until)) return State::kWait;
    const IoResult sent = Send(stream, buffers, until, before_end);
    at_ += sent.bytes;
    if (sent.status == IoStatus::kWouldBlock) return State::kSocketFull;
    if (sent.status != IoStatus::kOk) return ended_ = State::kBroken;
  }
}

bool ResponseSender::EndPause() {
  if (EndStream()) return true;
  if (waiting_) wait_until_ = {};
  return waiting_;
}

bool ResponseSender::EndStream() {
  if (stream_ == nullptr) return false;
  stream_ended_ = true;
  return true;
}

bool ResponseSender::BeginStreamPiece(MonotonicTime now) {
  if (now < wait_until_ && !stream_ended_) return false;
  const std::optional<std::string> piece = stream_ended_ ? std::nullopt : stream_->Next();
  const auto interval = stream_->interval();
  // A late piece delays the later ones; they do not come more often to catch up.
  wait_until_ = (now - wait_until_ < interval ? wait_until_ : now) + interval;
  at_ = 0;
  head_.clear();
  if (piece) {
    if (chunked_) AppendChunkHeader(head_, piece->size());
    head_ += *piece;
    if (chunked_) head_ += "\r\n";
    streamed_ += piece->size();
  } else {
    stream_ = nullptr;
    if (chunked_) head_ = "0\r\n\r\n";
  }
  body_begin_ = head_.size();
  return true;
}

bool ResponseSender::LimitToPiece(MonotonicTime now, std::uint64_t& until) {
  const std::uint64_t piece = response_.delivery->piece;
  if (piece == 0 || at_ >= body_end()) return true;
  if (at_ < body_begin_) {  // The head does not wait.
    until = std::min(until, body_begin_);
    return true;
  }
  if (piece_end_ == 0 || at_ == piece_end_) {
    if (!std::exchange(waiting_, true)) wait_until_ = NextPieceTime(now);
    if (now < wait_until_) return false;
    waiting_ = false;
    piece_end_ = at_ + piece;
  }
  until = std::min(until, piece_end_);
  return true;
}

MonotonicTime ResponseSender::NextPieceTime(MonotonicTime now) const {
  const message::Delivery& delivery = *response_.delivery;
  // The first piece waits only for `pace`.
  const MonotonicTime interval_end = piece_end_ == 0 ? now : now + delivery.piece_every;
  return delivery.pace ? std::max(interval_end,
                                  delivery.pace(std::min(delivery.piece, body_end() - at_), now))
                       : interval_end;
}

// An RST discards what the peer's kernel has not acknowledged. The peer would then see a varying
// part of the sent bytes.
bool ResponseSender::MayReset(const Stream& stream, MonotonicTime now) {
  if (stream.UnacknowledgedBytes() == 0) return true;
  if (reset_by_ == MonotonicTime{}) reset_by_ = now + kResetTimeout;
  wait_until_ = std::min(now + kResetCheckInterval, reset_by_);
  return now >= reset_by_;
}

// kDone: the response continues after the step.
ResponseSender::State ResponseSender::RunStep(const message::DeliveryStep& step,
                                              const Stream& stream, MonotonicTime now) {
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

Result<ResponseSender::BodyPart> ResponseSender::NextPart(std::uint64_t begin, std::uint64_t end) {
  if (const auto* const text = std::get_if<std::string>(&response_.body))
    return BodyPart{.size = end - begin, .memory = AsBytes(*text).subspan(begin, end - begin)};
  const std::vector<ContentSlice>& slices = std::get<Content>(response_.body).slices;
  while (begin - slice_begin_ >= slices[slice_].range.size())
    slice_begin_ += slices[slice_++].range.size();
  const ContentSlice& slice = slices[slice_];
  const std::uint64_t offset = slice.range.begin + (begin - slice_begin_);
  const std::uint64_t last = std::min(slice.range.end, offset + (end - begin));
  BodyPart part{.offset = offset};
  PENSTOCK_ASSIGN(part.size, slice.blob->Checked({offset, last}));
  if (const std::optional<ByteView> memory = slice.blob->Memory()) {
    part.memory = memory->subspan(offset, part.size);
  } else {
    part.file = slice.blob->FileDescriptor();
  }
  return part;
}

IoResult ResponseSender::Send(Stream& stream, SendBuffers& buffers, std::uint64_t until,
                              const BeforeEnd& before_end) {
  const std::uint64_t limit = until;
  if (until == end() && until - at_ > kWholeBytes) until -= kEndBytes;
  std::array<ByteView, 3> pieces;  // of the head, the body and the tail
  std::uint64_t reach = at_;
  if (at_ < body_begin_) {
    reach = std::min(until, body_begin_);
    pieces[0] = AsBytes(head_).subspan(at_, reach - at_);
  }
  BodyPart part;
  if (const std::uint64_t last = std::min(until, body_end());
      reach >= body_begin_ && reach < last) {
    Result<BodyPart> next = NextPart(reach - body_begin_, last - body_begin_);
    if (!next.ok()) {
      damage_ = next.error().message;
      return {IoStatus::kBroken, 0};
    }
    part = *next;
    pieces[1] = part.memory;
    reach += part.size;
  }
  const bool is_end_of_file = pieces[0].empty() && reach == end();
  const bool sends_file = part.file >= 0 && (part.size > kJoinFileBytes || is_end_of_file);
  if (reach >= body_end() && !sends_file) {
    pieces[2] = AsBytes(tail_).subspan(reach - body_end(), until - reach);
    reach = until;
  }
  if (reach == end() && stream_ == nullptr && before_end) before_end(body_bytes_ + streamed_);
  if (sends_file) {
    IoResult sent;
    if (!pieces[0].empty()) sent = stream.Write({pieces.data(), 1}, More::kYes, kNoWait);
    if (sent.status != IoStatus::kOk) return sent;
    const IoResult body = stream.SendFile(part.file, part.offset, part.size);
    return {body.status, sent.bytes + body.bytes};
  }
  const bool joins =
      part.file >= 0 || (!pieces[0].empty() && part.size > 0 && part.size <= kJoinMemoryBytes);
  if (joins && !Join(part, pieces, buffers.joined)) return {IoStatus::kBroken, 0};
  return stream.Write(pieces, reach == limit ? More::kNo : More::kYes, kNoWait);
}

SendResult ResponseSender::result() const {
  SendResult result;
  result.ok = at_ == end() && stream_ == nullptr && ended_ != State::kReset;
  result.damage = damage_;
  result.keep_alive = keep_alive_ && ended_ == State::kDone;
  result.body_bytes = std::clamp(at_, body_begin_, body_end()) - body_begin_ + streamed_;
  return result;
}

}  // namespace penstock::emulator::http
