#include "emulator/http/parsing/head_parser.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "base/ascii.h"
#include "emulator/http/parsing/wire_error.h"

namespace penstock::emulator::http {
namespace {

using ByteClass = std::array<bool, 256>;

constexpr ByteClass MakeTokenClass() {
  ByteClass allowed{};
  for (int c = '0'; c <= '9'; ++c) allowed[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) allowed[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) allowed[c] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    allowed[static_cast<unsigned char>(c)] = true;
  return allowed;
}

constexpr ByteClass MakeValueClass() {
  ByteClass allowed{};
  for (int c = 0x20; c <= 0xff; ++c) allowed[c] = c != 0x7f;
  allowed['\t'] = true;
  return allowed;
}

// Every visible character and raw bytes above ASCII (unencoded UTF-8 keys), but no fragment.
constexpr ByteClass MakeTargetClass() {
  ByteClass allowed{};
  for (int c = 0x21; c <= 0xff; ++c) allowed[c] = c != 0x7f && c != '#';
  return allowed;
}

constexpr ByteClass kToken = MakeTokenClass();
constexpr ByteClass kValue = MakeValueClass();
constexpr ByteClass kTarget = MakeTargetClass();

// Returns how many bytes at the front, in steps of eight, are at least `least` and neither DEL nor
// '#', and therefore valid. The caller checks the rest byte by byte.
std::size_t PlainPrefix(unsigned char least, std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const auto zero_in = [](std::uint64_t word) { return (word - kOnes) & ~word & (kOnes * 0x80); };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    const std::uint64_t low = (word - kOnes * least) & ~word & (kOnes * 0x80);
    if ((low | zero_in(word ^ (kOnes * 0x7f)) | zero_in(word ^ (kOnes * '#'))) != 0) break;
  }
  return at;
}

bool All(const ByteClass& allowed, std::string_view text) {
  for (const char c : text) {
    if (!allowed[static_cast<unsigned char>(c)]) return false;
  }
  return true;
}

// Removes one line from the front of `rest`; `line` excludes the terminator. Returns false if the
// terminator is not CRLF.
bool TakeLine(std::string_view& rest, std::string_view& line) {
  const void* found = std::memchr(rest.data(), '\n', rest.size());
  if (found == nullptr) return false;
  const std::size_t at = static_cast<const char*>(found) - rest.data();
  if (at == 0 || rest[at - 1] != '\r') return false;
  line = rest.substr(0, at - 1);
  rest.remove_prefix(at + 1);
  return true;
}

Result<void> ParseVersion(std::string_view text, message::RequestHead& head) {
  if (text.size() != 8 || text.substr(0, 5) != "HTTP/" || text[6] != '.') {
    return BadRequest("the request line does not end in an HTTP version.");
  }
  const char major = text[5];
  const char minor = text[7];
  if (major < '0' || major > '9' || minor < '0' || minor > '9') {
    return BadRequest("the request line does not end in an HTTP version.");
  }
  if (major != '1') return VersionNotSupported();
  head.minor_version = minor - '0';
  return Ok();
}

// Sets head.target to path and query, and `authority` for an absolute-form target.
Result<void> ParseTargetForm(std::string_view target, message::RequestHead& head,
                             std::string_view& authority) {
  head.target = target;
  if (target.front() == '/') return Ok();
  if (target == "*" && head.method == "OPTIONS") return Ok();
  const std::size_t scheme_end = target.find("://");
  if (scheme_end == std::string_view::npos ||
      !(EqualsIgnoreCase(target.substr(0, scheme_end), "http") ||
        EqualsIgnoreCase(target.substr(0, scheme_end), "https"))) {
    return BadRequest("the request target is neither a path nor an absolute URI.");
  }
  const std::string_view rest = target.substr(scheme_end + 3);
  const std::size_t authority_end = rest.find_first_of("/?");
  authority = rest.substr(0, authority_end);
  if (authority.empty()) return BadRequest("the absolute request target names no host.");
  if (authority_end == std::string_view::npos) {
    head.target = "/";
    return Ok();
  }
  if (rest[authority_end] != '/')
    return BadRequest("the absolute request target has a query but no path.");
  head.target = rest.substr(authority_end);
  return Ok();
}

Result<void> ParseRequestLine(std::string_view line, const HeadLimits& limits,
                              message::RequestHead& head, std::string_view& authority) {
  const std::size_t method_end = line.find(' ');
  const std::size_t version_begin = line.rfind(' ');
  if (method_end == std::string_view::npos || method_end == version_begin) {
    return BadRequest("the request line is not 'METHOD target HTTP/1.1'.");
  }
  head.method = line.substr(0, method_end);
  if (!IsToken(head.method)) return BadRequest("the method is not a token.");
  PENSTOCK_TRY(ParseVersion(line.substr(version_begin + 1), head));
  const std::string_view target = line.substr(method_end + 1, version_begin - method_end - 1);
  if (target.size() > limits.max_target_bytes) return TargetTooLong(limits.max_target_bytes);
  if (target.empty() || !All(kTarget, target.substr(PlainPrefix(0x21, target)))) {
    return BadRequest(
        "the request target is empty or holds white space, a control character or '#'.");
  }
  return ParseTargetForm(target, head, authority);
}

Result<void> ParseHeaderLine(std::string_view line, message::RequestHead& head) {
  if (line.front() == ' ' || line.front() == '\t')
    return BadRequest("a header continues on a second line (obs-fold).");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return BadRequest("a header line has no colon.");
  const std::string_view name = line.substr(0, colon);
  if (!IsToken(name))
    return BadRequest("a header name is empty or holds a character that is not allowed there.");
  const std::string_view value = TrimBlanks(line.substr(colon + 1));
  if (!IsFieldValue(value)) return BadRequest("a header value holds a control character.");
  head.headers.push_back({name, value});
  return Ok();
}

}  // namespace

