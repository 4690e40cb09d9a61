#include "emulator/journal/journal_writer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "emulator/journal/header_capture.h"
#include "emulator/journal/target_secrets.h"
#include "emulator/s3/authorization/decisions.h"
#include "emulator/s3/core/request_claims.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::journal {
namespace {

class InFlightTracker final : public s3::Filter {
 public:
  explicit InFlightTracker(JournalOf journal_of) : journal_of_(std::move(journal_of)) {}

  void OnResponse(s3::Exchange& exchange) override {
    if (Journal* const journal = journal_of_(exchange))
      exchange.Attach<EntryPlace>(journal->BeginLeaving());
  }

 private:
  const JournalOf journal_of_;
};

// Parses "bytes 0-99/1000".
std::optional<ByteRange> ParseContentRange(std::string_view header) {
  constexpr std::string_view kUnit = "bytes ";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  const std::size_t slash = header.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash)
    return std::nullopt;
  const auto first = s3::ParseDecimal(header.substr(0, dash));
  const auto last = s3::ParseDecimal(header.substr(dash + 1, slash - dash - 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return ByteRange{*first, *last + 1};
}

std::optional<ByteRange> ResponseRange(const s3::Exchange& exchange) {
  if (exchange.operation != "GetObject") return std::nullopt;
  const s3::Response& response = exchange.response;
  if (response.status == 206)
    return ParseContentRange(response.Find("Content-Range").value_or(std::string_view()));
  if (response.status != 200) return std::nullopt;
  return ByteRange{0, response.content_length ? *response.content_length : s3::BodySize(response)};
}

bool IsChecksum(std::string_view name) {
  return s3::StartsWithIgnoreCase(name, "x-amz-checksum-") ||
         s3::EqualsIgnoreCase(name, "content-md5");
}

void AddPair(std::string& list, std::string_view name, std::string_view value) {
  if (!list.empty()) list += ',';
  list += AsciiLower(name);
  list += '=';
  list += value;
}

std::uint32_t AttemptOf(std::string_view sdk_request) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(s3::ClaimedAttempt(sdk_request).value_or(1), UINT32_MAX));
}

std::string_view PayloadOf(std::string_view claim) {
  if (claim.empty() || claim.starts_with("STREAMING-")) return claim;
  return claim == "UNSIGNED-PAYLOAD" ? "unsigned" : "signed";
}

// The headers that an entry records, read in one pass because this runs for every request. The
// first header of each name counts.
struct LogHeaders {
  std::string_view invocation;
  std::string_view attempt;  // From amz-sdk-request.
  std::string_view rank;     // From x-penstock-rank.
  std::string_view user_agent;
  std::string_view payload;
  std::string_view trailer;
};

LogHeaders ReadLogHeaders(const std::vector<s3::HeaderView>& headers, std::string& checksums) {
  LogHeaders found;
  const auto is = [](const s3::HeaderView& header, std::string_view name, std::string_view& value) {
    if (value.empty() && s3::EqualsIgnoreCase(header.name, name)) value = header.value;
  };
  for (const s3::HeaderView& header : headers) {
    switch (header.name.size()) {
      case std::string_view("user-agent").size(): is(header, "user-agent", found.user_agent); break;
      case std::string_view("x-amz-trailer").size():
        is(header, "x-amz-trailer", found.trailer);
        break;
      case std::string_view("amz-sdk-request").size():
        is(header, "amz-sdk-request", found.attempt);
        is(header, "x-penstock-rank", found.rank);
        break;
      case std::string_view("x-amz-content-sha256").size():
        is(header, "x-amz-content-sha256", found.payload);
        break;
      case std::string_view("amz-sdk-invocation-id").size():
        is(header, "amz-sdk-invocation-id", found.invocation);
        break;
      default: break;
    }
    if (IsChecksum(header.name)) AddPair(checksums, header.name, header.value);
  }
  return found;
}

// The signature of a chunk is checked after authentication.
RequestSignature SignatureOf(const s3::Exchange& exchange) {
  RequestSignature signature = exchange.signature;
  if (signature.verdict == SignatureVerdict::kValid &&
      exchange.response.error_code == "SignatureDoesNotMatch")
    signature.verdict = SignatureVerdict::kInvalid;
  return signature;
}

