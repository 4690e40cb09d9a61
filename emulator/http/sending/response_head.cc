#include "emulator/http/sending/response_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "base/dates.h"

namespace penstock::emulator::http {
namespace {

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
  const bool streams = response.stream != nullptr;
  if ((response.chunked || streams) && context.minor_version > 0) {
    plan.framing = ResponseFraming::kChunked;
    return plan;
  }
  if (streams) {
    plan.framing = ResponseFraming::kClose;
    return plan;
  }
  const std::uint64_t size = message::BodySize(response);
  plan.announced_bytes = response.content_length.value_or(size);
  plan.length_is_wrong = plan.send_body && plan.announced_bytes != size;
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
