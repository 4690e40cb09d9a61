#include "emulator/instruments/journal_writer.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "emulator/api/claimed_key.h"
#include "emulator/instruments/instruments.h"

namespace penstock::emulator::instruments {
namespace {

class LeavingMarks final : public api::Handler {
 public:
  explicit LeavingMarks(api::Handler& next) : next_(next) {}

  void Handle(api::Exchange& exchange) override {
    next_.Handle(exchange);
    exchange.WhenAnswered([](api::Exchange& answered) {
      Instruments* const instruments = answered.space ? answered.space->instruments.get() : nullptr;
      if (instruments != nullptr && instruments->journal() != nullptr) answered.journal_mark = instruments->journal()->BeginLeaving();
    });
  }

 private:
  api::Handler& next_;
};

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "bytes 0-99/1000"
std::optional<ByteRange> ParseContentRange(std::string_view header) {
  constexpr std::string_view kUnit = "bytes ";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  const std::size_t slash = header.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) return std::nullopt;
  const auto first = ParseNumber(header.substr(0, dash));
  const auto last = ParseNumber(header.substr(dash + 1, slash - dash - 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return ByteRange{*first, *last + 1};
}

std::uint64_t BodySize(const api::Response& response) {
  if (response.content_length) return *response.content_length;
  if (const auto* text = std::get_if<std::string>(&response.body)) return text->size();
  if (const auto* content = std::get_if<store::Content>(&response.body)) return content->size();
  return 0;
}

std::optional<ByteRange> AnsweredRange(const api::Exchange& exchange) {
  if (exchange.operation != "GetObject") return std::nullopt;
  const api::Response& response = exchange.response;
  if (response.status == 206) return ParseContentRange(response.Find("Content-Range").value_or(std::string_view()));
  return response.status == 200 ? std::optional(ByteRange{0, BodySize(response)}) : std::nullopt;
}

bool IsChecksum(std::string_view name) {
  constexpr std::string_view kPrefix = "x-amz-checksum-";
  constexpr std::string_view kMd5 = "content-md5";
  const auto begins = [name](std::string_view with) {
    return name.size() >= with.size() && std::equal(with.begin(), with.end(), name.begin(), [](char left, char right) {
             return left == (right >= 'A' && right <= 'Z' ? right - 'A' + 'a' : right);
           });
  };
  return begins(kPrefix) || (name.size() == kMd5.size() && begins(kMd5));
}

void AddPair(std::string& list, std::string_view name, std::string_view value) {
  if (!list.empty()) list += ',';
  std::transform(name.begin(), name.end(), std::back_inserter(list), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  list += '=';
  list += value;
}

// As headers of the request; a trailer's name is announced in one, its value is the answer's where that has it.
std::string ChecksumsOf(const api::Exchange& exchange) {
  std::string list;
  for (const api::HeaderView& header : exchange.request.headers) {
    if (IsChecksum(header.name)) AddPair(list, header.name, header.value);
  }
  if (const auto trailer = exchange.request.Find("x-amz-trailer"); trailer && IsChecksum(*trailer)) {
    AddPair(list, *trailer, exchange.response.Find(*trailer).value_or(std::string_view("trailer")));
  }
  return list;
}

std::string_view PayloadOf(const api::Exchange& exchange) {
  const std::string_view claim = exchange.request.Find("x-amz-content-sha256").value_or(std::string_view());
  if (claim.empty() || claim.starts_with("STREAMING-")) return claim;
  return claim == "UNSIGNED-PAYLOAD" ? "unsigned" : "signed";
}

std::uint32_t AttemptOf(const api::RequestHead& head) {
  constexpr std::string_view kMark = "attempt=";
  const std::string_view header = head.Find("amz-sdk-request").value_or(std::string_view());
  const std::size_t at = header.find(kMark);
  if (at == std::string_view::npos) return 1;
  const std::string_view number = header.substr(at + kMark.size());
  const auto attempt = ParseNumber(number.substr(0, number.find_first_of("; ")));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(attempt.value_or(1), UINT32_MAX));
}

}  // namespace

std::unique_ptr<api::Handler> MakeLeavingMarks(api::Handler& next) { return std::make_unique<LeavingMarks>(next); }

void WriteDown(const api::Exchange& exchange, MonotonicTime now) {
  Instruments* const instruments = exchange.space ? exchange.space->instruments.get() : nullptr;
  journal::Journal* const journal = instruments != nullptr ? instruments->journal() : nullptr;
  if (journal == nullptr) return;
  const api::RequestHead& head = exchange.request;
  const auto header = [&head](std::string_view name) { return head.Find(name).value_or(std::string_view()); };
  const std::string checksums = ChecksumsOf(exchange);
  const std::string faults = exchange.notes ? exchange.notes->FiredRules() : std::string();
  journal::Entry entry{.received = exchange.received,
                       .began = exchange.began - instruments->opened(),
                       .ended = now - instruments->opened(),
                       .connection = exchange.connection.id,
                       .requests_before = exchange.connection.requests_before,
                       .tls = exchange.connection.tls,
                       .ending = exchange.whole ? journal::Ending::kAnswered : journal::Ending::kBroken,
                       .status = exchange.response.status,
                       .attempt = AttemptOf(head),
                       .bytes_in = exchange.bytes_in,
                       .bytes_out = exchange.bytes_out,
                       .range = AnsweredRange(exchange),
                       .method = head.method,
                       .target = head.target,
                       .operation = exchange.operation,
                       .bucket = exchange.target.bucket.value,
                       .key = exchange.target.key.value,
                       .access_key = exchange.identity.access_key_id,
                       .invocation = header("amz-sdk-invocation-id"),
                       .user_agent = header("user-agent"),
                       .peer = exchange.connection.peer,
                       .request_id = exchange.request_id,
                       .error_code = exchange.response.error_code,
                       .faults = faults,
                       .checksums = checksums,
                       .payload = PayloadOf(exchange)};
  journal->Append(entry, exchange.journal_mark);
}

}  // namespace penstock::emulator::instruments
