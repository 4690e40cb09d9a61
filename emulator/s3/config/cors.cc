#include "emulator/s3/config/cors.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "emulator/s3/config/sub_resources.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kVary =
    "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";

// A pattern has at most one '*', which matches any text (configuration_checks.cc).
bool Matches(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  const std::string_view head = pattern.substr(0, star);
  const std::string_view tail = pattern.substr(star + 1);
  return text.size() >= head.size() + tail.size() && text.starts_with(head) && text.ends_with(tail);
}

const Element* FindOrigin(const Element& rule, std::string_view origin) {
  for (const Element* allowed : rule.All("AllowedOrigin")) {
    if (Matches(allowed->text, origin)) return allowed;
  }
  return nullptr;
}

bool AllowsMethod(const Element& rule, std::string_view method) {
  const auto methods = rule.All("AllowedMethod");
  return std::any_of(methods.begin(), methods.end(),
                     [&](const Element* allowed) { return allowed->text == method; });
}

bool AllowsHeader(const Element& rule, std::string_view header) {
  const auto headers = rule.All("AllowedHeader");
  const std::string lower = AsciiLower(header);
  return std::any_of(headers.begin(), headers.end(), [&](const Element* allowed) {
    return Matches(AsciiLower(allowed->text), lower);
  });
}

std::string Join(const std::vector<const Element*>& elements) {
  std::string joined;
  for (const Element* element : elements) joined += (joined.empty() ? "" : ", ") + element->text;
  return joined;
}

std::vector<std::string_view> SplitHeaders(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (const std::string_view name = TrimBlanks(list.substr(0, comma)); !name.empty())
      names.push_back(name);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return names;
}

std::vector<std::string_view> RequestedHeaders(const RequestHead& request) {
  return SplitHeaders(request.Find("access-control-request-headers").value_or(std::string_view()));
}

std::optional<Element> ConfigurationOf(Call& call) {
  const auto bucket = call.store.FindBucket(call.bucket());
  const std::string* document = bucket.ok() ? FindConfiguration(**bucket, "cors") : nullptr;
  if (document == nullptr) return std::nullopt;
  auto read = ReadBySchema(*document, kCorsSchema);
  if (!read.ok()) return std::nullopt;
  return std::move(read).value();
}

Error Forbidden(std::string_view method, std::string_view resource_type, std::string message) {
  return MakeError("AccessForbidden",
                   {{"Method", std::string(method)}, {"ResourceType", std::string(resource_type)}},
                   "CORSResponse: " + std::move(message));
}

}  // namespace

const Element* FindCorsRule(const Element& configuration, const CorsQuestion& question) {
  const auto allows = [&](const Element& rule) {
    return FindOrigin(rule, question.origin) != nullptr && AllowsMethod(rule, question.method) &&
           std::all_of(question.headers.begin(), question.headers.end(),
                       [&](std::string_view header) { return AllowsHeader(rule, header); });
  };
  const auto found =
      std::find_if(configuration.children.begin(), configuration.children.end(), allows);
  return found == configuration.children.end() ? nullptr : &*found;
}

CorsHeaders CorsHeadersOf(const Element& rule, const CorsQuestion& question) {
  CorsHeaders headers;
  const bool any_origin = FindOrigin(rule, question.origin)->text == "*";
  headers.emplace_back("Access-Control-Allow-Origin", any_origin ? "*" : question.origin);
  headers.emplace_back("Access-Control-Allow-Methods", Join(rule.All("AllowedMethod")));
  if (!question.headers.empty()) {
    std::string requested;
    for (const std::string_view name : question.headers)
      requested += (requested.empty() ? "" : ", ") + AsciiLower(name);
    headers.emplace_back("Access-Control-Allow-Headers", std::move(requested));
  }
  if (std::string exposed = Join(rule.All("ExposeHeader")); !exposed.empty()) {
    headers.emplace_back("Access-Control-Expose-Headers", std::move(exposed));
  }
  if (rule.Has("MaxAgeSeconds"))
    headers.emplace_back("Access-Control-Max-Age", rule.TextOf("MaxAgeSeconds"));
  if (!any_origin) headers.emplace_back("Access-Control-Allow-Credentials", "true");
  headers.emplace_back("Vary", kVary);
  return headers;
}

void AddCorsHeaders(Call& call) {
  const auto origin = call.exchange.request.Find("origin");
  if (!origin || call.exchange.request.method == "OPTIONS" || call.bucket().empty()) return;
  const std::optional<Element> configuration = ConfigurationOf(call);
  if (!configuration) return;
  // Recorded against Amazon S3: Access-Control-Request-Method, if present, is checked instead of
  // the request's method.
  const RequestHead& request = call.exchange.request;
  const CorsQuestion question{
      *origin, request.Find("access-control-request-method").value_or(request.method),
      RequestedHeaders(request)};
  const Element* rule = FindCorsRule(*configuration, question);
  if (rule == nullptr) return;
  for (auto& [name, value] : CorsHeadersOf(*rule, question))
    call.response().Add(std::move(name), std::move(value));
}

Result<void> HandlePreflight(Call& call) {
  const RequestHead& request = call.exchange.request;
  const auto origin = request.Find("origin");
  if (!origin)
    return MakeError("BadRequest", {}, "Insufficient information. Origin request header needed.");
  const auto requested = request.Find("access-control-request-method");
  // The method in S3's errors if the header is missing.
  const std::string_view method = requested.value_or("OPTIONS");
  if (!call.store.FindBucket(call.bucket()).ok())
    return Forbidden(method, "BUCKET", "Bucket not found");
  const std::optional<Element> configuration = ConfigurationOf(call);
  if (!configuration) return Forbidden(method, "BUCKET", "CORS is not enabled for this bucket.");
  if (!requested) return MakeError("BadRequest", {}, "Invalid Access-Control-Request-Method: null");
  const CorsQuestion question{*origin, method, RequestedHeaders(request)};
  const Element* rule = FindCorsRule(*configuration, question);
  if (rule == nullptr) {
    return Forbidden(method, call.key().empty() ? "BUCKET" : "OBJECT",
                     "This CORS request is not allowed. This is usually because the evalution of "
                     "Origin, request method "
                     "/ Access-Control-Request-Method or Access-Control-Request-Headers are not "
                     "whitelisted by the "
                     "resource's CORS spec.");
  }
  for (auto& [name, value] : CorsHeadersOf(*rule, question))
    call.response().Add(std::move(name), std::move(value));
  return Ok();
}

}  // namespace penstock::emulator::s3
