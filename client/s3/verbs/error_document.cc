#include "client/s3/verbs/error_document.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/dates.h"
#include "base/text/redact.h"
#include "client/http/connect/environment_proxy.h"
#include "client/s3/endpoint/bucket_name.h"

namespace penstock::s3 {
namespace {

std::string HeaderText(const http::ResponseHead& head, std::string_view name) {
  return std::string(head.Find(name).value_or(std::string_view{}));
}

std::optional<std::chrono::milliseconds> ReadRetryAfter(const http::ResponseHead& head) {
  long long number = 0;
  const auto parse = [&number](std::string_view text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && number >= 0 &&
           number < 1'000'000'000;
  };
  if (const auto text = head.Find("x-amz-retry-after"); text && parse(*text))
    return std::chrono::milliseconds(number);
  const auto text = head.Find("retry-after");
  if (!text) return std::nullopt;
  if (parse(*text)) return std::chrono::seconds(number);
  // The date form, relative to the server's clock.
  const auto until = ParseHttpDate(*text);
  const auto now = ParseHttpDate(HeaderText(head, "date"));
  if (!until || !now || *until < *now) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*until - *now);
}

Error FromHead(const http::ResponseHead& head) {
  Error error;
  error.http_status = head.status;
  error.request_id = HeaderText(head, "x-amz-request-id");
  error.host_id = HeaderText(head, "x-amz-id-2");
  error.region = HeaderText(head, "x-amz-bucket-region");
  error.retry_after = ReadRetryAfter(head);
  return error;
}

void FillFromDocument(const XmlElement& root, Error& error) {
  for (const XmlElement& child : root.Children()) {
    const std::string_view name = child.name();
    const std::string text = child.text();
    if (name == "Code") {
      error.code = text;
    } else if (name == "Message") {
      error.message = text;
    } else if (name == "RequestId") {
      if (error.request_id.empty()) error.request_id = text;
    } else if (name == "HostId") {
      if (error.host_id.empty()) error.host_id = text;
    } else {
      // Do not log signature material and tokens that S3 echoes.
      const bool secret = internal::NamesSecret(name) || name.starts_with("Token-") ||
                          name.starts_with("StringToSign");
      if (!secret) error.details.emplace_back(std::string(name), text);
    }
    if (name == "Region" && error.region.empty()) error.region = text;
  }
}

// Removes a region that is not a valid host label, so that no request is sent to it or signed for
// it. Returns the removed text.
std::string TakeBadRegion(Error& error) {
  if (error.region.empty() || IsHostLabel(error.region)) return {};
  return std::exchange(error.region, {});
}

void Classify(Error& error) {
  const std::string bad_region = TakeBadRegion(error);
  const auto by_code = KindOfCode(error.code);
  // AuthorizationHeaderMalformed with a region means that the request was signed for the wrong
  // region, not with wrong credentials.
  const bool other_region = error.code == "AuthorizationHeaderMalformed" && !error.region.empty();
  error.kind =
      other_region ? ErrorKind::kWrongRegion : by_code.value_or(KindOfStatus(error.http_status));
  if (error.code.empty()) error.code = std::to_string(error.http_status);
  if (error.message.empty()) error.message = StatusText(error.http_status);
  if (!bad_region.empty())
    error.message +=
        " (the response names the region `" + bad_region + "`, which is not a valid region name)";
}

}  // namespace

std::string Shortened(std::string_view text, std::size_t max_bytes) {
  std::string begin(text.substr(0, max_bytes));
  return text.size() <= max_bytes ? begin : begin + "...";
}

void LimitTexts(Error& error, const RequestSecrets& secrets) {
  constexpr std::size_t kLongestName = 256;  // S3's codes have at most 60 characters, its ids 76.
  constexpr std::size_t kLongestText = 2048;
  constexpr std::size_t kMaxDetails = 32;
  const http::ProxySecrets proxies;
  const auto limit = [&](std::string& text, std::size_t most) {
    if (secrets.credentials != nullptr) {
      internal::RedactValue(text, secrets.credentials->session_token);
      internal::RedactValue(text, secrets.credentials->secret_access_key);
    }
    internal::RedactValue(text, secrets.signature);
    internal::RedactValue(text, secrets.customer_key);
    internal::RedactValue(text, secrets.source_customer_key);
    proxies.Redact(text);
    text = Redact(text);
    if (text.size() > most) text = Shortened(text, most);
  };
  for (std::string* name : {&error.code, &error.request_id, &error.host_id, &error.region})
    limit(*name, kLongestName);
  limit(error.message, kLongestText);
  if (error.details.size() > kMaxDetails) error.details.resize(kMaxDetails);
  for (auto& [name, text] : error.details) {
    limit(name, kLongestName);
    limit(text, kLongestText);
  }
}

Error ReadErrorElement(const http::ResponseHead& head, const XmlElement& root) {
  Error error = FromHead(head);
  FillFromDocument(root, error);
  Classify(error);
  // The operation failed after S3 sent the 200. Unknown codes count as the 500 that S3 could no
  // longer send.
  if (head.status < 300 && !KindOfCode(error.code)) error.kind = ErrorKind::kUnavailable;
  return error;
}

std::string WithoutNulReferences(std::string_view body) {
  constexpr std::string_view kReplacement = "&#xFFFD;";
  std::string out;
  for (;;) {
    const std::size_t begin = body.find("&#");
    out.append(body.substr(0, begin));
    if (begin == std::string_view::npos) return out;
    body.remove_prefix(begin);
    const std::size_t digits = body.starts_with("&#x") ? 3 : 2;
    const std::size_t end = std::min(body.find_first_not_of('0', digits), body.size());
    const bool is_nul = end > digits && body.substr(end).starts_with(';');
    out.append(is_nul ? kReplacement : body.substr(0, end));
    body.remove_prefix(is_nul ? end + 1 : end);
  }
}

Error ReadErrorResponse(const http::ResponseHead& head, std::string_view body) {
  Error error = FromHead(head);
  if (!body.empty()) {
    const auto document = XmlDocument::Parse(WithoutNulReferences(body));
    if (document.ok() && document->root().name() == "Error")
      FillFromDocument(document->root(), error);
  }
  if (head.status == 416) {
    const bool known =
        std::any_of(error.details.begin(), error.details.end(),
                    [](const auto& detail) { return detail.first == "ActualObjectSize"; });
    const std::string range = HeaderText(head, "content-range");  // "bytes */size"
    if (!known && range.starts_with("bytes */"))
      error.details.emplace_back("ActualObjectSize", range.substr(8));
    if (error.code.empty()) error.code = "InvalidRange";
  }
  if (head.status == 304) {
    for (const char* name : {"ETag", "Last-Modified"}) {
      if (const auto value = head.Find(name)) error.details.emplace_back(name, *value);
    }
  }
  // GET and HEAD of a delete marker: 404, or 405 with its version id.
  if (head.Find("x-amz-delete-marker") == "true") {
    error.details.emplace_back("DeleteMarker", "true");
    error.details.emplace_back("VersionId", HeaderText(head, "x-amz-version-id"));
  }
  Classify(error);
  return error;
}

}  // namespace penstock::s3