bool IsToken(std::string_view text) { return !text.empty() && All(kToken, text); }

bool IsFieldValue(std::string_view text) {
  return All(kValue, text.substr(PlainPrefix(0x20, text)));
}

std::size_t FindHeadEnd(std::string_view input, std::size_t& scanned) {
  // An LF at the end of the input is examined again when more bytes have arrived.
  std::size_t at = scanned;
  while (at < input.size()) {
    const void* found = std::memchr(input.data() + at, '\n', input.size() - at);
    if (found == nullptr) break;
    const std::size_t newline = static_cast<const char*>(found) - input.data();
    const std::string_view after = input.substr(newline + 1);
    if (!after.empty() && after[0] == '\n') return newline + 2;
    if (after.size() >= 2 && after[0] == '\r' && after[1] == '\n') return newline + 3;
    if (after.size() < 2 && (after.empty() || after[0] == '\r')) {
      scanned = newline;
      return 0;
    }
    at = newline + 1;
  }
  scanned = input.size();
  return 0;
}

Result<void> ParseHead(std::string_view bytes, const HeadLimits& limits,
                       message::RequestHead& head) {
  head.method = {};
  head.target = {};
  head.minor_version = 1;
  head.headers.clear();
  if (bytes.size() > limits.max_head_bytes) return HeadTooLarge(limits.max_head_bytes);
  std::string_view rest = bytes;
  std::string_view line;
  std::string_view authority;
  if (!TakeLine(rest, line)) return BadRequest("a line does not end in CR LF.");
  PENSTOCK_TRY(ParseRequestLine(line, limits, head, authority));
  for (;;) {
    if (!TakeLine(rest, line)) return BadRequest("a line does not end in CR LF.");
    if (line.empty()) break;
    if (head.headers.size() == limits.max_headers) return HeadTooLarge(limits.max_head_bytes);
    PENSTOCK_TRY(ParseHeaderLine(line, head));
  }
  if (authority.empty()) return Ok();
  for (message::HeaderView& header : head.headers) {
    if (EqualsIgnoreCase(header.name, "host")) header.value = authority;
  }
  return Ok();
}

}  // namespace penstock::emulator::http
