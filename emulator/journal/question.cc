// JSON of questions to a journal (JournalReading::QueryJson, ParseJournalFilter).
#include <algorithm>
#include <utility>
#include <vector>

#include "emulator/journal/document.h"
#include "emulator/journal/export.h"
#include "emulator/journal/query.h"
#include "emulator/json/json_fields.h"
#include "emulator/json/json_tree.h"
#include "penstock/journal.h"

namespace penstock::emulator {
namespace journal {
namespace {

constexpr std::uint64_t kHighestStatus = 599;  // Larger numbers are clamped to fit into an int.

Json Pairs(const std::vector<ByteRange>& ranges) {
  Json pairs = Json::array();
  for (const ByteRange& range : ranges) pairs.push_back({range.begin, range.end});
  return pairs;
}

Result<std::vector<std::string>> TextsOf(const JsonFields& fields, std::string_view name) {
  std::vector<std::string> texts;
  PENSTOCK_ASSIGN(const Json* const list, fields.List(name));
  if (list == nullptr) return texts;
  if (list->empty()) return FieldError(fields.Place(name), "is empty: remove it to match any");
  for (const Json& each : *list) {
    if (!each.is_string()) return FieldError(fields.Place(name), "must be a list of strings");
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

// Reads [[begin, end], ...].
Result<std::vector<ByteRange>> RangesOf(const JsonFields& fields, std::string_view name) {
  std::vector<ByteRange> ranges;
  PENSTOCK_ASSIGN(const Json* const list, fields.List(name));
  if (list == nullptr) return ranges;
  if (list->empty())
    return FieldError(fields.Place(name), "is empty: remove it to skip the comparison");
  for (const Json& each : *list) {
    const bool pair = each.is_array() && each.size() == 2 && each[0].is_number_unsigned() &&
                      each[1].is_number_unsigned();
    if (!pair || each[0].get<std::uint64_t>() > each[1].get<std::uint64_t>()) {
      return FieldError(
          fields.Place(name),
          "must be a list of pairs [begin, end] of byte offsets, with an exclusive end");
    }
    ranges.push_back({each[0].get<std::uint64_t>(), each[1].get<std::uint64_t>()});
  }
  return ranges;
}

// `place`: the field of the filter. Returns FieldError.
Result<JournalFilter> FilterOf(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(
                      json, place,
                      {"operations", "bucket", "key", "key_prefix", "method", "access_key",
                       "invocation", "fault", "connection", "rank", "status", "retried", "after"}));
  JournalFilter filter;
  PENSTOCK_ASSIGN(filter.operations, TextsOf(fields, "operations"));
  PENSTOCK_ASSIGN(filter.bucket, fields.Text("bucket"));
  PENSTOCK_ASSIGN(filter.key, fields.Text("key"));
  PENSTOCK_ASSIGN(filter.key_prefix, fields.Text("key_prefix"));
  PENSTOCK_ASSIGN(filter.method, fields.Text("method"));
  PENSTOCK_ASSIGN(filter.access_key, fields.Text("access_key"));
  PENSTOCK_ASSIGN(filter.invocation, fields.Text("invocation"));
  PENSTOCK_ASSIGN(filter.fault, fields.Text("fault"));
  PENSTOCK_ASSIGN(filter.connection, fields.Whole("connection"));
  PENSTOCK_ASSIGN(filter.rank, fields.Whole("rank"));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> status, fields.Whole("status"));
  if (status) filter.status = static_cast<int>(std::min(*status, kHighestStatus + 1));
  PENSTOCK_ASSIGN(filter.retried, fields.Flag("retried"));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> after, fields.Whole("after"));
  filter.after = after.value_or(0);
  PENSTOCK_TRY(CheckFilter(filter, place));
  return filter;
}

Result<JournalFilter> FilterIn(const JsonFields& fields, std::string_view name) {
  const Json* const filter = fields.Find(name);
  return filter == nullptr ? Result<JournalFilter>(JournalFilter())
                           : FilterOf(*filter, fields.Place(name));
}

struct ParsedQuestion {
  JsonFields fields;
  JournalFilter filter;
};
Result<ParsedQuestion> ParseQuestion(const Json& question,
                                     std::initializer_list<std::string_view> members) {
  PENSTOCK_ASSIGN(JsonFields fields, JsonFields::Read(question, "", members));
  PENSTOCK_ASSIGN(JournalFilter filter, FilterIn(fields, "filter"));
  return ParsedQuestion{std::move(fields), std::move(filter)};
}

// Each of the following functions returns the result of one question.
using ResultOf = Result<Json> (*)(const JournalReading& reading, const Json& question);

Result<Json> CountResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed, ParseQuestion(question, {"question", "filter"}));
  return Json{{"count", reading.Count(parsed.filter)},
              {"dropped", reading.DroppedOf(parsed.filter)}};
}

