#include "client/http/exchange/head_parser.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

constexpr std::size_t kUsualHeaders = 16;  // S3 sends 8 to 14

Error Malformed(const std::string& what) {
  return Error::Make(ErrorKind::kUnavailable, "the response is not HTTP/1.1: " + what);
}

// Headers that determine the bytes of the body. If two of them differ, neither can be trusted.
bool IsSingle(std::string_view name) {
  switch (name.size()) {  // few names in a usual head have these lengths
    case 4: return EqualsIgnoringCase(name, "ETag");
    case 13: return EqualsIgnoringCase(name, "Content-Range");
    case 14: return EqualsIgnoringCase(name, "Content-Length");
    default: return false;
  }
}

bool IsOneNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<void> HeadParser::StartHead(std::string_view line) {
  head_.headers.clear();
  head_.headers.reserve(kUsualHeaders);
  bytes_ = line.size();
  started_ = true;
  complete_ = false;
  if (!line.starts_with("HTTP/1.")) return Malformed("another HTTP version");
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return Malformed("its first line has no status");
  const std::string_view digits = line.substr(space + 1, 3);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), head_.status);
  const bool ends_there =
      line.size() == space + 4 || (line.size() > space + 4 && line[space + 4] == ' ');
  if (error != std::errc() || end != digits.data() + 3 || head_.status < 100 || !ends_there)
    return Malformed("an invalid status");
  return Ok();
}

Result<void> HeadParser::AddHeader(Header header) {
  if (IsSingle(header.name)) {
    if (header.name.size() == std::string_view("Content-Length").size() &&
        !IsOneNumber(header.value)) {
      return Malformed("its Content-Length is not one number");
    }
    const bool contradicted = std::ranges::any_of(head_.headers, [&](const Header& other) {
      return EqualsIgnoringCase(other.name, header.name) && other.value != header.value;
    });
    if (contradicted) return Malformed("two different headers " + header.name);
  }
  head_.headers.push_back(std::move(header));
  return Ok();
}

Result<void> HeadParser::Add(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/") && (!started_ || complete_)) return StartHead(line);
  if (!started_) return Malformed("no status line");
  if (complete_) return Ok();
  if (line.empty()) {
    complete_ = true;
    if (head_.status < 200 && ++interim_heads_ > kMaxInterimHeads)
      return Malformed("more than 32 interim responses");
    return Ok();
  }
  // RFC 9112 section 2.2, RFC 9110 section 5.5: another recipient may treat these bytes as the end
  // of a line or string.
  if (line.find('\0') != std::string_view::npos || line.find('\r') != std::string_view::npos) {
    return Malformed("a header line with a NUL or a carriage return in it");
  }
  bytes_ += line.size();
  if (bytes_ > kMaxHeadBytes) return Malformed("its head is longer than 256 KiB");
  if (line.front() == ' ' ||
      line.front() == '\t') {  // obsolete line folding: continues the value above
    if (head_.headers.empty()) return Malformed("its first header line starts with a blank");
    Header folded = std::move(head_.headers.back());
    head_.headers.pop_back();
    folded.value.append(" ").append(TrimBlanks(line));
    return AddHeader(std::move(folded));
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0)
    return Malformed("a header line without a name");
  return AddHeader({std::string(TrimBlanks(line.substr(0, colon))),
                    std::string(TrimBlanks(line.substr(colon + 1)))});
}

}  // namespace penstock::http
