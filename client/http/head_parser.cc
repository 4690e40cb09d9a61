#include "client/http/head_parser.h"

#include <charconv>
#include <string>

#include "client/http/blanks.h"

namespace penstock::http {
namespace {

constexpr std::size_t kUsualHeaders = 16;  // S3 sends 8 to 14

Error Malformed(const char* what) {
  return Error::Make(ErrorKind::kUnavailable, std::string("the response is not HTTP/1.1: ") + what);
}

}  // namespace

Result<void> HeadParser::StartHead(std::string_view line) {
  head_.headers.clear();
  head_.headers.reserve(kUsualHeaders);
  bytes_ = line.size();
  started_ = true;
  complete_ = false;
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return Malformed("no status in its first line");
  const std::string_view digits = line.substr(space + 1, 3);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), head_.status);
  if (error != std::errc() || end != digits.data() + 3 || head_.status < 100) return Malformed("bad status");
  return Ok();
}

Result<void> HeadParser::Add(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/") && (!started_ || complete_)) return StartHead(line);
  if (!started_) return Malformed("no status line");
  if (complete_) return Ok();
  if (line.empty()) {
    complete_ = true;
    if (head_.status < 200 && ++interim_heads_ > kMaxInterimHeads) return Malformed("more than 32 interim responses");
    return Ok();
  }
  bytes_ += line.size();
  if (bytes_ > kMaxHeadBytes) return Malformed("its head is longer than 256 KiB");
  if (line.front() == ' ' || line.front() == '\t') {  // obsolete folding: part of the value above
    if (head_.headers.empty()) return Malformed("its first header line starts with a blank");
    head_.headers.back().value.append(" ").append(TrimBlanks(line));
    return Ok();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return Malformed("a header line without a name");
  head_.headers.push_back({std::string(TrimBlanks(line.substr(0, colon))), std::string(TrimBlanks(line.substr(colon + 1)))});
  return Ok();
}

}  // namespace penstock::http
