#include "emulator/faults/rules/request_properties.h"

#include <initializer_list>

#include "emulator/s3/core/request_claims.h"
#include "emulator/s3/protocol/text.h"
#include "emulator/traffic/request_work.h"

namespace penstock::emulator::faults {
namespace {

std::optional<RequestProperties::Range> ParseRange(std::string_view header) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const RequestProperties::Range range{.first = s3::ParseDecimal(header.substr(0, dash)),
                                       .last_inclusive = s3::ParseDecimal(header.substr(dash + 1))};
  const bool first_is_wrong = dash > 0 && !range.first;
  const bool last_is_wrong = dash + 1 < header.size() && !range.last_inclusive;
  if (first_is_wrong || last_is_wrong || (!range.first && !range.last_inclusive))
    return std::nullopt;
  return range;
}

// The headers that properties are read from. The first header of each name counts.
struct Claims {
  using Value = std::optional<std::string_view>;
  Value range;
  Value user_agent;
  Value length;
  Value decoded_length;
  Value invocation;
  Value sdk_request;
  Value rank;
};

// Reads all headers in one pass. The length of a name selects at most two candidates.
Claims ClaimsOf(const s3::RequestHead& head) {
  Claims claims;
  const auto keep = [](const s3::HeaderView& header, std::string_view name, Claims::Value& value) {
    if (!value && s3::EqualsIgnoreCase(header.name, name)) value = header.value;
  };
  for (const s3::HeaderView& header : head.headers) {
    switch (header.name.size()) {
      case std::string_view("range").size(): keep(header, "range", claims.range); break;
      case std::string_view("user-agent").size():
        keep(header, "user-agent", claims.user_agent);
        break;
      case std::string_view("content-length").size():
        keep(header, "content-length", claims.length);
        break;
      case std::string_view("amz-sdk-request").size():
        keep(header, "amz-sdk-request", claims.sdk_request);
        keep(header, "x-penstock-rank", claims.rank);
        break;
      case std::string_view("amz-sdk-invocation-id").size():
        keep(header, "amz-sdk-invocation-id", claims.invocation);
        break;
      case std::string_view("x-amz-decoded-content-length").size():
        keep(header, "x-amz-decoded-content-length", claims.decoded_length);
        break;
      default: break;
    }
  }
  return claims;
}

std::string_view AddressOf(const RequestProperties& properties) {
  const std::string_view peer = properties.exchange->connection.peer;
  return peer.substr(0, peer.rfind(':'));
}

std::string Joined(std::string begin, std::initializer_list<std::string_view> pieces) {
  for (const std::string_view piece : pieces) {
    begin += '\0';
    begin += piece;
  }
  return begin;
}

std::string_view RangeHeaderOf(const RequestProperties& properties) {
  return properties.exchange->request.Find("range").value_or(std::string_view());
}

}  // namespace

std::optional<std::string_view> ClaimedSessionToken(const s3::Exchange& exchange) {
  for (const std::string_view name : {"x-amz-s3session-token", "x-amz-security-token"}) {
    if (const auto token = exchange.request.Find(name)) return token;
  }
  for (const s3::QueryParameter& parameter : exchange.target.query) {
    for (const std::string_view name : {"X-Amz-S3session-Token", "X-Amz-Security-Token"}) {
      if (s3::EqualsIgnoreCase(parameter.name, name)) return parameter.value;
    }
  }
  return std::nullopt;
}

RequestProperties PropertiesOf(const s3::Exchange& exchange) {
  const s3::RequestHead& head = exchange.request;
  const Claims claims = ClaimsOf(head);
  RequestProperties properties{.operation = exchange.operation,
                               .method = head.method,
                               .bucket = exchange.target.bucket.value,
                               .key = traffic::KeyAsked(exchange),
                               .access_key = s3::ClaimedAccessKey(head, exchange.target),
                               .user_agent = claims.user_agent.value_or(std::string_view()),
                               .invocation = claims.invocation.value_or(std::string_view()),
                               .exchange = &exchange};
  properties.directory_bucket = properties.bucket.ends_with("--x-s3");
  if (const auto part = exchange.target.Get("partNumber"))
    properties.part = s3::ParseDecimal(*part);
  if (claims.range) properties.range = ParseRange(*claims.range);
  if (claims.decoded_length) properties.size = s3::ParseDecimal(*claims.decoded_length);
  if (!properties.size && claims.length) properties.size = s3::ParseDecimal(*claims.length);
  if (claims.sdk_request) properties.attempt = s3::ClaimedAttempt(*claims.sdk_request).value_or(1);
  properties.rank =
      s3::ClaimedRank(claims.rank.value_or(std::string_view()), properties.user_agent);
  return properties;
}

std::string ClientOf(const RequestProperties& properties) {
  return std::string(properties.access_key.empty() ? AddressOf(properties) : properties.access_key);
}

std::string AttemptIdentity(const RequestProperties& properties) {
  const std::string rank = properties.rank ? std::to_string(*properties.rank) : std::string();
  const s3::Target& target = properties.exchange->target;
  return Joined(std::string(properties.access_key),
                {AddressOf(properties), rank, properties.method, properties.bucket, target.raw_path,
                 target.raw_query, RangeHeaderOf(properties)});
}

}  // namespace penstock::emulator::faults