// Calls `write` with an entry for the current state of the request. `faults`: the rules that fired
// for it.
template <class Write>
void WithEntry(const s3::Exchange& exchange, MonotonicTime opened, std::string_view faults,
               Write write) {
  // The entry holds views of these strings. They are thread-local to reuse their memory.
  thread_local std::string checksums;
  thread_local std::string method;
  thread_local std::string target;
  thread_local std::string bucket;
  thread_local std::string key;
  thread_local std::string invocation;
  thread_local std::string user_agent;
  checksums.clear();
  const LogHeaders headers = ReadLogHeaders(exchange.request.headers, checksums);
  // The name of a trailer is announced in a header. Its value is that of the response, if present.
  if (IsChecksum(headers.trailer))
    AddPair(checksums, headers.trailer,
            exchange.response.Find(headers.trailer).value_or(std::string_view("trailer")));
  const std::string authorization = s3::Decisions::Of(exchange);
  Entry entry{.received = exchange.received,
              .began = exchange.began - opened,
              .ended = exchange.ended - opened,
              .connection = exchange.connection.id,
              .requests_before = exchange.connection.requests_before,
              .tls = exchange.connection.tls,
              .ending = exchange.whole ? Ending::kAnswered : Ending::kBroken,
              .status = exchange.response.status,
              .attempt = AttemptOf(headers.attempt),
              .bytes_in = exchange.bytes_in,
              .bytes_out = exchange.bytes_out,
              .range = ResponseRange(exchange),
              .rank = s3::ClaimedRank(headers.rank, headers.user_agent),
              .method = WithoutSecrets(exchange.request.method, method),
              .target = WithoutSecrets(exchange.request.target, target),
              .operation = exchange.operation,
              .bucket = WithoutSecrets(exchange.target.bucket.value, bucket),
              .key = WithoutSecrets(exchange.target.key.value, key),
              .access_key = exchange.identity.access_key_id,
              .invocation = FreeTextWithoutSecrets(headers.invocation, invocation),
              .user_agent = FreeTextWithoutSecrets(headers.user_agent, user_agent),
              .peer = exchange.connection.peer,
              .request_id = exchange.request_id,
              .error_code = exchange.response.error_code,
              .faults = faults,
              .checksums = checksums,
              .authorization = authorization,
              .payload = PayloadOf(headers.payload),
              .signature = SignatureOf(exchange)};
  write(entry);
}

// Appends the entry, during a capture with its headers.
std::uint64_t Append(Journal& journal, const s3::Exchange& exchange, Entry& entry,
                     std::uint64_t mark, std::size_t room) {
  if (!journal.Captures(exchange.ended)) return journal.Append(entry, mark, room);
  const CapturedHeaders captured =
      CaptureHeaders(exchange.request.headers, exchange.sent_head, Journal::kMostHeaderBytes);
  entry.request_headers = captured.request;
  entry.response_headers = captured.response;
  entry.headers_left_out = captured.left_out;
  return journal.Append(entry, mark, room);
}

std::string FiredRules(const s3::Exchange& exchange) {
  return exchange.notes ? exchange.notes->FiredRules() : std::string();
}

}  // namespace

std::unique_ptr<s3::Filter> MakeInFlightTracker(JournalOf journal_of) {
  return std::make_unique<InFlightTracker>(std::move(journal_of));
}

void RecordEntry(Journal& journal, s3::Exchange& exchange) {
  EntryPlace* place = exchange.Find<EntryPlace>();
  if (place == nullptr) place = &exchange.Attach<EntryPlace>(0);
  if (place->number > 0) return;
  const std::string faults = FiredRules(exchange);
  // A rule may still fire after the end of the response.
  const std::size_t room = exchange.notes ? exchange.notes->MostFiredBytes() - faults.size() : 0;
  WithEntry(exchange, journal.opened(), faults, [&](Entry& entry) {
    place->number = Append(journal, exchange, entry, place->mark, room);
  });
  place->ended = exchange.ended;
  place->faults_bytes = faults.size();
}

void WriteEnd(Journal& journal, const s3::Exchange& exchange) {
  const EntryPlace* const place = exchange.Find<EntryPlace>();
  const std::uint64_t number = place != nullptr ? place->number : 0;
  const std::string faults = FiredRules(exchange);
  if (number > 0 && exchange.whole && exchange.ended == place->ended &&
      faults.size() == place->faults_bytes)
    return;
  WithEntry(exchange, journal.opened(), faults, [&](Entry& entry) {
    if (number > 0) return journal.Amend(number, entry);
    Append(journal, exchange, entry, place != nullptr ? place->mark : 0, 0);
  });
}

}  // namespace penstock::emulator::journal
