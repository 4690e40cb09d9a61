#include "emulator/journal/query.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "emulator/json/json_fields.h"
#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/dispatch/operations.h"
#include "penstock/base/check.h"

namespace penstock::emulator::journal {
namespace {

constexpr int kHighestClass = 5;
constexpr int kLowestStatus = 100;
constexpr int kHighestStatus = 599;

bool IsStatus(int status) {
  return (status >= 0 && status <= kHighestClass) ||
         (status >= kLowestStatus && status <= kHighestStatus);
}

// Method names are case-sensitive and in upper case (RFC 9110, section 9.1).
bool IsMethod(const std::string& method) {
  return !method.empty() &&
         std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool Holds(const std::optional<std::string>& wanted, std::string_view value) {
  return !wanted || *wanted == value;
}

bool StatusHolds(const std::optional<int>& wanted, int status) {
  return !wanted || *wanted == status || (*wanted < 10 && *wanted == status / 100);
}

// Whether `id` is in a comma-separated list of ids. The id may contain commas.
bool Lists(std::string_view ids, std::string_view id) {
  for (std::size_t at = 0; (at = ids.find(id, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + id.size();
    if ((at == 0 || ids[at - 1] == ',') && (end == ids.size() || ids[end] == ',')) return true;
  }
  return false;
}

// Returns sorted, disjoint ranges. Adjacent ranges are merged.
std::vector<ByteRange> Union(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
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

// The parts of `from` that are not in `away`. Both must be results of Union.
std::vector<ByteRange> Without(const std::vector<ByteRange>& from,
                               const std::vector<ByteRange>& away) {
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

// What a successful read fetched: the bytes that were sent, because a connection may break, and a
// fault may cut a response. nullopt: the request is no such read.
std::optional<ByteRange> FetchedBy(const JournalEntryView& entry) {
  if (!entry.range || entry.method != "GET" || entry.status / 100 != 2) return std::nullopt;
  ByteRange sent = *entry.range;
  sent.end = std::min(sent.end, sent.begin + entry.bytes_out);
  return sent;
}

std::string GroupOf(const JournalEntryView& entry, RangeGrouping by) {
  switch (by) {
    case RangeGrouping::kConnection: return std::to_string(entry.connection);
    case RangeGrouping::kPeer: return std::string(entry.peer.substr(0, entry.peer.rfind(':')));
    case RangeGrouping::kAccessKey: return std::string(entry.access_key);
    case RangeGrouping::kUserAgent: return std::string(entry.user_agent);
    case RangeGrouping::kRank: return entry.rank ? std::to_string(*entry.rank) : std::string();
  }
  return {};
}

void CountUse(const JournalEntryView& entry, ObjectUse& use) {
  const bool writes = s3::TraitsOf(entry.operation, entry.method).access == s3::Access::kWrite;
  ++(writes ? use.writes : use.reads);
  use.bytes_in += entry.bytes_in;
  use.bytes_out += entry.bytes_out;
  if (entry.status == 0 || entry.status >= 400 || entry.ending == Ending::kBroken) ++use.errors;
}

// Removes the elements above `limit`. Returns their number.
template <class Element>
std::uint64_t CutTo(std::size_t limit, std::vector<Element>& elements) {
  if (elements.size() <= limit) return 0;
  const std::uint64_t dropped = elements.size() - limit;
  elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(limit), elements.end());
  return dropped;
}

JournalEntry Owned(const JournalEntryView& entry) {
  return {.number = entry.number,
          .received = entry.received,
          .began = entry.began,
          .ended = entry.ended,
          .connection = entry.connection,
          .requests_before = entry.requests_before,
          .tls = entry.tls,
          .ending = entry.ending,
          .status = entry.status,
          .attempt = entry.attempt,
          .bytes_in = entry.bytes_in,
          .bytes_out = entry.bytes_out,
          .range = entry.range,
          .rank = entry.rank,
          .method = std::string(entry.method),
          .target = std::string(entry.target),
          .operation = std::string(entry.operation),
          .bucket = std::string(entry.bucket),
          .key = std::string(entry.key),
          .access_key = std::string(entry.access_key),
          .invocation = std::string(entry.invocation),
          .user_agent = std::string(entry.user_agent),
          .peer = std::string(entry.peer),
          .request_id = std::string(entry.request_id),
          .error_code = std::string(entry.error_code),
          .faults = std::string(entry.faults),
          .checksums = std::string(entry.checksums),
          .authorization = std::string(entry.authorization),
          .payload = std::string(entry.payload),
          .signature = entry.signature,
          .request_headers = std::string(entry.request_headers),
          .response_headers = std::string(entry.response_headers),
          .headers_left_out = entry.headers_left_out};
}

}  // namespace

Result<void> CheckFilter(const JournalFilter& filter, const std::string& place) {
  const std::string before = place.empty() ? "" : place + ".";
  const std::vector<std::string_view>& known = s3::OperationNames();
  for (const std::string& operation : filter.operations) {
    if (operation.empty() || std::binary_search(known.begin(), known.end(), operation)) continue;
    return FieldError(before + "operations",
                      "unknown S3 operation '" + operation +
                          "': expected a name such as GetObject or UploadPart, or \"\" for "
                          "requests that are not S3 operations");
  }
  if (filter.method && !IsMethod(*filter.method)) {
    return FieldError(before + "method", "invalid method '" + *filter.method +
                                             "': expected GET, HEAD, PUT, POST or DELETE");
  }
  if (filter.status && !IsStatus(*filter.status)) {
    return FieldError(before + "status", "invalid status '" + std::to_string(*filter.status) +
                                             "': expected a status such as 503, a class from 1 to "
                                             "5, or 0 for requests without a response");
  }
  if (filter.key && filter.key_prefix && !filter.key->starts_with(*filter.key_prefix)) {
    return FieldError(before + "key_prefix", "'" + *filter.key_prefix +
                                                 "' is not a prefix of the key '" + *filter.key +
                                                 "'; set only one of them");
  }
  return Ok();
}

void RequireFilter(const JournalFilter& filter) {
  const Result<void> checked = CheckFilter(filter, "JournalFilter");
  if (!checked.ok()) CheckFailed(checked.error().message.c_str(), __FILE__, __LINE__);
}

bool Matches(const JournalFilter& filter, const JournalEntryView& entry) {
  if (entry.number <= filter.after) return false;
  if (!filter.operations.empty() && std::find(filter.operations.begin(), filter.operations.end(),
                                              entry.operation) == filter.operations.end()) {
    return false;
  }
  if (filter.key_prefix && !entry.key.starts_with(*filter.key_prefix)) return false;
  if (filter.connection && *filter.connection != entry.connection) return false;
  if (filter.rank && filter.rank != entry.rank) return false;
  if (filter.retried && *filter.retried != (entry.attempt > 1)) return false;
  if (filter.fault && !Lists(entry.faults, *filter.fault)) return false;
  return Holds(filter.bucket, entry.bucket) && Holds(filter.key, entry.key) &&
         Holds(filter.method, entry.method) && Holds(filter.access_key, entry.access_key) &&
         Holds(filter.invocation, entry.invocation) && StatusHolds(filter.status, entry.status);
}

}  // namespace penstock::emulator::journal

namespace penstock::emulator {

Result<void> CheckJournalFilter(const JournalFilter& filter) {
  return journal::CheckFilter(filter, "");
}

std::vector<JournalEntry> JournalReading::Entries(const JournalFilter& filter,
                                                  std::size_t limit) const {
  std::vector<JournalEntry> entries;
  journal::RequireFilter(filter);
  ForEach([&](const JournalEntryView& entry) {
    if (entries.size() < limit && journal::Matches(filter, entry))
      entries.push_back(journal::Owned(entry));
    return entries.size() < limit;
  });
  return entries;
}

std::uint64_t JournalReading::DroppedOf(const JournalFilter& filter) const {
  const std::uint64_t last_dropped = first_kept_ - 1;
  return std::min(dropped_, last_dropped - std::min(last_dropped, filter.after));
}

std::uint64_t JournalReading::Count(const JournalFilter& filter) const {
  std::uint64_t count = 0;
  journal::ForEachMatch(*this, filter, [&](const JournalEntryView&) { ++count; });
  return count;
}

RangeReport JournalReading::Ranges(const JournalFilter& filter,
                                   std::vector<ByteRange> wanted) const {
  RangeReport report;
  journal::ForEachMatch(*this, filter, [&](const JournalEntryView& entry) {
    if (const auto fetched = journal::FetchedBy(entry)) report.fetched.push_back(*fetched);
  });
  std::stable_sort(report.fetched.begin(), report.fetched.end(),
                   [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  report.covered = journal::Union(report.fetched);
  report.fetched_bytes = journal::Sum(report.fetched);
  report.covered_bytes = journal::Sum(report.covered);
  report.overlap_bytes = report.fetched_bytes - report.covered_bytes;
  if (wanted.empty()) return report;
  const std::vector<ByteRange> needed = journal::Union(std::move(wanted));
  report.missing = journal::Without(needed, report.covered);
  report.over_read_bytes = journal::Sum(journal::Without(report.covered, needed));
  return report;
}

RangeGroups JournalReading::GroupedRanges(const JournalFilter& filter, RangeGrouping by,
                                          std::size_t limit) const {
  std::map<std::string, RangeGroup> by_value;
  journal::ForEachMatch(*this, filter, [&](const JournalEntryView& entry) {
    const auto fetched = journal::FetchedBy(entry);
    if (!fetched) return;
    RangeGroup& group = by_value[journal::GroupOf(entry, by)];
    group.began = group.requests == 0 ? entry.began : std::min(group.began, entry.began);
    group.ended = std::max(group.ended, entry.ended);
    ++group.requests;
    group.covered.push_back(*fetched);
  });
  RangeGroups report;
  for (auto& [value, group] : by_value) {
    group.value = value;
    group.fetched_bytes = journal::Sum(group.covered);
    group.covered = journal::Union(std::move(group.covered));
    group.overlap_bytes = group.fetched_bytes - journal::Sum(group.covered);
    report.groups.push_back(std::move(group));
  }
  std::stable_sort(
      report.groups.begin(), report.groups.end(),
      [](const RangeGroup& a, const RangeGroup& b) { return a.fetched_bytes > b.fetched_bytes; });
  report.dropped = journal::CutTo(limit, report.groups);
  return report;
}

ObjectReport JournalReading::Objects(const JournalFilter& filter, std::size_t limit) const {
  // The names are valid while this reading lives.
  std::map<std::pair<std::string_view, std::string_view>, ObjectUse> by_name;
  journal::ForEachMatch(*this, filter, [&](const JournalEntryView& entry) {
    if (!entry.key.empty()) journal::CountUse(entry, by_name[{entry.bucket, entry.key}]);
  });
  ObjectReport report;
  for (auto& [name, use] : by_name) {
    use.bucket = name.first;
    use.key = name.second;
    report.objects.push_back(std::move(use));
  }
  std::stable_sort(report.objects.begin(), report.objects.end(),
                   [](const ObjectUse& a, const ObjectUse& b) {
                     return a.reads + a.writes > b.reads + b.writes;
                   });
  report.dropped = journal::CutTo(limit, report.objects);
  return report;
}

std::uint64_t JournalReading::MaxConcurrency(const JournalFilter& filter) const {
  std::vector<std::pair<std::chrono::nanoseconds, int>> changes;
  journal::ForEachMatch(*this, filter, [&](const JournalEntryView& entry) {
    changes.emplace_back(entry.began, 1);
    changes.emplace_back(entry.ended, -1);
  });
  // Ends sort before beginnings at the same time, so these requests are not concurrent.
  std::sort(changes.begin(), changes.end());
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, now += change);
  return static_cast<std::uint64_t>(most);
}

std::vector<std::uint64_t> JournalReading::RequestsPerSecond(const JournalFilter& filter) const {
  std::vector<std::chrono::nanoseconds> begins;
  journal::ForEachMatch(*this, filter,
                        [&](const JournalEntryView& entry) { begins.push_back(entry.began); });
  if (begins.empty()) return {};
  std::sort(begins.begin(), begins.end());
  constexpr std::int64_t kMaxSeconds = 1'000'000;
  const auto second = [&](std::chrono::nanoseconds at) {
    return std::min<std::int64_t>((at - begins.front()) / std::chrono::seconds(1), kMaxSeconds - 1);
  };
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(second(begins.back())) + 1);
  for (const std::chrono::nanoseconds at : begins) ++counts[static_cast<std::size_t>(second(at))];
  return counts;
}

std::vector<Invocation> JournalReading::Retries(const JournalFilter& filter) const {
  std::map<std::string, Invocation, std::less<>> by_id;
  journal::ForEachMatch(*this, filter, [&](const JournalEntryView& entry) {
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

bool JournalReading::InOrder(const JournalFilter& first, const JournalFilter& second) const {
  std::optional<std::chrono::nanoseconds> last_end;
  std::optional<std::chrono::nanoseconds> first_begin;
  journal::ForEachMatch(*this, first, [&](const JournalEntryView& entry) {
    last_end = std::max(last_end.value_or(std::chrono::nanoseconds::min()), entry.ended);
  });
  journal::ForEachMatch(*this, second, [&](const JournalEntryView& entry) {
    first_begin = std::min(first_begin.value_or(std::chrono::nanoseconds::max()), entry.began);
  });
  return last_end && first_begin && *last_end <= *first_begin;
}

std::vector<std::uint64_t> JournalReading::RequestsAfter(const JournalFilter& last,
                                                         const JournalFilter& filter) const {
  std::optional<std::chrono::nanoseconds> end;
  journal::ForEachMatch(*this, last, [&](const JournalEntryView& entry) {
    end = std::max(end.value_or(std::chrono::nanoseconds::min()), entry.ended);
  });
  std::vector<std::uint64_t> after;
  if (!end) return after;
  journal::ForEachMatch(*this, filter, [&](const JournalEntryView& entry) {
    if (entry.began > *end) after.push_back(entry.number);
  });
  return after;
}

}  // namespace penstock::emulator
