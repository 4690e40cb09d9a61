#include "client/http/exchange/request_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "client/http/uri.h"

namespace penstock::http {
namespace {

// Bit flags per byte: where it is forbidden.
enum : unsigned char { kNotInName = 1, kNotInTarget = 2 };

constexpr std::array<unsigned char, 256> kForbidden = [] {
  std::array<unsigned char, 256> table{};
  for (const unsigned char c : {'\r', '\n', '\0', ':', ' ', ';', '\t'}) table[c] |= kNotInName;
  for (std::size_t c = 0; c < table.size(); ++c) {
    if (c <= ' ' || c >= 0x7f || c == '#') table[c] |= kNotInTarget;
  }
  return table;
}();

unsigned char ForbiddenIn(char c) { return kForbidden[static_cast<unsigned char>(c)]; }

// Has no branch per byte, because the result is nearly always false.
bool HasAny(std::string_view text, unsigned char forbidden) {
  unsigned char seen = 0;
  for (const char c : text) seen |= ForbiddenIn(c);
  return (seen & forbidden) != 0;
}

// Values are long: the C library searches many bytes at a time.
bool HasLineBreak(std::string_view text) {
  return text.find('\n') != std::string_view::npos || text.find('\r') != std::string_view::npos ||
         text.find('\0') != std::string_view::npos;
}
bool IsHeaderName(std::string_view name) { return !name.empty() && !HasAny(name, kNotInName); }

bool IsMethod(std::string_view method) {
  return !method.empty() &&
         std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
}

Error InvalidRequest(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

// A target may contain a signature (presigned URLs), so messages have the offset, never the text.
Result<void> CheckTarget(std::string_view target) {
  if (target.empty() || target[0] != '/')
    return InvalidRequest("the request target does not start with '/'");
  const auto bad = std::find_if(target.begin(), target.end(),
                                [](char c) { return (ForbiddenIn(c) & kNotInTarget) != 0; });
  if (bad == target.end()) return Ok();
  return InvalidRequest(
      "the request target contains a byte that must be percent-encoded, at offset " +
      std::to_string(bad - target.begin()));
}

}  // namespace

Result<void> CheckRequest(const Request& request) {
  if (request.endpoint.scheme != "http" && request.endpoint.scheme != "https") {
    return InvalidRequest("scheme '" + request.endpoint.scheme + "' is neither http nor https");
  }
  if (request.endpoint.host.empty() || request.endpoint.port < 1 || request.endpoint.port > 65535) {
    return InvalidRequest("endpoint '" + Authority(request.endpoint) +
                          "' needs a host and a port from 1 to 65535");
  }
  if (!IsMethod(request.method)) {
    return InvalidRequest("method '" + request.method + "' does not consist of capital letters");
  }
  PENSTOCK_TRY(CheckTarget(request.target));
  for (const Header& header : request.headers) {
    if (!IsHeaderName(header.name) || HasLineBreak(header.value)) {
      return InvalidRequest("header '" + header.name + "' has a name or value that cannot be sent");
    }
  }
  if (!FindHeader(request.headers, "Host")) return InvalidRequest("the request has no Host header");
  if (FindHeader(request.headers, "Content-Length"))
    return InvalidRequest("the request has a Content-Length header, which the transport sets");
  return Ok();
}

bool Uploads(const Request& request, const RequestBody* body) {
  return body != nullptr || request.method == "PUT" || request.method == "POST";
}

std::uint64_t UploadSize(const RequestBody* body) { return body == nullptr ? 0 : body->size(); }

}  // namespace penstock::http
