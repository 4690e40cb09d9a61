#include "emulator/journal/query.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace penstock::emulator::journal {
namespace {

using std::chrono::nanoseconds;

bool Holds(const std::optional<std::string>& wanted, std::string_view value) { return !wanted || *wanted == value; }

bool StatusHolds(const std::optional<int>& wanted, int status) {
  return !wanted || *wanted == status || (*wanted < 10 && *wanted == status / 100);
}

// Whether `id` is among the ids with commas between them.
bool Lists(std::string_view ids, std::string_view id) {
  for (;;) {
    const std::size_t comma = ids.find(',');
    if (ids.substr(0, comma) == id) return true;
    if (comma == std::string_view::npos) return false;
    ids.remove_prefix(comma + 1);
  }
}

template <class Look>
void ForEachMatch(const Reading& reading, const Filter& filter, Look look) {
  reading.ForEach([&](const Entry& entry) {
    if (Matches(filter, entry)) look(entry);
    return true;
  });
}

// Sorted and without overlaps; neighbours that touch are one.
std::vector<ByteRange> Union(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (range.begin == range.end) continue;
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

std::uint64_t Sum(const std::vector<ByteRange>& ranges) {
  std::uint64_t sum = 0;
  for (const ByteRange& range : ranges) sum += range.size();
  return sum;
}

// What of `from` is not in `away`; both are unions.
std::vector<ByteRange> Without(const std::vector<ByteRange>& from, const std::vector<ByteRange>& away) {
  std::vector<ByteRange> left;
  auto cut = away.begin();
  for (ByteRange rest : from) {
    while (cut != away.end() && cut->end <= rest.begin) ++cut;
    for (auto at = cut; at != away.end() && at->begin < rest.end; ++at) {
      if (at->begin > rest.begin) left.push_back({rest.begin, at->begin});
      rest.begin = std::min(rest.end, std::max(rest.begin, at->end));
    }
    if (rest.begin < rest.end) left.push_back(rest);
  }
  return left;
}

}  // namespace

bool Matches(const Filter& filter, const Entry& entry) {
  if (entry.number <= filter.after) return false;
  if (!filter.operations.empty() && std::find(filter.operations.begin(), filter.operations.end(), entry.operation) == filter.operations.end()) {
    return false;
  }
  if (filter.key_prefix && !entry.key.starts_with(*filter.key_prefix)) return false;
  if (filter.connection && *filter.connection != entry.connection) return false;
  if (filter.retried && *filter.retried != (entry.attempt > 1)) return false;
  if (filter.fault && !Lists(entry.faults, *filter.fault)) return false;
  return Holds(filter.bucket, entry.bucket) && Holds(filter.key, entry.key) && Holds(filter.method, entry.method) &&
         Holds(filter.access_key, entry.access_key) && Holds(filter.invocation, entry.invocation) && StatusHolds(filter.status, entry.status);
}

std::uint64_t Count(const Reading& reading, const Filter& filter) {
  std::uint64_t count = 0;
  ForEachMatch(reading, filter, [&](const Entry&) { ++count; });
  return count;
}

RangeReport Ranges(const Reading& reading, const Filter& filter, std::vector<ByteRange> wanted) {
  RangeReport report;
  ForEachMatch(reading, filter, [&](const Entry& entry) {
    if (entry.range && entry.method == "GET" && entry.status / 100 == 2) report.fetched.push_back(*entry.range);
  });
  std::stable_sort(report.fetched.begin(), report.fetched.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  report.covered = Union(report.fetched);
  report.fetched_bytes = Sum(report.fetched);
  report.covered_bytes = Sum(report.covered);
  report.overlap_bytes = report.fetched_bytes - report.covered_bytes;
  if (wanted.empty()) return report;
  const std::vector<ByteRange> needed = Union(std::move(wanted));
  report.missing = Without(needed, report.covered);
  report.over_read_bytes = Sum(Without(report.covered, needed));
  return report;
}

std::uint64_t MaxConcurrency(const Reading& reading, const Filter& filter) {
  std::vector<std::pair<nanoseconds, int>> changes;
  ForEachMatch(reading, filter, [&](const Entry& entry) {
    changes.emplace_back(entry.began, 1);
    changes.emplace_back(entry.ended, -1);
  });
  // An end and a beginning at one time are not at once.
  std::sort(changes.begin(), changes.end());
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return static_cast<std::uint64_t>(most);
}

std::vector<std::uint64_t> RequestsPerSecond(const Reading& reading, const Filter& filter) {
  std::vector<nanoseconds> begins;
  ForEachMatch(reading, filter, [&](const Entry& entry) { begins.push_back(entry.began); });
  if (begins.empty()) return {};
  std::sort(begins.begin(), begins.end());
  constexpr std::int64_t kMostSeconds = 1'000'000;
  const auto second = [&](nanoseconds at) { return std::min<std::int64_t>((at - begins.front()) / std::chrono::seconds(1), kMostSeconds - 1); };
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(second(begins.back())) + 1);
  for (const nanoseconds at : begins) ++counts[static_cast<std::size_t>(second(at))];
  return counts;
}

std::vector<Invocation> Retries(const Reading& reading, const Filter& filter) {
  std::map<std::string, Invocation, std::less<>> by_id;
  ForEachMatch(reading, filter, [&](const Entry& entry) {
    if (entry.invocation.empty()) return;
    Invocation& invocation = by_id[std::string(entry.invocation)];
    invocation.entries.push_back(entry.number);
    invocation.statuses.push_back(entry.status);
    invocation.began.push_back(entry.began);
  });
  std::vector<Invocation> retried;
  for (auto& [id, invocation] : by_id) {
    if (invocation.entries.size() < 2) continue;
    invocation.id = id;
    retried.push_back(std::move(invocation));
  }
  return retried;
}

bool InOrder(const Reading& reading, const Filter& first, const Filter& second) {
  std::optional<nanoseconds> last_end;
  std::optional<nanoseconds> first_begin;
  ForEachMatch(reading, first, [&](const Entry& entry) { last_end = std::max(last_end.value_or(nanoseconds::min()), entry.ended); });
  ForEachMatch(reading, second, [&](const Entry& entry) { first_begin = std::min(first_begin.value_or(nanoseconds::max()), entry.began); });
  return last_end && first_begin && *last_end <= *first_begin;
}

std::vector<std::uint64_t> RequestsAfter(const Reading& reading, const Filter& last, const Filter& filter) {
  std::optional<nanoseconds> end;
  ForEachMatch(reading, last, [&](const Entry& entry) { end = std::max(end.value_or(nanoseconds::min()), entry.ended); });
  std::vector<std::uint64_t> after;
  if (!end) return after;
  ForEachMatch(reading, filter, [&](const Entry& entry) {
    if (entry.began > *end) after.push_back(entry.number);
  });
  return after;
}

}  // namespace penstock::emulator::journal
