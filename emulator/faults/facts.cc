#include "emulator/faults/facts.h"

#include <charconv>

#include "emulator/api/claimed_key.h"

namespace penstock::emulator::faults {
namespace {

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What follows `mark` in `text`, up to one of `ends`.
std::optional<std::string_view> Following(std::string_view text, std::string_view mark, std::string_view ends) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find_first_of(ends));
}

std::optional<std::uint64_t> NumberFollowing(std::string_view text, std::string_view mark, std::string_view ends) {
  const std::optional<std::string_view> found = Following(text, mark, ends);
  return found ? ParseNumber(*found) : std::nullopt;
}

std::optional<Facts::Range> ParseRange(std::string_view header) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const Facts::Range range{.first = ParseNumber(header.substr(0, dash)), .last_inclusive = ParseNumber(header.substr(dash + 1))};
  const bool first_is_wrong = dash > 0 && !range.first;
  const bool last_is_wrong = dash + 1 < header.size() && !range.last_inclusive;
  if (first_is_wrong || last_is_wrong || (!range.first && !range.last_inclusive)) return std::nullopt;
  return range;
}

std::optional<std::uint64_t> NumberIn(const api::RequestHead& head, std::string_view name) {
  const std::optional<std::string_view> value = head.Find(name);
  return value ? ParseNumber(*value) : std::nullopt;
}

}  // namespace

Facts FactsOf(const api::Exchange& exchange) {
  const api::RequestHead& head = exchange.request;
  const auto header = [&head](std::string_view name) { return head.Find(name).value_or(std::string_view()); };
  Facts facts{.operation = exchange.operation,
              .method = head.method,
              .bucket = exchange.target.bucket.value,
              .key = exchange.target.key.value,
              .access_key = api::ClaimedAccessKey(head, exchange.target),
              .user_agent = header("user-agent"),
              .invocation = header("amz-sdk-invocation-id"),
              .exchange = &exchange};
  facts.directory_bucket = facts.bucket.ends_with("--x-s3");
  if (const auto part = exchange.target.Get("partNumber")) facts.part = ParseNumber(*part);
  facts.range = ParseRange(header("range"));
  facts.size = NumberIn(head, "x-amz-decoded-content-length");
  if (!facts.size) facts.size = NumberIn(head, "content-length");
  facts.attempt = NumberFollowing(header("amz-sdk-request"), "attempt=", "; ").value_or(1);
  facts.rank = NumberIn(head, "x-penstock-rank");
  if (!facts.rank) facts.rank = NumberFollowing(facts.user_agent, "rank/", " ;,)");
  return facts;
}

std::string RequestIdentity(const Facts& facts) {
  const std::string part = facts.part ? std::to_string(*facts.part) : std::string();
  std::string identity(facts.operation.empty() ? facts.method : facts.operation);
  for (const std::string_view piece : {facts.bucket, facts.key, std::string_view(part),
                                       facts.exchange->request.Find("range").value_or(std::string_view())}) {
    identity += '\0';
    identity += piece;
  }
  return identity;
}

}  // namespace penstock::emulator::faults
