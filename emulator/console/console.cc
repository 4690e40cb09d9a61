#include "emulator/console/console.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace penstock::emulator::console {
namespace {

constexpr std::string_view kRoot = "/console";
constexpr std::string_view kIndex = "index.html";
constexpr char kNotBuilt[] =
    "<!doctype html>\n<html lang=\"en\">\n<head><title>Penstock console</title></head>\n<body>\n"
    "<h1>The console was not built</h1>\n"
    "<p>This emulator was built without the files of its console. Run <code>./dev console</code> "
    "in the repository, then build the emulator again.</p>\n</body>\n</html>\n";

// The page has no inline scripts and styles.
constexpr std::pair<std::string_view, std::string_view> kSecurityHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
     "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
     "'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Frame-Options", "DENY"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

// Calls `matches` with the elements of a comma-separated list until it returns true.
template <class Matches>
bool AnyElement(std::string_view list, Matches matches) {
  while (!list.empty()) {
    const std::string_view element = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), element.size() + 1));
    if (matches(TrimBlanks(element))) return true;
  }
  return false;
}

// RFC 9110 section 12.5.3: without the header every coding is acceptable.
bool AcceptsGzip(const message::RequestHead& request) {
  const auto header = request.Find("accept-encoding");
  if (!header) return true;
  return AnyElement(*header, [](std::string_view element) {
    const std::string_view coding = TrimBlanks(element.substr(0, element.find(';')));
    const std::size_t weight = element.find("q=");
    const bool refused =
        weight != std::string_view::npos &&
        element.substr(weight + 2).find_first_not_of("0.") == std::string_view::npos;
    return !refused && (EqualsIgnoreCase(coding, "gzip") || coding == "*");
  });
}

bool HasCurrent(const message::RequestHead& request, std::string_view etag) {
  return AnyElement(request.Find("if-none-match").value_or(std::string_view()),
                    [etag](std::string_view known) {
                      if (known.starts_with("W/")) known.remove_prefix(2);
                      return known == etag || known == "*";
                    });
}

void Send(message::Exchange& exchange, std::string_view content_type, std::string body) {
  message::Response& response = exchange.response;
  response.Add("Content-Type", std::string(content_type));
  if (exchange.request.method == "HEAD") {
    response.content_length = body.size();
  } else {
    response.body = std::move(body);
  }
}

}  // namespace

bool IsConsoleTarget(std::string_view target) {
  if (!target.starts_with(kRoot)) return false;
  const std::string_view rest = target.substr(kRoot.size());
  return rest.empty() || rest.front() == '/' || rest.front() == '?';
}

std::optional<Refusal> Serve(message::Exchange& exchange, std::span<const Asset> assets) {
  const message::RequestHead& request = exchange.request;
  message::Response& response = exchange.response;
  if (request.method != "GET" && request.method != "HEAD")
    return Refusal{405, "method not allowed; use GET or HEAD"};
  std::string_view path = request.target.substr(0, request.target.find('?'));
  path.remove_prefix(kRoot.size());
  if (path.empty()) {
    response.status = 308;
    response.Add("Location", "/console/");
    return std::nullopt;
  }
  path.remove_prefix(1);
  if (path.empty()) path = kIndex;
  else if (path == kIndex) path = {};  // the page has one address
  if (path == kIndex && assets.empty()) {
    response.status = 503;
    response.Add("Cache-Control", "no-store");
    Send(exchange, "text/html; charset=utf-8", kNotBuilt);
    return std::nullopt;
  }
  const auto found = std::find_if(assets.begin(), assets.end(),
                                  [path](const Asset& asset) { return asset.path == path; });
  if (found == assets.end())
    return Refusal{404, "the console has no file of that name; its page is /console/"};
  if (!AcceptsGzip(request)) {
    return Refusal{406,
                   "the console is sent compressed only; send Accept-Encoding: gzip (curl "
                   "--compressed)"};
  }
  response.Add("ETag", std::string(found->etag));
  response.Add("Vary", "Accept-Encoding");
  response.Add("Cache-Control",
               path == kIndex ? "no-cache" : "public, max-age=31536000, immutable");
  if (HasCurrent(request, found->etag)) {
    response.status = 304;
    return std::nullopt;
  }
  response.Add("Content-Encoding", "gzip");
  Send(exchange, found->content_type, {found->gzip.begin(), found->gzip.end()});
  return std::nullopt;
}

void AddSecurityHeaders(message::Response& response) {
  for (const auto& [name, value] : kSecurityHeaders)
    response.Add(std::string(name), std::string(value));
}

}  // namespace penstock::emulator::console
