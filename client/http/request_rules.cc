#include "client/http/request_rules.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "client/http/uri.h"

namespace penstock::http {
namespace {

bool BreaksLine(char c) { return c == '\r' || c == '\n' || c == '\0'; }
bool HasLineBreak(std::string_view text) { return std::ranges::any_of(text, BreaksLine); }

bool IsHeaderName(std::string_view name) {
  const auto is_bad = [](char c) { return c == ':' || c == ' ' || c == ';' || c == '\t' || BreaksLine(c); };
  return !name.empty() && std::ranges::none_of(name, is_bad);
}

bool IsMethod(std::string_view method) {
  return !method.empty() && std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
}

Error Unsendable(std::string message) { return Error::Make(ErrorKind::kInvalidArgument, std::move(message)); }

// A target may hold a signature (presigned URLs), so messages name the position, never the text.
Result<void> CheckTarget(std::string_view target) {
  if (target.empty() || target[0] != '/') return Unsendable("the request target does not start with '/'");
  const auto bad = std::find_if(target.begin(), target.end(), [](char c) {
    return c <= ' ' || c >= 0x7f || c == '#';  // char is signed or not: bytes above 0x7f are caught either way
  });
  if (bad == target.end()) return Ok();
  return Unsendable("the request target holds a byte that must be percent-encoded, at offset " +
                    std::to_string(bad - target.begin()));
}

}  // namespace

Result<void> CheckRequest(const Request& request) {
  if (request.endpoint.scheme != "http" && request.endpoint.scheme != "https") {
    return Unsendable("scheme '" + request.endpoint.scheme + "' is neither http nor https");
  }
  if (request.endpoint.host.empty() || request.endpoint.port < 1 || request.endpoint.port > 65535) {
    return Unsendable("endpoint '" + Authority(request.endpoint) + "' needs a host and a port from 1 to 65535");
  }
  if (!IsMethod(request.method)) {
    return Unsendable("method '" + request.method + "' is not made of capital letters");
  }
  PENSTOCK_TRY(CheckTarget(request.target));
  for (const Header& header : request.headers) {
    if (!IsHeaderName(header.name) || HasLineBreak(header.value)) {
      return Unsendable("header '" + header.name + "' has a name or value that cannot be sent");
    }
  }
  if (!FindHeader(request.headers, "Host")) return Unsendable("the request has no Host header");
  if (FindHeader(request.headers, "Content-Length")) return Unsendable("Content-Length is the transport's to set");
  return Ok();
}

bool Uploads(const Request& request, const RequestBody* body) {
  return body != nullptr || request.method == "PUT" || request.method == "POST";
}

std::uint64_t UploadSize(const RequestBody* body) { return body == nullptr ? 0 : body->size(); }

}  // namespace penstock::http
