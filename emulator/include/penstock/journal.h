// The journal of an emulator: every request as an entry, and queries over the entries.
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
#include <utility>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/export.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"
#include "penstock/request_signature.h"

namespace penstock::emulator::journal {
class Journal;
namespace internal {
struct Block;
}  // namespace internal
}  // namespace penstock::emulator::journal

namespace PENSTOCK_EXPORT penstock {
namespace emulator {

// How a request ended, as seen by the server.
enum class Ending : std::uint8_t {
  kAnswered,  // the whole response was sent
  kBroken,    // the client or a fault ended the connection before that
};

// One request. `Text` is std::string in an entry that owns its texts, and std::string_view in one
// that points into a JournalReading.
template <class Text>
struct BasicJournalEntry {
  std::uint64_t number = 0;  // from 1 on, in the order in which the requests ended
  WallTime received{};       // by the namespace's clock
  // Since the namespace's creation or last reset, by the machine's monotonic clock.
  std::chrono::nanoseconds began{};
  std::chrono::nanoseconds ended{};
  std::uint64_t connection = 0;
  std::uint64_t requests_before = 0;  // on the same connection
  bool tls = false;
  Ending ending = Ending::kAnswered;
  int status = 0;
  std::uint32_t attempt = 1;  // as sent by the client
  // Sizes of the bodies as transferred. An error may be sent before the request's body has been
  // read; then bytes_in counts what was read.
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  // Of the object, as covered by the response; unset if no object bytes were requested.
  std::optional<ByteRange> range;
  // Of the process in its job, as sent by the client: x-penstock-rank, or rank/N in user_agent.
  std::optional<std::uint64_t> rank;
  Text method{};
  Text target{};     // as on the request line; signatures and tokens are replaced by "***"
  Text operation{};  // "GetObject"; empty: not an S3 operation
  Text bucket{};
  Text key{};
  Text access_key{};  // of the identity; empty: anonymous, or refused before it was known
  Text invocation{};  // amz-sdk-invocation-id
  Text user_agent{};
  Text peer{};
  Text request_id{};
  Text error_code{};  // "NoSuchKey"
  Text faults{};      // ids of the rules that fired, separated by commas
  // Sent by the request as headers or trailers: "x-amz-checksum-crc32=...,content-md5=...".
  Text checksums{};
  // The decisions about the request's permissions as a JSON list; empty: no policy was consulted.
  Text authorization{};
  // The kind of x-amz-content-sha256: "signed", "unsigned", "STREAMING-..."; empty: none.
  Text payload{};
  RequestSignature signature;
  // Only of requests that ended during a capture (Emulator::CaptureHeaders), as sent, in lines
  // "Name: value\n" (JournalHeaders); secrets are replaced by "***". At most 8 KiB of both.
  Text request_headers{};
  Text response_headers{};
  std::uint32_t headers_left_out = 0;  // headers of both that did not fit

  std::chrono::nanoseconds lasted() const { return ended - began; }
};
using JournalEntry = BasicJournalEntry<std::string>;
using JournalEntryView = BasicJournalEntry<std::string_view>;

// Returns the names and values of request_headers or response_headers, in order. The views point
// into `lines`.
std::vector<std::pair<std::string_view, std::string_view>> JournalHeaders(std::string_view lines);

// Selects entries. Unset members match every entry; all set members must match.
struct JournalFilter {
  std::vector<std::string> operations = {};  // any of them; empty: every operation
  std::optional<std::string> bucket = std::nullopt;
  std::optional<std::string> key = std::nullopt;
  std::optional<std::string> key_prefix = std::nullopt;
  std::optional<std::string> method = std::nullopt;
  std::optional<std::string> access_key = std::nullopt;
  std::optional<std::string> invocation = std::nullopt;
  std::optional<std::string> fault = std::nullopt;  // a rule that fired
  std::optional<std::uint64_t> connection = std::nullopt;
  std::optional<std::uint64_t> rank = std::nullopt;
  // A status such as 503; 5 for 500 to 599 (other classes likewise); 0: no response was made.
  std::optional<int> status = std::nullopt;
  std::optional<bool> retried = std::nullopt;  // true: attempts after the first
  std::uint64_t after = 0;                     // entries after this number
};

// Returns kInvalidArgument for a filter that cannot match: an unknown operation, an invalid status,
// a lower-case method. With such a filter, the queries of JournalReading print the reason and abort
// the program.
Result<void> CheckJournalFilter(const JournalFilter& filter);

// Parses {"operations": ["GetObject"], "key_prefix": "a/", "status": 5}; the members are named as
// in JournalFilter. kInvalidArgument names an invalid one.
Result<JournalFilter> ParseJournalFilter(std::string_view json);

// Ranges that successful reads of one object fetched. Based on the responses, not the requests:
// bytes beyond the object's end, and bytes not sent when the connection ended, do not count.
struct RangeReport {
  std::vector<ByteRange> fetched;   // one per response, sorted by begin
  std::vector<ByteRange> covered;   // their union
  std::uint64_t fetched_bytes = 0;  // the sum; bytes fetched twice count twice
  std::uint64_t covered_bytes = 0;
  std::uint64_t overlap_bytes = 0;  // fetched_bytes - covered_bytes
  // Compared with the wanted ranges, if given.
  std::vector<ByteRange> missing;     // wanted and not covered
  std::uint64_t over_read_bytes = 0;  // covered and not wanted
};

// By what reads are grouped. kPeer: the client's address without its port.
enum class RangeGrouping : std::uint8_t { kConnection, kPeer, kAccessKey, kUserAgent, kRank };

// The successful reads of one group.
struct RangeGroup {
  std::string value;  // of the connection (its number), peer, access key, user agent or rank
  std::uint64_t requests = 0;
  std::vector<ByteRange> covered;   // the union of what they fetched
  std::uint64_t fetched_bytes = 0;  // the sum; bytes fetched twice count twice
  std::uint64_t overlap_bytes = 0;  // within the group
  // As in the entries: the start of the first read and the end of the last one.
  std::chrono::nanoseconds began{};
  std::chrono::nanoseconds ended{};
};
struct RangeGroups {
  std::vector<RangeGroup> groups;  // most fetched bytes first
  std::uint64_t dropped = 0;       // groups above the limit
};

// The requests for one object, with any outcome.
struct ObjectUse {
  std::string bucket;
  std::string key;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t errors = 0;  // status 400 or above, or no complete response
};
struct ObjectReport {
  std::vector<ObjectUse> objects;  // most requests first
  std::uint64_t dropped = 0;       // objects above the limit
};

// The requests with one invocation id.
struct Invocation {
  std::string id;
  // One element per request, in the order in which the requests ended.
  std::vector<std::uint64_t> entries;  // numbers
  std::vector<int> statuses;
  std::vector<std::chrono::nanoseconds> began;  // as in the entries
};

// A snapshot of a namespace's journal: its entries, oldest first, and queries over those that a
// filter selects. It keeps the memory of that snapshot alive.
//
// Thread safety: that of a value type.
class JournalReading {
 public:
  // Calls `look` for each entry. Its texts are valid while the reading lives. Stops when `look`
  // returns false.
  void ForEach(const std::function<bool(const JournalEntryView&)>& look) const;
  // Returns the entries that `filter` selects, at most the `limit` oldest.
  std::vector<JournalEntry> Entries(const JournalFilter& filter = {},
                                    std::size_t limit = SIZE_MAX) const;

