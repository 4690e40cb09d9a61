// Questions about what clients did: which requests, which bytes of an object, how many at once, in which order.
#ifndef PENSTOCK_EMULATOR_JOURNAL_QUERY_H_
#define PENSTOCK_EMULATOR_JOURNAL_QUERY_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/journal/journal.h"

namespace penstock::emulator::journal {

// Unset: whatever it is. What is set must all hold.
struct Filter {
  std::vector<std::string> operations;  // any of them; empty: every one
  std::optional<std::string> bucket;
  std::optional<std::string> key;
  std::optional<std::string> key_prefix;
  std::optional<std::string> method;
  std::optional<std::string> access_key;
  std::optional<std::string> invocation;
  std::optional<std::string> fault;      // a rule that fired
  std::optional<std::uint64_t> connection;
  std::optional<int> status;             // 503; or a class: 5 for 500 to 599
  std::optional<bool> retried;           // attempt beyond the first
  std::uint64_t after = 0;               // entries behind this number
};

bool Matches(const Filter& filter, const Entry& entry);

std::uint64_t Count(const Reading& reading, const Filter& filter);

// What successful reads of one object fetched. The answers' ranges, not the requests': what was beyond the object's end was
// not fetched.
struct RangeReport {
  std::vector<ByteRange> fetched;    // as asked, in order of their beginnings
  std::vector<ByteRange> covered;    // their union
  std::uint64_t fetched_bytes = 0;   // the sum, bytes fetched twice counted twice
  std::uint64_t covered_bytes = 0;
  std::uint64_t overlap_bytes = 0;   // fetched_bytes - covered_bytes
  // Against what was wanted, where the question says it.
  std::vector<ByteRange> missing;    // wanted and not covered
  std::uint64_t over_read_bytes = 0;  // covered and not wanted
};
// `wanted` may overlap and be in any order; empty: nothing is said about missing and over-read.
RangeReport Ranges(const Reading& reading, const Filter& filter, std::vector<ByteRange> wanted);

// The most of these requests that were under way at one time.
std::uint64_t MaxConcurrency(const Reading& reading, const Filter& filter);

// Requests by second since the first of them began; by when they began.
std::vector<std::uint64_t> RequestsPerSecond(const Reading& reading, const Filter& filter);

// Requests by invocation id, those with more than one alone, and each one's attempts in order.
struct Invocation {
  std::string id;
  std::vector<std::uint64_t> entries;  // numbers
  std::vector<int> statuses;
  std::vector<std::chrono::nanoseconds> began;
};
std::vector<Invocation> Retries(const Reading& reading, const Filter& filter);

// Whether every request of `first` had ended before any of `second` began, and there were both.
bool InOrder(const Reading& reading, const Filter& first, const Filter& second);

// Requests of `filter` that began after the last of `last` had ended.
std::vector<std::uint64_t> RequestsAfter(const Reading& reading, const Filter& last, const Filter& filter);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_QUERY_H_
