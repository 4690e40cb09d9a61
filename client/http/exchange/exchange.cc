#include "client/http/exchange/exchange.h"

#include <algorithm>
#include <utility>

#include "client/http/connect/connection_error.h"
#include "client/http/exchange/request_rules.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

// Limit of one system call: what fits in the CPU caches.
constexpr std::size_t kSlice = 256 << 10;
// Below this size, a wake-up costs less than the wait.
constexpr std::size_t kLowWater = 256 << 10;
constexpr std::size_t kHeadRoom = 96;  // for headers that the transport adds

// Appends to a head with reserved capacity.
void AddHeader(std::string& head, std::string_view name, std::string_view value) {
  const std::size_t begin = head.size();
  const std::size_t blank = value.empty() ? 0 : 1;
  head.resize(begin + name.size() + blank + value.size() + 3);
  char* to = head.data() + begin;
  to = std::copy(name.begin(), name.end(), to);
  *to++ = ':';
  if (blank != 0) *to++ = ' ';
  to = std::copy(value.begin(), value.end(), to);
  to[0] = '\r';
  to[1] = '\n';
}

}  // namespace

void Exchange::Begin(Transfer& transfer, std::uint64_t expect_from_bytes, std::size_t turn_bytes,
                     const EnvironmentProxy* proxy) {
  transfer_ = &transfer;
  rate_ = transfer.request.connect == nullptr ? nullptr : transfer.request.connect->rate.get();
  turn_bytes_ = turn_bytes;
  transfer.head = HeadParser();
  transfer.begun = false;
  transfer.received = 0;
  transfer.OnRewind();
  piece_ = {};
  sending_ = whole_ = true;
  waits_ = excess_ = cut_ = false;
  cut_reason_.clear();
  malformed_.reset();
  WriteHead(expect_from_bytes, proxy);
}

void Exchange::WriteHead(std::uint64_t expect_from_bytes, const EnvironmentProxy* proxy) {
  const Request& request = transfer_->request;
  head_.clear();
  head_sent_ = 0;
  std::size_t bytes = request.method.size() + request.target.size() + kHeadRoom;
  for (const Header& header : request.headers)
    bytes += header.name.size() + header.value.size() + 4;
  head_.reserve(bytes);
  head_.append(request.method).append(" ");
  if (proxy != nullptr)
    head_.append(request.endpoint.scheme).append("://").append(HostHeader(request.endpoint));
  head_.append(request.target).append(" HTTP/1.1\r\n");
  AddHeader(head_, "Host", *FindHeader(request.headers, "Host"));
  bool has_expect = false;
  for (const Header& header : request.headers) {
    if (EqualsIgnoringCase(header.name, "Host")) continue;
    has_expect = has_expect || EqualsIgnoringCase(header.name, "Expect");
    AddHeader(head_, header.name, header.value);
  }
  const std::uint64_t size = UploadSize(transfer_->request_body);
  if (Uploads(request, transfer_->request_body))
    AddHeader(head_, "Content-Length", std::to_string(size));
  const bool expects = !has_expect && size != 0 && size >= expect_from_bytes;
  if (expects) AddHeader(head_, "Expect", "100-continue");
  if (proxy != nullptr && !proxy->authorization.empty())
    AddHeader(head_, "Proxy-Authorization", proxy->authorization);
  head_.append("\r\n");
  waits_ = expects;
  framer_.Reset(request.method == "HEAD", expects);
}

std::size_t Exchange::Slice() const {
  return rate_ == nullptr ? kSlice : std::min(kSlice, rate_->slice());
}

bool Exchange::Pauses(ByteRate::Direction direction) {
  if (rate_ == nullptr) return false;
  paused_direction_ = direction;
  paused_until_ = rate_->ReadyAt(direction);
  return paused_until_ > SystemClock().Monotonic();
}

void Exchange::Count(ByteRate::Direction direction, std::size_t bytes) {
  if (rate_ != nullptr && bytes != 0) rate_->Add(direction, bytes, SystemClock().Monotonic());
}

Exchange::Step Exchange::Send(ConnectedSocket& socket) {
  bool sending_more = head_sent_ != 0;
  for (std::size_t turn = 0; sending_;) {
    const ByteView head = AsBytes(head_).subspan(head_sent_);
    if (head.empty() && waits_) return Step::kReceive;
    if (piece_.empty() && !waits_) {
      const std::optional<ByteView> next = transfer_->NextPiece(Slice());
      if (!next) return Step::kFailed;
      piece_ = *next;
    }
    if (head.empty() && piece_.empty()) {
      sending_ = false;
      break;
    }
    if (turn >= turn_bytes_) return Step::kAgain;
    const bool pauses = !piece_.empty() && Pauses(ByteRate::Direction::kSend);
    if (pauses && head.empty()) return Step::kPaused;
    const IoResult sent = socket.Send(head, pauses ? ByteView() : piece_);
    if (sent.kind == IoResult::Kind::kWouldBlock) return Step::kSend;
    if (!sent.moved()) {
      // The server may have sent a response before it closed the connection. Receive it.
      sending_ = whole_ = false;
      cut_reason_ = sent.reason;
      break;
    }
    turn += sent.count;
    if (sending_more) transfer_->Touch();  // the first piece is sent when the transfer starts
    sending_more = true;
    const std::size_t of_head = std::min(sent.count, head.size());
    head_sent_ += of_head;
    piece_ = piece_.subspan(sent.count - of_head);
    Count(ByteRate::Direction::kSend, sent.count - of_head);
  }
  return Step::kReceive;
}

