#include "emulator/http/parsing/framing.h"

#include <limits>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "emulator/http/parsing/head_parser.h"
#include "emulator/http/parsing/wire_error.h"

namespace penstock::emulator::http {
namespace {

constexpr std::uint64_t kMaxLength = std::numeric_limits<std::int64_t>::max();

std::optional<std::uint64_t> ParseLength(std::string_view digits) {
  if (digits.empty() || digits.size() > 19) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value > kMaxLength) return std::nullopt;
  return value;
}

// Collected in one pass over the headers.
struct Seen {
  std::optional<std::uint64_t> length;
  int transfer_encodings = 0;
  int hosts = 0;
  bool close = false;
  bool keep_alive = false;
  bool expect = false;
};

void ReadConnectionOptions(std::string_view list, Seen& seen) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view option = TrimBlanks(list.substr(0, comma));
    if (EqualsIgnoreCase(option, "close")) seen.close = true;
    if (EqualsIgnoreCase(option, "keep-alive")) seen.keep_alive = true;
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

Result<void> ReadLength(std::string_view value, Seen& seen) {
  const std::optional<std::uint64_t> length = ParseLength(value);
  if (!length) return BadRequest("Content-Length is not a decimal number below 2^63.");
  if (seen.length && *seen.length != *length)
    return BadRequest("Content-Length was given twice with different values.");
  seen.length = length;
  return Ok();
}

Result<void> ReadHeader(const message::HeaderView& header, Seen& seen) {
  switch (header.name.size()) {  // the length alone distinguishes most headers
    case 4:
      if (EqualsIgnoreCase(header.name, "host")) ++seen.hosts;
      break;
    case 6:
      if (EqualsIgnoreCase(header.name, "expect")) {
        if (!EqualsIgnoreCase(header.value, "100-continue")) return ExpectationFailed();
        seen.expect = true;
      }
      break;
    case 10:
      if (EqualsIgnoreCase(header.name, "connection")) ReadConnectionOptions(header.value, seen);
      break;
    case 14:
      if (EqualsIgnoreCase(header.name, "content-length")) return ReadLength(header.value, seen);
      break;
    case 17:
      if (EqualsIgnoreCase(header.name, "transfer-encoding")) {
        ++seen.transfer_encodings;
        if (!EqualsIgnoreCase(header.value, "chunked"))
          return HeaderNotImplemented("Transfer-Encoding");
      }
      break;
    default: break;
  }
  return Ok();
}

}  // namespace

Result<Framing> ReadFraming(const message::RequestHead& head) {
  Seen seen;
  for (const message::HeaderView& header : head.headers) PENSTOCK_TRY(ReadHeader(header, seen));
  if (seen.hosts > 1) return BadRequest("the Host header was given more than once.");
  if (seen.hosts == 0 && head.minor_version > 0) return BadRequest("the Host header is missing.");
  if (seen.transfer_encodings > 1) return BadRequest("Transfer-Encoding was given more than once.");
  if (seen.transfer_encodings == 1) {
    if (seen.length) return BadRequest("both Content-Length and Transfer-Encoding were given.");
    if (head.minor_version == 0) return BadRequest("Transfer-Encoding does not exist in HTTP/1.0.");
  }
  Framing framing;
  if (seen.transfer_encodings == 1) {
    framing.body = BodyFraming::kChunked;
  } else if (seen.length) {
    framing.body = BodyFraming::kLength;
    framing.length = *seen.length;
  }
  framing.keep_alive = !seen.close && (head.minor_version > 0 || seen.keep_alive);
  const bool body_follows = framing.body == BodyFraming::kChunked || framing.length > 0;
  framing.expect_continue = seen.expect && body_follows && head.minor_version > 0;
  return framing;
}

}  // namespace penstock::emulator::http
