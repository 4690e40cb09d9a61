#include "client/s3/call/call_options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/write_attributes.h"

namespace penstock::s3 {
namespace {

// Set after BuildRequest, by the signer, the attempt or the transport. A resumed read changes Range
// and If-Match.
constexpr std::array<std::string_view, 17> kOwnHeaders = {"accept-encoding",
                                                          "amz-sdk-invocation-id",
                                                          "amz-sdk-request",
                                                          "authorization",
                                                          "connection",
                                                          "content-length",
                                                          "expect",
                                                          "host",
                                                          "if-match",
                                                          "proxy-authorization",
                                                          "range",
                                                          "transfer-encoding",
                                                          "user-agent",
                                                          "x-amz-content-sha256",
                                                          "x-amz-date",
                                                          "x-amz-s3session-token",
                                                          "x-amz-security-token"};
// SSE-C keys have members, which keep them out of unencrypted connections and of error messages.
constexpr std::array<std::string_view, 2> kKeyHeaders = {
    "x-amz-server-side-encryption-customer-", "x-amz-copy-source-server-side-encryption-customer-"};
constexpr std::array<std::string_view, 7> kOwnParameters = {
    "X-Amz-Algorithm",     "X-Amz-Credential",     "X-Amz-Date",     "X-Amz-Expires",
    "X-Amz-SignedHeaders", "X-Amz-Security-Token", "X-Amz-Signature"};

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < ' ' && c != '\t') || byte == 0x7f;
}

bool SetsHeader(const WireRequest& wire, std::string_view name) {
  const auto same = [name](std::string_view other) {
    return http::EqualsIgnoringCase(name, other);
  };
  const auto starts = [name](std::string_view prefix) {
    return http::StartsWithIgnoringCase(name, prefix);
  };
  return std::ranges::any_of(kOwnHeaders, same) || std::ranges::any_of(kKeyHeaders, starts) ||
         http::FindHeader(wire.headers, name).has_value();
}

Error GivenTwice(std::string_view what, const std::string& name) {
  return InvalidRequest("the extra " + std::string(what) + " " + name +
                        " is given twice; give it once");
}

Result<void> AppendHeaders(const NameValueList& extra, WireRequest& wire) {
  const std::size_t own = wire.headers.size();
  for (const auto& [given, value] : extra) {
    const std::string& name = given;  // clang 14 captures no structured bindings
    if (!IsHeaderToken(name)) {
      return InvalidRequest("the extra header `" + name +
                            "` is not a header token; use letters, digits and -");
    }
    if (std::ranges::any_of(value, IsControl)) {
      return InvalidRequest("the extra header " + name +
                            " has a control character, for example a line break; remove it");
    }
    const auto same = [&name](const auto& one) { return http::EqualsIgnoringCase(one.name, name); };
    if (std::any_of(wire.headers.begin() + static_cast<std::ptrdiff_t>(own), wire.headers.end(),
                    same))
      return GivenTwice("header", name);
    if (SetsHeader(wire, name)) {
      return InvalidRequest("the client sets the header " + name +
                            " itself; use the member of the request or of ClientConfig for it");
    }
    wire.headers.push_back({name, value});
  }
  return Ok();
}

Result<void> AppendQuery(const NameValueList& extra, WireRequest& wire) {
  const std::size_t own = wire.query.size();
  for (const auto& [given, value] : extra) {
    const std::string& name = given;  // clang 14 captures no structured bindings
    if (name.empty()) return InvalidRequest("an extra query parameter has no name; give it one");
    const auto same = [&name](std::string_view other) {
      return http::EqualsIgnoringCase(name, other);
    };
    const auto found = std::ranges::find(
        wire.query, name, [](const auto& one) -> const auto& { return one.first; });
    const auto place = static_cast<std::size_t>(found - wire.query.begin());
    if (place >= own && place < wire.query.size()) return GivenTwice("query parameter", name);
    if (place < own || std::ranges::any_of(kOwnParameters, same)) {
      return InvalidRequest("the client sets the query parameter " + name +
                            " itself; use the member of the request for it");
    }
    wire.query.emplace_back(name, value);
  }
  return Ok();
}

}  // namespace

Result<void> ApplyCallOptions(const CallOptions& options, WireRequest& wire) {
  if (!options.expected_bucket_owner.empty()) {
    if (!TakesBucketOwner(wire.operation)) {
      return InvalidRequest(std::string(Info(wire.operation).name) +
                            " has no expected bucket owner; leave expected_bucket_owner empty");
    }
    PENSTOCK_TRY(
        AppendText("x-amz-expected-bucket-owner", options.expected_bucket_owner, wire.headers));
  }
  constexpr const char* kPayer = "x-amz-request-payer";
  if (options.requester_pays && Info(wire.operation).requester_pays &&
      wire.FindHeader(kPayer) == nullptr) {
    wire.headers.push_back({kPayer, "requester"});
  }
  if (!options.extra_headers.empty()) PENSTOCK_TRY(AppendHeaders(options.extra_headers, wire));
  if (!options.extra_query.empty()) PENSTOCK_TRY(AppendQuery(options.extra_query, wire));
  return Ok();
}

}  // namespace penstock::s3
