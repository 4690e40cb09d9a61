#include "emulator/events/delivery/sink_address.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace penstock::emulator::events {
namespace {

constexpr std::string_view kFile = "file:";
constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kForm =
    "give ARN=file:PATH, ARN=http://HOST:PORT/PATH or ARN=https://HOST:PORT/PATH, for example "
    "arn:aws:sqs:*=http://127.0.0.1:8000/events";

Error Wrong(std::string_view pattern, const std::string& problem) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "event sink '" + std::string(pattern) + "': " + problem);
}

bool IsPrintable(char c) { return c > ' ' && c < 0x7f; }

bool IsHostName(std::string_view host) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return !host.empty() && std::all_of(host.begin(), host.end(), fits);
}

bool IsAddress6(std::string_view host) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || (c >= '0' && c <= '9') || c == ':' ||
           c == '.';
  };
  return host.find(':') != std::string_view::npos && std::all_of(host.begin(), host.end(), fits);
}

// `text`: what follows "http://" or "https://". Messages do not show it, because URLs of webhooks
// have secrets.
Result<void> ParseUrl(std::string_view text, SinkAddress& sink) {
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  const std::string_view authority = text.substr(0, end);
  sink.kind = SinkAddress::Kind::kWebhook;
  if (sink.tls) sink.port = 443;
  sink.path = std::string(text.substr(end));
  if (!sink.path.starts_with('/')) sink.path.insert(0, "/");
  if (text.find('#') != std::string_view::npos)
    return Wrong(sink.pattern, "the URL has a fragment (#), which is not sent; remove it");
  if (!std::all_of(text.begin(), text.end(), IsPrintable))
    return Wrong(sink.pattern,
                 "the URL has a blank, a control character or a character beyond "
                 "ASCII; write it as %XX");
  if (authority.find('@') != std::string_view::npos)
    return Wrong(sink.pattern,
                 "the URL has a user or a password, which is not supported; remove "
                 "it, and put a secret in the path or query");
  const bool bracketed = authority.starts_with('[');
  const std::size_t close = bracketed ? authority.find(']') : 0;
  std::string_view rest;
  if (bracketed && close != std::string_view::npos) {
    sink.host = std::string(authority.substr(1, close - 1));
    rest = authority.substr(close + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    sink.host = std::string(authority.substr(0, colon));
    rest = authority.substr(colon);
  }
  if (!(bracketed ? IsAddress6(sink.host) : IsHostName(sink.host)))
    return Wrong(sink.pattern, "the URL has no valid host; " + std::string(kForm));
  if (rest.empty()) return Ok();
  const std::string_view digits = rest.substr(1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), sink.port);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  if (rest.front() == ':' && is_number && sink.port >= 1 && sink.port <= 65535) return Ok();
  return Wrong(sink.pattern, "the port '" + std::string(digits) + "' must be 1 to 65535");
}

}  // namespace

std::string SinkAddress::Describe() const {
  if (kind == Kind::kFile) return "file '" + path + "'";
  const bool address6 = host.find(':') != std::string::npos;
  return std::string(tls ? kHttps : kHttp) + (address6 ? "[" + host + "]" : host) + ":" +
         std::to_string(port);
}

Result<SinkAddress> ParseSink(std::string_view text) {
  const std::size_t equals = text.find('=');
  SinkAddress sink;
  sink.pattern = std::string(text.substr(0, equals));
  if (equals == std::string_view::npos || sink.pattern.empty()) {
    return Wrong(equals == std::string_view::npos ? std::string_view() : sink.pattern,
                 "an ARN and '=' must come first; " + std::string(kForm));
  }
  if (!std::all_of(sink.pattern.begin(), sink.pattern.end(), IsPrintable) ||
      (sink.pattern != "*" && !sink.pattern.starts_with("arn:"))) {
    return Wrong(sink.pattern,
                 "expected an ARN of printable ASCII that begins with 'arn:', or '*' "
                 "for all; '*' in it matches any characters and '?' one");
  }
  const std::string_view target = text.substr(equals + 1);
  if (target.starts_with(kFile)) {
    sink.path = std::string(target.substr(kFile.size()));
    if (sink.path.empty() || sink.path.find('\0') != std::string::npos)
      return Wrong(sink.pattern,
                   "the path of the file is empty or has a NUL character; " + std::string(kForm));
    return sink;
  }
  sink.tls = target.starts_with(kHttps);
  if (sink.tls || target.starts_with(kHttp)) {
    PENSTOCK_TRY(ParseUrl(target.substr((sink.tls ? kHttps : kHttp).size()), sink));
    return sink;
  }
  return Wrong(sink.pattern,
               "the target must begin with file:, http:// or https://; " + std::string(kForm));
}

Result<std::vector<SinkAddress>> ParseSinks(const std::vector<std::string>& texts) {
  std::vector<SinkAddress> sinks;
  for (const std::string& text : texts) {
    PENSTOCK_ASSIGN(SinkAddress sink, ParseSink(text));
    const auto same = [&](const SinkAddress& other) { return other.pattern == sink.pattern; };
    if (std::any_of(sinks.begin(), sinks.end(), same))
      return Wrong(sink.pattern, "the ARN is given twice; give each one sink");
    sinks.push_back(std::move(sink));
  }
  if (sinks.size() <= kMostSinks) return sinks;
  return Error::Make(ErrorKind::kInvalidArgument,
                     std::to_string(sinks.size()) + " event sinks are given, and at most " +
                         std::to_string(kMostSinks) +
                         " are supported; join some by a pattern such as arn:aws:sqs:*");
}

}  // namespace penstock::emulator::events
