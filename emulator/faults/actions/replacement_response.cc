#include "emulator/faults/actions/replacement_response.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/request_claims.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::faults {
namespace {

using Place = s3::DeliveryStep::Place;
using Kind = s3::DeliveryStep::Kind;

// The S3 error elements besides Code and Message, as far as the request determines them.
s3::ErrorDetails DetailsOf(const s3::Exchange& exchange, std::string_view code) {
  const s3::Target& target = exchange.target;
  if (code == "NoSuchKey") return {{"Key", target.key.value}};
  if (code == "NoSuchBucket") return {{"BucketName", target.bucket.value}};
  if (code == "NoSuchUpload")
    return {{"UploadId", std::string(target.Get("uploadId").value_or(""))}};
  if (code == "InvalidAccessKeyId")
    return {{"AWSAccessKeyId", std::string(s3::ClaimedAccessKey(exchange.request, target))}};
  if (code == "ExpiredToken" || code == "InvalidToken") {
    auto token = exchange.request.Find("x-amz-security-token");
    if (!token) token = target.Get("X-Amz-Security-Token");
    return {{"Token-0", std::string(token.value_or(""))}};
  }
  return {};
}

void Respond(s3::Exchange& exchange, const std::string& code, const std::string& message,
             int status) {
  Error error = s3::MakeError(code, DetailsOf(exchange, code), message);
  error.http_status = status;
  s3::RespondWithError(exchange, error);
  if (exchange.response.status != 503) exchange.response.reason.clear();
}

std::string TextOf(const s3::Response& response) {
  const auto* const text = std::get_if<std::string>(&response.body);
  return text != nullptr ? *text : std::string();
}

void SetType(s3::Response& response, std::string_view type) {
  for (auto& [name, value] : response.headers) {
    if (name == "Content-Type") value = type;
  }
}

// Sets a header and removes others of the same name.
void Put(s3::Response& response, const std::string& name, const std::string& value) {
  std::erase_if(response.headers,
                [&](const auto& header) { return s3::EqualsIgnoreCase(header.first, name); });
  response.Add(name, value);
}

std::string JsonQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '"';
}

std::string HtmlPage(const s3::Response& response, std::string_view code) {
  const std::string title = std::to_string(response.status) + " " + std::string(code);
  return "<html>\n<head><title>" + title + "</title></head>\n<body>\n<h1>" + title +
         "</h1>\n</body>\n</html>\n";
}

// Replaces the S3 error document by a body such as proxies and load balancers send.
void ReplaceBody(s3::Response& response, const ErrorAction& action, std::string_view message) {
  if (std::holds_alternative<std::monostate>(response.body)) return;  // HEAD response.
  switch (action.body) {
    case ErrorBody::kXml: break;
    case ErrorBody::kEmpty:
      response.body = std::monostate();
      std::erase_if(response.headers,
                    [](const auto& header) { return header.first == "Content-Type"; });
      break;
    case ErrorBody::kHtml:
      SetType(response, "text/html");
      response.body = HtmlPage(response, action.code);
      break;
    case ErrorBody::kJson:
      SetType(response, "application/json");
      response.body =
          "{\"code\":" + JsonQuoted(action.code) + ",\"message\":" + JsonQuoted(message) + "}";
      break;
    case ErrorBody::kTruncatedXml: {
      const std::string whole = TextOf(response);
      response.body = whole.substr(0, whole.size() / 2);
      break;
    }
  }
}

std::string_view CodeOf(int status) {
  return status == 301 ? "PermanentRedirect" : "TemporaryRedirect";
}

}  // namespace

void ApplyError(s3::Exchange& exchange, const ErrorAction& action) {
  Respond(exchange, action.code, action.message, action.status);
  s3::Response& response = exchange.response;
  response.chunked = response.chunked && action.chunked.value_or(action.body != ErrorBody::kEmpty);
  response.close = response.close || action.close;
  const s3::ErrorInfo* const info = s3::FindErrorInfo(action.code);
  ReplaceBody(response, action,
              !action.message.empty() || info == nullptr ? std::string_view(action.message)
                                                         : info->message);
  if (action.retry_after)
    response.Add("x-amz-retry-after", std::to_string(action.retry_after->count()));
  for (const auto& [name, value] : action.headers) Put(response, name, value);
}

