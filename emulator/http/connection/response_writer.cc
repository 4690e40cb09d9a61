#include "emulator/http/connection/response_writer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/dates.h"
#include "emulator/http/connection/head_parser.h"

namespace penstock::emulator::http {
namespace {

// File slices up to this size are read and sent together with the head. Larger ones are sent with
// sendfile.
constexpr std::uint64_t kCopyFileBytes = 32 << 10;
// A body in memory up to this size is copied after the head: one piece costs the kernel less than
// two.
constexpr std::uint64_t kJoinBytes = 4 << 10;

constexpr std::size_t kMaxEndPieces = 3;

struct StatusText {
  int status;
  std::string_view reason;
};
constexpr std::array<StatusText, 33> kReasons = {{
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {416, "Requested Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
}};

// Space for the status line and the headers that the server may add, without their values.
constexpr std::size_t kFixedHeadBytes = 256;

void AppendHex(std::string& out, std::uint64_t value) {
  std::array<char, 24> digits;
  const std::to_chars_result end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  out.append(digits.data(), end.ptr);
}

bool BreaksLine(char c) { return c == '\r' || c == '\n' || c == '\0'; }

// Tests eight bytes at a time, and the rest byte by byte.
bool HasControl(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t found = 0;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    found |= (word - kOnes * 0x20) & ~word & (kOnes * 0x80);
  }
  for (; at < text.size(); ++at) found |= static_cast<unsigned char>(text[at]) < 0x20;
  return found != 0;
}

// Writes a head into memory that is large enough.
class HeadText {
 public:
  explicit HeadText(char* to) : to_(to) {}
  char* end() const { return to_; }

  void Raw(std::string_view text) { to_ += text.copy(to_, text.size()); }
  void Clean(std::string_view text) {
    Raw(text);
    if (HasControl(text)) std::replace_if(to_ - text.size(), to_, BreaksLine, ' ');
  }
  void Number(std::uint64_t value) { to_ = std::to_chars(to_, to_ + kMaxDigits, value).ptr; }
  void Header(std::string_view name, std::string_view value) {
    Clean(name);
    Raw(": ");
    Clean(value);
    Raw("\r\n");
  }

  static constexpr std::size_t kMaxDigits = 20;

