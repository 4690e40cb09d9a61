#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/dates.h"
#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_parameters.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/admin/journal_body.h"

namespace penstock::emulator::server {
namespace {

constexpr std::chrono::milliseconds kWait{10'000};

void AddNames(Json& list, std::string_view names) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    list.push_back(name);
  }
}

// Returns the filter: all parameters that are not in `others`.
Result<JsonTree> FilterOf(const AdminCall& call, std::initializer_list<std::string_view> others) {
  static constexpr std::array<std::string_view, 4> kNumbers{"connection", "rank", "status",
                                                            "after"};
  JsonTree tree(EmptyObject(call.query.size()));
  Json& filter = tree.root();
  for (const auto& [name, value] : call.query) {
    if (std::find(others.begin(), others.end(), name) != others.end()) continue;
    if (filter.contains(name)) return FieldError(name, "is given twice");
    if (name == "operations") {
      AddNames(filter[name] = Json::array(), value);
    } else if (name == "retried" && (value == "true" || value == "false")) {
      filter[name] = value == "true";
    } else if (std::find(kNumbers.begin(), kNumbers.end(), name) != kNumbers.end()) {
      PENSTOCK_ASSIGN(filter[name], WholeNumber(name, value));
    } else {
      filter[name] = value;
    }
  }
  PENSTOCK_TRY(ParseJournalFilter(JsonText(filter)));  // its errors name the parameter
  return tree;
}

// Returns JSON with a final line break.
Result<AdminReply> Reply(journal::Document document, const AdminCall& call) {
  document.end += "\n";
  PENSTOCK_ASSIGN(AdminBody body, JournalBody(std::move(document), call.concurrency->downloads));
  return AdminReply{std::move(body)};
}

Result<AdminReply> ReadJournal(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(JsonTree filter, FilterOf(call, {"format", "limit", "newest"}));
  const std::string_view format =
      call.Parameter("format").empty() ? "json" : call.Parameter("format");
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> limit, WholeParameter(call, "limit"));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> newest, WholeParameter(call, "newest"));
  PENSTOCK_ASSIGN(const JournalReading reading, emulator.ReadJournal(call.space()));
  if (format == "json") {
    JsonTree asked(EmptyObject(4));
    Json& question = asked.root();
    question["question"] = "entries";
    question["filter"] = std::move(filter.root());
    if (limit) question["limit"] = *limit;
    if (newest) question["newest"] = *newest;
    PENSTOCK_ASSIGN(std::optional<journal::Document> document,
                    journal::AskedEntries(reading, JsonText(question)));
    return Reply(std::move(*document), call);
  }
  if (limit || newest) return FieldError("format", "limit and newest require json");
  PENSTOCK_ASSIGN(JournalFilter selected, ParseJournalFilter(JsonText(filter.root())));
  if (format == "jsonl") {
    PENSTOCK_ASSIGN(AdminBody body,
                    JournalBody(journal::LinesDocument(reading, std::move(selected)),
                                call.concurrency->downloads));
    return AdminReply{std::move(body), "application/x-ndjson"};
  }
  if (format == "har") {
    PENSTOCK_ASSIGN(AdminBody body, JournalBody(journal::HarDocument(reading, std::move(selected),
                                                                     emulator.endpoint()),
                                                call.concurrency->downloads));
    return AdminReply{std::move(body)};
  }
  return FieldError("format", "must be json, jsonl or har");
}

// Waits until the filter selects an entry after `after`.
Result<AdminReply> TailJournal(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(JsonTree filter, FilterOf(call, {"generation", "wait_ms"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> wait_ms,
                  WholeParameter(call, "wait_ms", kLongestWaitMs));
  // The journal that `after` refers to.
  PENSTOCK_ASSIGN(std::optional<std::uint64_t> generation, WholeParameter(call, "generation"));
  PENSTOCK_ASSIGN(JournalFilter selected, ParseJournalFilter(JsonText(filter.root())));
  PENSTOCK_ASSIGN(const std::shared_ptr<void> place, TakeTail(call));
  // Without entries: only the generation and the last number are needed.
  PENSTOCK_ASSIGN(const JournalReading now,
                  emulator.AwaitJournal(call.space(), kMaxExactInteger, {}));
  if (!filter.root().contains("after")) selected.after = now.last();
  // After a reset: returns all entries of the new journal.
  if (generation.value_or(now.generation()) != now.generation()) selected.after = 0;
  generation = now.generation();
  std::uint64_t dropped = 0;  // selected entries that were dropped before they were read
  const MonotonicTime until =
      SystemClock().Monotonic() + (wait_ms ? std::chrono::milliseconds(*wait_ms) : kWait);
  for (;;) {
    const MonotonicTime slice_end = std::min(until, SystemClock().Monotonic() + kWaitSlice);
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(slice_end - SystemClock().Monotonic());
    PENSTOCK_ASSIGN(const JournalReading reading,
                    emulator.AwaitJournal(call.space(), selected.after,
                                          std::max(left, std::chrono::milliseconds(0))));
    if (*generation != reading.generation()) {  // reset meanwhile
      generation = reading.generation();
      selected.after = 0;
      continue;
    }
    dropped += reading.DroppedOf(selected);
    // Without entries, an earlier end than the slice's means that the emulator stops.
    const bool is_over =
        reading.size() == 0 && (slice_end == until || SystemClock().Monotonic() < slice_end);
    if (is_over || reading.Count(selected) > 0 || call.client_gone())
      return Reply(journal::EntriesDocument(reading, std::move(selected), dropped), call);
    selected.after = std::max(selected.after, reading.last());
  }
}

Result<AdminReply> AskJournal(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const JournalReading reading, emulator.ReadJournal(call.space()));
  PENSTOCK_ASSIGN(std::optional<journal::Document> document,
                  journal::AskedEntries(reading, call.body));
  if (document) return Reply(std::move(*document), call);
  PENSTOCK_ASSIGN(std::string response, reading.QueryJson(call.body));
  return AdminReply{std::move(response) + "\n"};
}

Result<AdminReply> ClearJournal(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.ClearJournal(call.space()));
  return AdminReply{JsonText({{"status", "ok"}})};
}

Result<AdminReply> CaptureReply(Result<std::optional<WallTime>> until) {
  if (!until.ok()) return std::move(until).error();
  return AdminReply{JsonText({{"until", *until ? Json(FormatIso8601(**until)) : Json()}})};
}

Result<AdminReply> CaptureHeaders(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const std::chrono::seconds duration, ParseCapture(call.body));
  return CaptureReply(emulator.CaptureHeaders(call.space(), duration));
}

Result<AdminReply> ReadCapture(Emulator& emulator, const AdminCall& call) {
  return CaptureReply(emulator.HeaderCapture(call.space()));
}

constexpr AdminRoute kRoutes[] = {
    {"journal", "GET", ReadJournal, 200, "*"},      {"journal", "DELETE", ClearJournal},
    {"journal/", "GET", ReadJournal, 200, "*"},     {"journal/", "DELETE", ClearJournal},
    {"journal-tail", "GET", TailJournal, 200, "*"}, {"journal-tail/", "GET", TailJournal, 200, "*"},
    {"journal-query", "POST", AskJournal},          {"journal-query/", "POST", AskJournal},
    {"journal-capture", "GET", ReadCapture},        {"journal-capture", "POST", CaptureHeaders},
    {"journal-capture/", "GET", ReadCapture},       {"journal-capture/", "POST", CaptureHeaders},
};

}  // namespace

std::span<const AdminRoute> JournalRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