constexpr std::pair<std::string_view, RangeGrouping> kGroupings[] = {
    {"connection", RangeGrouping::kConnection},
    {"peer", RangeGrouping::kPeer},
    {"access_key", RangeGrouping::kAccessKey},
    {"user_agent", RangeGrouping::kUserAgent},
    {"rank", RangeGrouping::kRank},
};

Result<std::optional<RangeGrouping>> GroupingOf(const JsonFields& fields, std::string_view name) {
  PENSTOCK_ASSIGN(const std::optional<std::string> given, fields.Text(name));
  if (!given) return std::optional<RangeGrouping>();
  for (const auto& [known, grouping] : kGroupings) {
    if (known == *given) return std::optional(grouping);
  }
  return FieldError(
      fields.Place(name),
      "must be connection, peer, access_key, user_agent or rank, not '" + *given + "'");
}

void AddGroups(Json& result, const RangeGroups& report) {
  Json groups = Json::array();
  for (const RangeGroup& group : report.groups) {
    groups.push_back({{"value", group.value},
                      {"requests", group.requests},
                      {"ranges", Pairs(group.covered)},
                      {"fetched_bytes", group.fetched_bytes},
                      {"overlap_bytes", group.overlap_bytes},
                      {"first_s", InSeconds(group.began)},
                      {"last_s", InSeconds(group.ended)}});
  }
  result["groups"] = std::move(groups);
  result["groups_dropped"] = report.dropped;
}

Result<Json> RangesResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed,
                  ParseQuestion(question, {"question", "filter", "wanted", "by"}));
  if (!parsed.filter.key || !parsed.filter.bucket)
    return FieldError("filter", "ranges needs one object: set bucket and key");
  PENSTOCK_ASSIGN(std::vector<ByteRange> wanted, RangesOf(parsed.fields, "wanted"));
  PENSTOCK_ASSIGN(const std::optional<RangeGrouping> by, GroupingOf(parsed.fields, "by"));
  const RangeReport report = reading.Ranges(parsed.filter, std::move(wanted));
  Json result{
      {"fetched", Pairs(report.fetched)},          {"covered", Pairs(report.covered)},
      {"fetched_bytes", report.fetched_bytes},     {"covered_bytes", report.covered_bytes},
      {"overlap_bytes", report.overlap_bytes},     {"missing", Pairs(report.missing)},
      {"over_read_bytes", report.over_read_bytes}, {"dropped", reading.DroppedOf(parsed.filter)}};
  if (by) AddGroups(result, reading.GroupedRanges(parsed.filter, *by));
  return result;
}

Result<Json> ObjectsResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed, ParseQuestion(question, {"question", "filter"}));
  const ObjectReport report = reading.Objects(parsed.filter);
  Json objects = Json::array();
  for (const ObjectUse& use : report.objects) {
    objects.push_back({{"bucket", use.bucket},
                       {"key", use.key},
                       {"reads", use.reads},
                       {"writes", use.writes},
                       {"bytes_out", use.bytes_out},
                       {"bytes_in", use.bytes_in},
                       {"errors", use.errors}});
  }
  return Json{{"objects", std::move(objects)},
              {"objects_dropped", report.dropped},
              {"dropped", reading.DroppedOf(parsed.filter)}};
}

Result<Json> ConcurrencyResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed, ParseQuestion(question, {"question", "filter"}));
  return Json{{"max_concurrency", reading.MaxConcurrency(parsed.filter)},
              {"dropped", reading.DroppedOf(parsed.filter)}};
}

Result<Json> RateResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed, ParseQuestion(question, {"question", "filter"}));
  return Json{{"requests_per_second", reading.RequestsPerSecond(parsed.filter)},
              {"dropped", reading.DroppedOf(parsed.filter)}};
}