 private:
  char* to_;
};

// Headers with a meaning for the server, as set by the handler.
enum class KnownHeader : unsigned {
  kOther = 0,
  kDate = 1,
  kServer = 2,
  kRequestId = 4,
  kHostId = 8,
  kFraming = 16
};

KnownHeader Classify(std::string_view name) {
  switch (name.size()) {
    case 4: return EqualsIgnoreCase(name, "date") ? KnownHeader::kDate : KnownHeader::kOther;
    case 6: return EqualsIgnoreCase(name, "server") ? KnownHeader::kServer : KnownHeader::kOther;
    case 10:
      if (EqualsIgnoreCase(name, "connection")) return KnownHeader::kFraming;
      return EqualsIgnoreCase(name, "x-amz-id-2") ? KnownHeader::kHostId : KnownHeader::kOther;
    case 14:
      return EqualsIgnoreCase(name, "content-length") ? KnownHeader::kFraming : KnownHeader::kOther;
    case 16:
      return EqualsIgnoreCase(name, "x-amz-request-id") ? KnownHeader::kRequestId
                                                        : KnownHeader::kOther;
    case 17:
      return EqualsIgnoreCase(name, "transfer-encoding") ? KnownHeader::kFraming
                                                         : KnownHeader::kOther;
    default: return KnownHeader::kOther;
  }
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

std::string_view StandardReason(int status) {
  for (const StatusText& entry : kReasons) {
    if (entry.status == status) return entry.reason;
  }
  return "Unknown";
}

ResponsePlan PlanResponse(const message::Response& response, const ResponseContext& context) {
  ResponsePlan plan;
  if (response.status < 200 || response.status == 204 || response.status == 304) {
    plan.framing = ResponseFraming::kNone;
    plan.send_body = false;
    return plan;
  }
  plan.send_body = !context.head_request;
  if (response.chunked && context.minor_version > 0) {
    plan.framing = ResponseFraming::kChunked;
    return plan;
  }
  const std::uint64_t size = message::BodySize(response);
  plan.announced_bytes = response.content_length.value_or(size);
  plan.length_lies = plan.send_body && plan.announced_bytes != size;
  return plan;
}

void AppendHead(const message::Response& response, const ResponsePlan& plan,
                const ResponseContext& context, std::string& out) {
  const std::string_view reason =
      response.reason.empty() ? StandardReason(response.status) : std::string_view(response.reason);
  unsigned given = 0;
  std::size_t room = kFixedHeadBytes + reason.size() + context.host_id.size() +
                     context.request_id.size() + context.date.size();
  for (const auto& [name, value] : response.headers) {
    given |= static_cast<unsigned>(Classify(name));
    room += name.size() + value.size() + std::string_view(": \r\n").size();
  }
  if (response.delivery) {
    for (const std::string& name : response.delivery->without)
      given |= static_cast<unsigned>(Classify(name));
  }
  const auto missing = [given](KnownHeader header) {
    return (given & static_cast<unsigned>(header)) == 0;
  };

  const std::size_t begin = out.size();
  out.resize(begin + room);
  HeadText head(out.data() + begin);
  head.Raw("HTTP/1.1 ");
  head.Number(static_cast<std::uint64_t>(std::clamp(response.status, 100, 999)));
  head.Raw(" ");
  head.Clean(reason);
  head.Raw("\r\n");
  if (missing(KnownHeader::kHostId)) head.Header("x-amz-id-2", context.host_id);
  if (missing(KnownHeader::kRequestId)) head.Header("x-amz-request-id", context.request_id);
  if (missing(KnownHeader::kDate)) head.Header("Date", context.date);
  for (const auto& [name, value] : response.headers) {
    if (missing(KnownHeader::kFraming) || Classify(name) != KnownHeader::kFraming)
      head.Header(name, value);
  }
  if (missing(KnownHeader::kServer)) head.Raw("Server: AmazonS3\r\n");
  if (plan.framing == ResponseFraming::kLength) {
    head.Raw("Content-Length: ");
    head.Number(plan.announced_bytes);
    head.Raw("\r\n");
  }
  if (plan.framing == ResponseFraming::kChunked) head.Raw("Transfer-Encoding: chunked\r\n");
  if (!context.keep_alive) {
    head.Raw("Connection: close\r\n");
  } else if (context.minor_version == 0) {
    head.Raw("Connection: keep-alive\r\n");
  }
  head.Raw("\r\n");
  out.resize(static_cast<std::size_t>(head.end() - out.data()));
}

SendResult ResponseWriter::Send(Stream& stream, const message::Response& response,
                                ResponseContext context, std::chrono::milliseconds timeout,
                                const BeforeEnd& before_end) {
  before_end_ = &before_end;
  const ResponsePlan plan = PlanResponse(response, context);
  if (plan.length_lies) context.keep_alive = false;
  std::string text = std::move(unsent_.text);  // reuses its memory
  text.clear();
  AppendHead(response, plan, context, text);
  unsent_ =
      UnsentResponse{.text = std::move(text), .chunked = plan.framing == ResponseFraming::kChunked};
  unsent_.so_far.keep_alive = context.keep_alive;
  if (plan.send_body) unsent_.body_bytes = message::BodySize(response);
  const auto* const content = plan.send_body ? std::get_if<Content>(&response.body) : nullptr;
  if (content != nullptr) {
    unsent_.behind_slice = unsent_.body_bytes;
    BeginSlice(*content);
    return SendContent(stream, *content, timeout);
  }
  if (!plan.send_body) unsent_.chunked = false;
  const auto* const body = plan.send_body ? std::get_if<std::string>(&response.body) : nullptr;
  return SendText(stream, body != nullptr ? std::string_view(*body) : std::string_view(), timeout);
}

SendResult ResponseWriter::Continue(Stream& stream, const message::Response& response,
                                    UnsentResponse unsent, std::chrono::milliseconds timeout,
                                    const BeforeEnd& before_end) {
  before_end_ = &before_end;
  unsent_ = std::move(unsent);
  if (const auto* content = std::get_if<Content>(&response.body);
      content != nullptr && unsent_.body_end == 0) {
    return SendContent(stream, *content, timeout);
  }
  const auto* const body =
      unsent_.body_end > unsent_.body_begin ? std::get_if<std::string>(&response.body) : nullptr;
  return ContinueText(stream, body != nullptr ? std::string_view(*body) : std::string_view(),
                      timeout);
}

void ResponseWriter::ReportEnd() const {
  if (*before_end_) (*before_end_)(unsent_.body_bytes);
}

IoResult ResponseWriter::WriteEnd(Stream& stream, std::span<const ByteView> pieces,
                                  std::chrono::milliseconds timeout) {
  std::uint64_t size = 0;
  for (const ByteView piece : pieces) size += piece.size();
  if (size <= kWholeBytes) {
    ReportEnd();
    return stream.Write(pieces, More::kNo, timeout);
  }
  std::array<ByteView, kMaxEndPieces> front;
  std::array<ByteView, kMaxEndPieces> end;
  std::uint64_t in_front = size - kEndBytes;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t bytes = std::min<std::uint64_t>(in_front, pieces[i].size());
    front[i] = pieces[i].first(bytes);
    end[i] = pieces[i].subspan(bytes);
    in_front -= bytes;
  }
  const IoResult sent = stream.Write({front.data(), pieces.size()}, More::kYes, timeout);
  if (sent.status != IoStatus::kOk) return sent;
  ReportEnd();
  const IoResult rest = stream.Write({end.data(), pieces.size()}, More::kNo, timeout);
  return {rest.status, sent.bytes + rest.bytes};
}

IoResult ResponseWriter::WritePieces(Stream& stream, std::span<const ByteView> pieces, More more,
                                     std::chrono::milliseconds timeout) {
  return more == More::kNo ? WriteEnd(stream, pieces, timeout)
                           : stream.Write(pieces, more, timeout);
}

IoResult ResponseWriter::SendFileEnd(Stream& stream, int file, std::uint64_t begin,
                                     std::uint64_t size, std::chrono::milliseconds timeout) {
  const std::uint64_t in_front = size - std::min(size, kEndBytes);
  const IoResult sent = stream.SendFile(file, begin, in_front, timeout);
  if (sent.status != IoStatus::kOk) return sent;
  ReportEnd();
  const IoResult rest = stream.SendFile(file, begin + in_front, size - in_front, timeout);
  return {rest.status, sent.bytes + rest.bytes};
}

SendResult ResponseWriter::Outcome(IoStatus status) {
  SendResult result = unsent_.so_far;
  result.body_bytes +=
      std::clamp(unsent_.text_at, unsent_.body_begin, unsent_.body_end) - unsent_.body_begin;
  result.ok = status == IoStatus::kOk;
  result.blocked = status == IoStatus::kWouldBlock;
  return result;
}

SendResult ResponseWriter::SendText(Stream& stream, std::string_view body,
                                    std::chrono::milliseconds timeout) {
  std::string& text = unsent_.text;
  if (unsent_.chunked) {
    unsent_.end = body.empty() ? "0\r\n\r\n" : "\r\n0\r\n\r\n";
    if (!body.empty()) {
      AppendHex(text, body.size());
      text.append("\r\n");
    }
  }
  unsent_.body_begin = text.size();
  unsent_.body_end = text.size() + body.size();
  return ContinueText(stream, body, timeout);
}

SendResult ResponseWriter::ContinueText(Stream& stream, std::string_view body,
                                        std::chrono::milliseconds timeout) {
  std::array<ByteView, 3> pieces = {AsBytes(unsent_.text), AsBytes(body), AsBytes(unsent_.end)};
  std::size_t has_left = unsent_.text_at;
  for (ByteView& piece : pieces) {
    const std::size_t bytes = std::min(has_left, piece.size());
    piece = piece.subspan(bytes);
    has_left -= bytes;
  }
  const IoResult sent = WriteEnd(stream, pieces, timeout);
  unsent_.text_at += sent.bytes;
  return Outcome(sent.status);
}

void ResponseWriter::BeginSlice(const Content& content) {
  const std::vector<ContentSlice>& slices = content.slices;
  while (unsent_.slice < slices.size() && slices[unsent_.slice].range.size() == 0) ++unsent_.slice;
  unsent_.slice_at = 0;
  unsent_.ended = unsent_.slice == slices.size();
  const std::uint64_t size = unsent_.ended ? 0 : slices[unsent_.slice].range.size();
  unsent_.behind_slice -= size;
  if (!unsent_.chunked) return;
  AppendHex(unsent_.text, size);
  unsent_.text.append(unsent_.ended ? "\r\n\r\n" : "\r\n");
}

SendResult ResponseWriter::SendContent(Stream& stream, const Content& content,
                                       std::chrono::milliseconds timeout) {
  while (!unsent_.ended) {
    const More more = unsent_.behind_slice > 0 || unsent_.chunked ? More::kYes : More::kNo;
    const IoResult sent = SendSlice(stream, content.slices[unsent_.slice], more, timeout);
    const std::size_t of_text = std::min(sent.bytes, unsent_.text_left().size());
    unsent_.text_at += of_text;
    unsent_.slice_at += sent.bytes - of_text;
    unsent_.so_far.body_bytes += sent.bytes - of_text;
    if (sent.status != IoStatus::kOk) return Outcome(sent.status);
    // The next block of this slice must be verified first.
    if (unsent_.slice_at < content.slices[unsent_.slice].range.size()) continue;
    unsent_.text.assign(unsent_.chunked ? "\r\n" : "");
    unsent_.text_at = 0;
    ++unsent_.slice;
    BeginSlice(content);
  }
  const ByteView rest = unsent_.text_left();
  if (rest.empty()) return Outcome(IoStatus::kOk);
  const IoResult sent = WriteEnd(stream, {&rest, 1}, timeout);
  unsent_.text_at += sent.bytes;
  return Outcome(sent.status);
}

IoResult ResponseWriter::SendSlice(Stream& stream, const ContentSlice& slice, More more,
                                   std::chrono::milliseconds timeout) {
  const std::uint64_t begin = slice.range.begin + unsent_.slice_at;
  const Result<std::uint64_t> checked = slice.blob->Checked({begin, slice.range.end});
  if (!checked.ok()) {
    unsent_.so_far.damage = checked.error().message;
    return {IoStatus::kBroken, 0};
  }
  const std::uint64_t size = *checked;
  if (begin + size < slice.range.end) more = More::kYes;
  std::array<ByteView, 2> pieces = {unsent_.text_left(), {}};
  if (const std::optional<ByteView> memory = slice.blob->Memory()) {
    pieces[1] = memory->subspan(begin, size);
    if (size > kJoinBytes) return WritePieces(stream, pieces, more, timeout);
    const std::size_t text_size = unsent_.text.size();
    unsent_.text.append(AsText(pieces[1]));
    const ByteView joined = unsent_.text_left();
    const IoResult sent = WritePieces(stream, {&joined, 1}, more, timeout);
    unsent_.text.resize(text_size);
    return sent;
  }
  const int file = slice.blob->FileDescriptor();
  if (size <= kCopyFileBytes) {
    scratch_.resize(kCopyFileBytes);
    const MutableByteView copy = MutableByteView(scratch_).first(size);
    if (!ReadFile(file, begin, copy)) return {IoStatus::kBroken, 0};
    pieces[1] = copy;
    return WritePieces(stream, pieces, more, timeout);
  }
  IoResult sent;
  if (!pieces[0].empty()) sent = stream.Write({pieces.data(), 1}, More::kYes, timeout);
  if (sent.status != IoStatus::kOk) return sent;
  const IoResult body = more == More::kNo ? SendFileEnd(stream, file, begin, size, timeout)
                                          : stream.SendFile(file, begin, size, timeout);
  return {body.status, sent.bytes + body.bytes};
}

std::string_view DateCache::At(WallTime now) {
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (second != second_) {
    text_ = FormatHttpDate(now);
    second_ = second;
  }
  return text_;
}

}  // namespace penstock::emulator::http
