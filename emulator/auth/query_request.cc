#include "emulator/auth/query_request.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/auth/signature/claim.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::string_view kScopeEnd = "/sts/aws4_request";
constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

bool NamesSts(std::optional<std::string_view> text) {
  return text && text->find(kScopeEnd) != std::string_view::npos;
}

bool IsForm(const s3::RequestHead& request) {
  const auto type = request.Find("content-type");
  return type && s3::StartsWithIgnoreCase(*type, kFormType);
}

Error Malformed(int status, std::string_view code, std::string message) {
  Error error = s3::MakeError(code, {}, std::move(message));
  error.kind = ErrorKind::kInvalidArgument;
  error.http_status = status;
  return error;
}

Result<std::string> ReadBody(s3::Exchange& exchange) {
  std::string body;
  if (exchange.body == nullptr) return body;
  std::array<std::byte, 8 << 10> buffer;
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, exchange.body->Read(buffer));
    if (count == 0) return body;
    if (body.size() + count > kMaxQueryBodyBytes) {
      return Malformed(413, "RequestEntityTooLarge",
                       "The body of a request to STS is limited to 64 KiB.");
    }
    body.append(reinterpret_cast<const char*>(buffer.data()), count);
  }
}

}  // namespace

std::optional<std::string_view> QueryRequest::Get(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [name](const auto& each) { return each.first == name; });
  if (found == parameters.end()) return std::nullopt;
  return found->second;
}

std::optional<QueryParameters> ParseQueryParameters(std::string_view text) {
  QueryParameters parameters;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = s3::PercentDecode(pair.substr(0, equals), {.plus_is_space = true});
    auto value =
        s3::PercentDecode(pair.substr(std::min(pair.size(), equals + 1)), {.plus_is_space = true});
    if (!name || !value) return std::nullopt;
    parameters.emplace_back(*std::move(name), *std::move(value));
  }
  return parameters;
}

bool IsStsRequest(const s3::Exchange& exchange) {
  const s3::Target& target = exchange.target;
  if (!target.bucket.empty() || !target.key.empty()) return false;
  const s3::RequestHead& request = exchange.request;
  const auto authorization = request.Find("authorization");
  if (authorization) return NamesSts(authorization);
  if (const auto credential = target.Get("X-Amz-Credential")) return NamesSts(credential);
  if (request.method == "POST") return IsForm(request);
  return request.method == "GET" && target.Has("Action") && target.Has("Version");
}

Result<void> ReadQueryRequest(s3::Exchange& exchange) {
  auto& query = exchange.Attach<QueryRequest>();
  exchange.resolved = nullptr;
  exchange.operation.clear();
  PENSTOCK_ASSIGN(query.body, ReadBody(exchange));
  query.payload_hash = HexEncode(Sha256(AsBytes(query.body)));
  const bool posted = exchange.request.method == "POST";
  if (posted && !IsForm(exchange.request) && !query.body.empty()) {
    return Malformed(400, "MalformedQueryString",
                     "A request to STS is a form: send Content-Type: " + std::string(kFormType));
  }
  for (const std::string_view text :
       {std::string_view(exchange.target.raw_query), std::string_view(query.body)}) {
    auto parameters = ParseQueryParameters(text);
    if (!parameters) {
      return Malformed(400, "MalformedQueryString",
                       "The query string or the form has a malformed percent-encoding.");
    }
    for (auto& parameter : *parameters) {
      if (!IsSignatureParameter(parameter.first)) query.parameters.push_back(std::move(parameter));
    }
  }
  // Only known names, because counters keep one entry for each.
  const std::string_view action = query.Get("Action").value_or(std::string_view());
  if (std::find(std::begin(s3::kStsOperations), std::end(s3::kStsOperations), action) !=
      std::end(s3::kStsOperations))
    exchange.operation = action;
  return Ok();
}

}  // namespace penstock::emulator::auth