Result<Json> RetriesResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed, ParseQuestion(question, {"question", "filter"}));
  Json retries = Json::array();
  for (const Invocation& invocation : reading.Retries(parsed.filter)) {
    std::vector<double> began_s;
    for (const std::chrono::nanoseconds began : invocation.began)
      began_s.push_back(InSeconds(began));
    retries.push_back({{"invocation", invocation.id},
                       {"entries", invocation.entries},
                       {"statuses", invocation.statuses},
                       {"began_s", began_s}});
  }
  return Json{{"retries", std::move(retries)}, {"dropped", reading.DroppedOf(parsed.filter)}};
}

// The dropped entries that either filter may have lost.
std::uint64_t DroppedOfBoth(const JournalReading& reading, const JournalFilter& one,
                            const JournalFilter& other) {
  return std::max(reading.DroppedOf(one), reading.DroppedOf(other));
}

Result<Json> OrderResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed,
                  ParseQuestion(question, {"question", "filter", "then"}));
  if (!parsed.fields.Has("then"))
    return FieldError("then", "is missing: set the filter of the later requests");
  PENSTOCK_ASSIGN(const JournalFilter then, FilterIn(parsed.fields, "then"));
  return Json{{"in_order", reading.InOrder(parsed.filter, then)},
              {"dropped", DroppedOfBoth(reading, parsed.filter, then)}};
}

Result<Json> AfterResult(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(const ParsedQuestion parsed,
                  ParseQuestion(question, {"question", "filter", "then"}));
  PENSTOCK_ASSIGN(const JournalFilter then, FilterIn(parsed.fields, "then"));
  return Json{{"requests_after", reading.RequestsAfter(parsed.filter, then)},
              {"dropped", DroppedOfBoth(reading, parsed.filter, then)}};
}

// "limit": the oldest entries; "newest": the latest entries. Both are returned oldest first.
Result<Document> EntriesAsked(const JournalReading& reading, const Json& question) {
  PENSTOCK_ASSIGN(ParsedQuestion parsed,
                  ParseQuestion(question, {"question", "filter", "limit", "newest"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> limit, parsed.fields.Whole("limit"));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> newest, parsed.fields.Whole("newest"));
  if (limit && newest)
    return FieldError(parsed.fields.Place("newest"),
                      "cannot be combined with limit; remove one of them");
  const std::uint64_t matches = newest ? reading.Count(parsed.filter) : 0;
  const std::uint64_t dropped = reading.DroppedOf(parsed.filter);
  Document document = EntriesDocument(reading, std::move(parsed.filter), dropped);
  if (newest && *newest < matches) document.skip = matches - *newest;
  if (limit) document.most = *limit;
  return document;
}

std::string NameOf(const Json& question) {
  const auto name = question.is_object() ? question.find("question") : question.end();
  return question.is_object() && name != question.end() && name->is_string()
             ? name->get<std::string>()
             : std::string();
}

constexpr std::string_view kEntries = "entries";

struct Question {
  std::string_view name;
  ResultOf result;
};

constexpr Question kQuestions[] = {
    {"count", CountResult},
    {"ranges", RangesResult},
    {"objects", ObjectsResult},
    {"max_concurrency", ConcurrencyResult},
    {"requests_per_second", RateResult},
    {"retries", RetriesResult},
    {"in_order", OrderResult},
    {"requests_after", AfterResult},
};

}  // namespace

Result<std::optional<Document>> AskedEntries(const JournalReading& reading,
                                             std::string_view question) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(question));
  const Json& json = tree.root();
  if (NameOf(json) != kEntries) return std::optional<Document>();
  PENSTOCK_ASSIGN(Document document, EntriesAsked(reading, json));
  return std::optional<Document>(std::move(document));
}

}  // namespace journal

Result<JournalFilter> ParseJournalFilter(std::string_view json) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(json));
  const Json& parsed = tree.root();
  return journal::FilterOf(parsed, "");
}

Result<std::string> JournalReading::QueryJson(std::string_view question) const {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(question));
  const Json& json = tree.root();
  const std::string name = journal::NameOf(json);
  if (name == journal::kEntries) {
    PENSTOCK_ASSIGN(const journal::Document document, journal::EntriesAsked(*this, json));
    return journal::DocumentText(document);
  }
  std::string names(journal::kEntries);
  for (const journal::Question& known : journal::kQuestions) {
    if (known.name == name) {
      PENSTOCK_ASSIGN(Json result, known.result(*this, json));
      result["generation"] = generation();
      return journal::LineOf(result);
    }
    names += ", " + std::string(known.name);
  }
  return FieldError("question", "must be one of " + names);
}

}  // namespace penstock::emulator