Exchange::Step Exchange::Receive(ConnectedSocket& socket, MutableByteView scratch) {
  for (std::size_t turn = 0; turn < turn_bytes_;) {
    // Small bodies arrive with their head, so all reads wait for the rate.
    if (Pauses(ByteRate::Direction::kReceive)) return Step::kPaused;
    MutableByteView into = scratch;
    const std::uint64_t body_before = transfer_->received;
    const std::uint64_t direct = framer_.direct_bytes();
    if (direct != 0) {
      into = transfer_->NextWindow();
      if (into.empty()) return Step::kFailed;
      into = into.first(
          static_cast<std::size_t>(std::min<std::uint64_t>({into.size(), direct, Slice()})));
      SetLowWater(socket);
    }
    const IoResult got = socket.Receive(into);
    if (got.kind == IoResult::Kind::kWouldBlock)
      return sending_ && !waits_ ? Step::kSend : Step::kReceive;
    if (got.kind == IoResult::Kind::kClosed && framer_.OnClosed()) return Step::kDone;
    if (!got.moved()) return Cut(got.reason);
    turn += got.count;
    transfer_->OnArrival();
    if (direct != 0) {
      if (Result<void> result = framer_.Received(*transfer_, got.count); !result.ok())
        return Step::kFailed;
    } else if (const Step step = Consume(into.first(got.count)); step != Step::kReceive) {
      return step;
    }
    Count(ByteRate::Direction::kReceive, transfer_->received - body_before);
    if (framer_.done()) return Step::kDone;
    if (sending_ && framer_.has_final_head()) OnEarlyResponse();
    if (waits_ && framer_.continues()) {
      waits_ = false;
      const Step step = Send(socket);
      // Bytes that followed may be buffered inside TLS.
      return socket.buffers() && step != Step::kFailed ? Step::kAgain : step;
    }
    // Fewer bytes than requested: the socket is empty, and epoll reports the next bytes.
    if (got.count < into.size() && !socket.buffers())
      return sending_ && !waits_ ? Step::kSend : Step::kReceive;
  }
  return Step::kAgain;
}

void Exchange::OnEarlyResponse() {
  if (transfer_->head.head().status < 300 && !waits_) return;  // the server accepts the body anyway
  sending_ = waits_ = whole_ = false;
}

Exchange::Step Exchange::Consume(ByteView bytes) {
  Result<std::size_t> taken = framer_.Feed(*transfer_, bytes);
  if (!taken.ok()) {
    if (!transfer_->error) malformed_ = std::move(taken).error();
    return Step::kFailed;
  }
  excess_ = *taken < bytes.size();
  return Step::kReceive;
}

Exchange::Step Exchange::Cut(std::string reason) {
  cut_ = true;
  if (cut_reason_.empty()) cut_reason_ = std::move(reason);
  return Step::kFailed;
}

void Exchange::SetLowWater(ConnectedSocket& socket) const {
  const std::uint64_t left = framer_.direct_bytes();
  // If the body ends with the connection, the number of remaining bytes is unknown.
  const bool plenty =
      left > 2 * kLowWater && transfer_->head.head().Find("Content-Length").has_value();
  socket.SetLowWater(plenty ? kLowWater : 1);
}

bool Exchange::keeps_connection() const {
  return framer_.keeps_connection() && !sending_ && whole_ && !excess_;
}

bool Exchange::may_repeat() const {
  if (!cut_ || framer_.has_bytes()) return false;
  const std::string& method = transfer_->request.method;
  return sending_ || !whole_ || method == "GET" || method == "HEAD";
}

Outcome Exchange::TakeOutcome() {
  Outcome outcome;
  outcome.body_bytes = transfer_->received;
  outcome.sent_bytes = transfer_->sent - piece_.size();
  outcome.first_byte = transfer_->first_byte - transfer_->started;
  outcome.head = transfer_->head.Take();
  return outcome;
}

Error Exchange::error() const {
  if (transfer_->error) return *transfer_->error;
  if (malformed_) return *malformed_;
  return LostConnectionError(
      transfer_->request,
      {.detail = cut_reason_.empty() ? std::string_view("closed by the peer") : cut_reason_,
       .head_received = framer_.has_final_head(),
       .received_bytes = transfer_->received,
       .expected_bytes = ContentLength(transfer_->head.head()),
       .sent_bytes = transfer_->sent - piece_.size()});
}

}  // namespace penstock::http
