// What clients asked of an emulator: every request as an entry, and questions about them.
#ifndef PENSTOCK_JOURNAL_H_
#define PENSTOCK_JOURNAL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator {

namespace journal {
class Journal;
namespace internal {
struct Block;
}  // namespace internal
}  // namespace journal

// How a request ended for the server.
enum class Ending : std::uint8_t {
  kAnswered,  // the whole answer left
  kBroken,    // the connection ended before: by the client, or because a fault ended it
};

// One request. `Text` is std::string in an entry that owns its texts, std::string_view in one that
// looks into a JournalReading.
template <class Text>
struct BasicJournalEntry {
  std::uint64_t number = 0;  // from 1 on, in the order in which requests ended
  WallTime received{};       // by the namespace's clock
  // Since the namespace's beginning or last reset, by the machine's monotonic clock.
  std::chrono::nanoseconds began{};
  std::chrono::nanoseconds ended{};
  std::uint64_t connection = 0;
  std::uint64_t requests_before = 0;  // on the same connection
  bool tls = false;
  Ending ending = Ending::kAnswered;
  int status = 0;
  std::uint32_t attempt = 1;  // as the client says
  // Of the bodies, as they were on the wire. A refusal may leave before its request's body was
  // read: what was by then.
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  // of the object that the answer covers; unset: not a read of an object's bytes
  std::optional<ByteRange> range;
  Text method{};
  Text target{};     // as on the request line; "***" in place of signatures and tokens
  Text operation{};  // "GetObject"; empty: none of S3's
  Text bucket{};
  Text key{};
  Text access_key{};  // of the identity; empty: anonymous, or refused before it was known
  Text invocation{};  // amz-sdk-invocation-id
  Text user_agent{};
  Text peer{};
  Text request_id{};
  Text error_code{};  // "NoSuchKey"
  Text faults{};      // ids of the rules that fired, with commas between
  // what the request sent, "x-amz-checksum-crc32=...,content-md5=...", as headers or trailers
  Text checksums{};
  // x-amz-content-sha256's kind: "signed", "unsigned", "STREAMING-..."; empty: none
  Text payload{};

  std::chrono::nanoseconds lasted() const { return ended - began; }
};
using JournalEntry = BasicJournalEntry<std::string>;
using JournalEntryView = BasicJournalEntry<std::string_view>;

// Which entries. Unset: whatever it is. What is set must all hold.
struct JournalFilter {
  std::vector<std::string> operations = {};  // any of them; empty: every one
  std::optional<std::string> bucket = std::nullopt;
  std::optional<std::string> key = std::nullopt;
  std::optional<std::string> key_prefix = std::nullopt;
  std::optional<std::string> method = std::nullopt;
  std::optional<std::string> access_key = std::nullopt;
  std::optional<std::string> invocation = std::nullopt;
  std::optional<std::string> fault = std::nullopt;  // a rule that fired
  std::optional<std::uint64_t> connection = std::nullopt;
  // 503; a class: 5 for 500 to 599; 0: no answer was made
  std::optional<int> status = std::nullopt;
  std::optional<bool> retried = std::nullopt;  // attempt beyond the first
  std::uint64_t after = 0;                     // entries behind this number
};

// kInvalidArgument for one that cannot select anything: no operation of S3's, no status, a method
// in lower case. A question of a JournalReading with such a filter ends the program with the
// reason: an answer would hold whatever happened.
Result<void> CheckJournalFilter(const JournalFilter& filter);

// {"operations": ["GetObject"], "key_prefix": "a/", "status": 5}: members named as JournalFilter's.
// kInvalidArgument names one that is wrong.
Result<JournalFilter> ParseJournalFilter(std::string_view json);

