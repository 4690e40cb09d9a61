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

// The headers that determine the framing, collected in one pass.
struct FramingHeaders {
  std::optional<std::uint64_t> length;
  int transfer_encodings = 0;
  int hosts = 0;
  bool close = false;
  bool keep_alive = false;
  bool expect = false;
};

void ReadConnectionOptions(std::string_view list, FramingHeaders& found) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view option = TrimBlanks(list.substr(0, comma));
    if (EqualsIgnoreCase(option, "close")) found.close = true;
    if (EqualsIgnoreCase(option, "keep-alive")) found.keep_alive = true;
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

Result<void> ReadLength(std::string_view value, FramingHeaders& found) {
  const std::optional<std::uint64_t> length = ParseLength(value);
  if (!length) return BadRequest("Content-Length is not a decimal number below 2^63.");
  if (found.length && *found.length != *length)
    return BadRequest("Content-Length was given twice with different values.");
  found.length = length;
  return Ok();
}

Result<void> ReadHeader(const message::HeaderView& header, FramingHeaders& found) {
  switch (header.name.size()) {  // the length alone distinguishes most headers
    case 4:
      if (EqualsIgnoreCase(header.name, "host")) ++found.hosts;
      break;
    case 6:
      // RFC 9110, section 10.1.1, permits 417 for other expectations. S3 ignores them
      // (ceph/s3-tests, test_object_create_bad_expect_mismatch).
      if (EqualsIgnoreCase(header.name, "expect"))
        found.expect = found.expect || EqualsIgnoreCase(header.value, "100-continue");
      break;
    case 10:
      if (EqualsIgnoreCase(header.name, "connection")) ReadConnectionOptions(header.value, found);
      break;
    case 14:
      if (EqualsIgnoreCase(header.name, "content-length")) return ReadLength(header.value, found);
      break;
    case 17:
      if (EqualsIgnoreCase(header.name, "transfer-encoding")) {
        ++found.transfer_encodings;
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
  FramingHeaders found;
  for (const message::HeaderView& header : head.headers) PENSTOCK_TRY(ReadHeader(header, found));
  if (found.hosts > 1) return BadRequest("the Host header was given more than once.");
  if (found.hosts == 0 && head.minor_version > 0) return BadRequest("the Host header is missing.");
  if (found.transfer_encodings > 1)
    return BadRequest("Transfer-Encoding was given more than once.");
  if (found.transfer_encodings == 1) {
    if (found.length) return BadRequest("both Content-Length and Transfer-Encoding were given.");
    if (head.minor_version == 0) return BadRequest("Transfer-Encoding does not exist in HTTP/1.0.");
  }
  Framing framing;
  if (found.transfer_encodings == 1) {
    framing.body = BodyFraming::kChunked;
  } else if (found.length) {
    framing.body = BodyFraming::kLength;
    framing.length = *found.length;
  }
  framing.keep_alive = !found.close && (head.minor_version > 0 || found.keep_alive);
  const bool body_follows = framing.body == BodyFraming::kChunked || framing.length > 0;
  framing.expect_continue = found.expect && body_follows && head.minor_version > 0;
  return framing;
}

}  // namespace penstock::emulator::http