void ApplyLateError(s3::Exchange& exchange, const LateErrorAction& action) {
  Respond(exchange, action.code, action.message, 200);
  s3::Response& response = exchange.response;
  response.close = false;
  response.chunked = true;
  std::string document = TextOf(response);
  // After the XML declaration.
  const std::size_t begin = std::min(document.find('\n') + 1, document.size());
  constexpr std::int64_t kMaxSpaces = 3'600;
  const std::int64_t spaces =
      action.every.count() > 0 ? std::min(action.after / action.every, kMaxSpaces) : 0;
  s3::Delivery& delivery = response.Delivering();
  for (std::int64_t i = 0; i < spaces; ++i) {
    delivery.steps.push_back({.place = Place::kBody,
                              .offset = begin + static_cast<std::size_t>(i),
                              .wait = action.every});
  }
  const std::size_t end = begin + static_cast<std::size_t>(spaces);
  delivery.steps.push_back(
      {.place = Place::kBody, .offset = end, .wait = action.after - spaces * action.every});
  document.insert(begin, static_cast<std::size_t>(spaces), ' ');
  if (exchange.request.method != "HEAD") response.body = std::move(document);
}

void ApplyRedirect(s3::Exchange& exchange, const RedirectAction& action) {
  const std::string code(CodeOf(action.status));
  const std::string host(exchange.request.Find("host").value_or(std::string_view()));
  s3::ErrorDetails details;
  details.emplace_back("Endpoint",
                       action.region.empty() ? host : "s3." + action.region + ".amazonaws.com");
  details.emplace_back("Bucket", exchange.target.bucket.value);
  Error error = s3::MakeError(code, std::move(details));
  error.http_status = action.status;
  error.region = action.region;
  s3::RespondWithError(exchange, error);
  const std::string same_place = (exchange.connection.tls ? "https://" : "http://") + host +
                                 std::string(exchange.request.target);
  exchange.response.Add("Location", action.location.empty() ? same_place : action.location);
}

void RefuseCredentials(s3::Exchange& exchange, const CredentialsAction& action) {
  using Wrong = CredentialsAction::Kind;
  switch (action.kind) {
    case Wrong::kExpired: return Respond(exchange, "ExpiredToken", {}, 400);
    case Wrong::kInvalidToken: return Respond(exchange, "InvalidToken", {}, 400);
    case Wrong::kInvalidKey: return Respond(exchange, "InvalidAccessKeyId", {}, 403);
    case Wrong::kRevokedSession: return Respond(exchange, "AccessDenied", {}, 403);
  }
}

void RefuseToContinue(s3::Exchange& exchange) {
  exchange.response = s3::Response{.status = 417};
  exchange.response.close = true;
  exchange.response.error_code = "ExpectationFailed";
}

void DropConnection(s3::Exchange& exchange, const DropAction& action, std::function<void()> done) {
  exchange.response = s3::Response{.status = 0};
  AddDrop(exchange.response.Delivering(), Place::kHead, 0, action, std::move(done));
}

void AddDrop(s3::Delivery& delivery, Place place, std::uint64_t offset, const DropAction& action,
             std::function<void()> done) {
  s3::DeliveryStep step{.place = place, .offset = offset, .done = std::move(done)};
  switch (action.kind) {
    case DropKind::kReset: step.kind = Kind::kReset; break;
    case DropKind::kFin: step.kind = Kind::kFin; break;
    case DropKind::kHalfClose:
      step.kind = Kind::kHalfClose;
      step.wait = action.hang;
      break;
    case DropKind::kHang:  // The step counts as done when the silence begins.
      delivery.steps.push_back(std::move(step));
      delivery.steps.push_back({.place = place, .offset = offset, .wait = action.hang});
      step = {.place = place, .offset = offset, .kind = Kind::kFin};
      break;
  }
  delivery.steps.push_back(std::move(step));
}

}  // namespace penstock::emulator::faults