// What successful reads of one object fetched. The answers' ranges, not the requests': what was
// beyond the object's end was not fetched, nor what had not left the emulator when the connection
// ended.
struct RangeReport {
  std::vector<ByteRange> fetched;   // as answered, in order of their beginnings
  std::vector<ByteRange> covered;   // their union
  std::uint64_t fetched_bytes = 0;  // the sum, bytes fetched twice counted twice
  std::uint64_t covered_bytes = 0;
  std::uint64_t overlap_bytes = 0;  // fetched_bytes - covered_bytes
  // Against what was wanted, where the question says it.
  std::vector<ByteRange> missing;     // wanted and not covered
  std::uint64_t over_read_bytes = 0;  // covered and not wanted
};

// Requests of one invocation id.
struct Invocation {
  std::string id;
  // Of its requests, each, in the order in which they ended.
  std::vector<std::uint64_t> entries;  // numbers
  std::vector<int> statuses;
  std::vector<std::chrono::nanoseconds> began;  // as entries' `began`
};

// A namespace's journal as it was at one moment: its entries, oldest first, and questions about
// those that a filter selects. It keeps the journal's memory of that moment alive.
//
// Thread safety: as a value.
class JournalReading {
 public:
  // The entry's texts live as long as the reading. Ends early where `look` returns false.
  void ForEach(const std::function<bool(const JournalEntryView&)>& look) const;
  // Those that `filter` selects, at most `limit`, the oldest.
  std::vector<JournalEntry> Entries(const JournalFilter& filter = {},
                                    std::size_t limit = SIZE_MAX) const;

  std::uint64_t size() const;
  // Entries that the journal had to drop to stay within its memory: the oldest. What was cleared is
  // not among them.
  std::uint64_t dropped() const { return dropped_; }
  // Of these how many may have been what `filter` selects: a question about it is answered without
  // them, so that it proves nothing about what did not happen. More journal_bytes (EmulatorOptions)
  // keep more; so does a filter that begins later (`after`).
  std::uint64_t DroppedOf(const JournalFilter& filter) const;
  // Number of the last entry ever written; 0: none.
  std::uint64_t last() const { return last_; }
  // Identifies the journal: a reset begins another one, whose entries are numbered from 1 on again.
  // Below 2^53.
  std::uint64_t generation() const { return generation_; }

  std::uint64_t Count(const JournalFilter& filter = {}) const;

  // Of one object: give the filter bucket and key. `wanted` may overlap and be in any order; empty:
  // nothing is said about missing and over-read.
  RangeReport Ranges(const JournalFilter& filter, std::vector<ByteRange> wanted = {}) const;

  // The most of these requests that were under way at one time.
  std::uint64_t MaxConcurrency(const JournalFilter& filter = {}) const;

  // Requests by second since the first of them began; by when they began.
  std::vector<std::uint64_t> RequestsPerSecond(const JournalFilter& filter = {}) const;

  // Invocations of more than one request.
  std::vector<Invocation> Retries(const JournalFilter& filter = {}) const;

  // Whether every request of `first` had ended before any of `second` began, and there were both.
  bool InOrder(const JournalFilter& first, const JournalFilter& second) const;

  // Numbers of the requests of `filter` that began after the last of `last` had ended.
  std::vector<std::uint64_t> RequestsAfter(const JournalFilter& last,
                                           const JournalFilter& filter) const;

  // One JSON object a line (docs/admin-api.md names its members), oldest first.
  std::string JsonLines(const JournalFilter& filter = {}) const;
  // HTTP Archive 1.2, without bodies. `base_url`: what the targets are of, "http://127.0.0.1:9000".
  std::string Har(std::string_view base_url, const JournalFilter& filter = {}) const;

  // The questions above as JSON, as the admin API takes and answers them (docs/admin-api.md).
  // kInvalidArgument names the member.
  Result<std::string> AnswerJson(std::string_view question) const;

 private:
  friend class journal::Journal;
  // The blocks are the journal's, shared with it until it drops them.
  struct Part {
    std::shared_ptr<const journal::internal::Block> block;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::vector<Part> parts_;
  std::uint64_t dropped_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t first_kept_ = 1;  // by the journal, whatever the reading begins with
};

}  // namespace penstock::emulator

#endif  // PENSTOCK_JOURNAL_H_