  std::uint64_t size() const;
  // Number of the oldest entries that the journal dropped to stay within its memory. Cleared
  // entries do not count.
  std::uint64_t dropped() const { return dropped_; }
  // How many dropped entries `filter` may have selected. If it is not 0, queries with this filter
  // cannot prove that something did not happen. Increase journal_bytes (EmulatorOptions), or use a
  // filter with a later `after`.
  std::uint64_t DroppedOf(const JournalFilter& filter) const;
  // Number of the last entry ever written; 0 if there is none.
  std::uint64_t last() const { return last_; }
  // Identifies the journal. A reset begins a new one, whose entries are numbered from 1. Below
  // 2^53.
  std::uint64_t generation() const { return generation_; }

  std::uint64_t Count(const JournalFilter& filter = {}) const;

  // For one object: the filter must have bucket and key. `wanted` may overlap and be in any order;
  // if empty, `missing` and `over_read_bytes` are not computed.
  RangeReport Ranges(const JournalFilter& filter, std::vector<ByteRange> wanted = {}) const;

  // The same reads by group, at most `limit` groups.
  RangeGroups GroupedRanges(const JournalFilter& filter, RangeGrouping by,
                            std::size_t limit = 1000) const;

  // The objects that requests name by their key, at most `limit`. Requests with keys in their
  // bodies (DeleteObjects) do not count.
  ObjectReport Objects(const JournalFilter& filter = {}, std::size_t limit = 1000) const;

  // Largest number of these requests that were in progress at the same time.
  std::uint64_t MaxConcurrency(const JournalFilter& filter = {}) const;

  // Number of requests that began in each second since the first of them began.
  std::vector<std::uint64_t> RequestsPerSecond(const JournalFilter& filter = {}) const;

  // Invocations with more than one request.
  std::vector<Invocation> Retries(const JournalFilter& filter = {}) const;

  // Whether both filters select requests, and all of `first` ended before any of `second` began.
  bool InOrder(const JournalFilter& first, const JournalFilter& second) const;

  // Numbers of the requests of `filter` that began after the last request of `last` had ended.
  std::vector<std::uint64_t> RequestsAfter(const JournalFilter& last,
                                           const JournalFilter& filter) const;

  // One JSON object per line (members: docs/reference/admin-api.md), oldest first.
  std::string JsonLines(const JournalFilter& filter = {}) const;
  // HTTP Archive 1.2, without bodies. `base_url` precedes the targets: "http://127.0.0.1:9000".
  std::string Har(std::string_view base_url, const JournalFilter& filter = {}) const;

  // Returns the result of a query. Both are JSON of the admin API (docs/reference/admin-api.md).
  // kInvalidArgument names the invalid member.
  Result<std::string> QueryJson(std::string_view question) const;

 private:
  friend class journal::Journal;
  // The blocks are shared with the journal until it drops them.
  struct Part {
    std::shared_ptr<const journal::internal::Block> block;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::vector<Part> parts_;
  std::uint64_t dropped_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t first_kept_ = 1;  // oldest number in the journal, independent of the reading
};

}  // namespace emulator
}  // namespace penstock

#endif  // PENSTOCK_JOURNAL_H_
