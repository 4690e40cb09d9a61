#include "emulator/server/admin/admin_json.h"

#include <cmath>

#include "base/dates.h"
#include "emulator/identity/users_document.h"

namespace penstock::emulator::server {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kLongestAdvance = 9e9;  // seconds; fits in 64 bits of nanoseconds

Result<JsonTree> ParseBody(std::string_view body) {
  return body.empty() ? Result<JsonTree>(JsonTree(Json::object())) : ParseJsonTree(body);
}

}  // namespace

std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string JsonText(std::initializer_list<std::pair<std::string_view, Json>> members) {
  return JsonObjectText(members) + "\n";
}

std::string HealthJson() {
  JsonTree tree(EmptyObject(3));
  Json& json = tree.root();
  json["status"] = "ok";
  json["version"] = PENSTOCK_VERSION;
  Json& services = json["services"] = Json::object();
  services["s3"] = "running";
  return JsonText(json);
}

std::string ListJson(std::string_view name, const std::vector<std::string>& items) {
  JsonTree tree(Json::object());
  Json& list = tree.root()[std::string(name)] = Json::array();
  for (const std::string& item : items) list.push_back(item);
  return JsonText(tree.root());
}

void AddCounters(Json& json, const EmulatorStats& stats) {
  Json& requests = json["requests"] = EmptyObject(stats.requests.size());
  for (const auto& [operation, count] : stats.requests) requests[operation] = count;
  Json& statuses = json["statuses"] = EmptyObject(stats.statuses.size());
  for (const auto& [status, count] : stats.statuses) statuses[std::to_string(status)] = count;
  json["bytes_in"] = stats.bytes_in;
  json["bytes_out"] = stats.bytes_out;
  json["injected_failures"] = stats.injected_failures;
}

std::string StatsJson(const EmulatorStats& stats) {
  JsonTree tree(EmptyObject(6));
  Json& json = tree.root();
  AddCounters(json, stats);
  json["diagnostics"] = Json::object();
  for (const auto& [event, count] : stats.diagnostics) json["diagnostics"][event] = count;
  return JsonText(json);
}

std::string ClockJson(const std::string& name_space, const ClockState& state) {
  return JsonText(
      {{"namespace", name_space},
       {"now", FormatIso8601(state.now)},
       {"frozen", state.frozen},
       {"offset_seconds", static_cast<double>(state.offset.count()) / kNanosecondsPerSecond},
       {"rate", state.rate}});
}

Result<std::optional<std::string>> NamespaceToReset(std::string_view body) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseBody(body));
  const Json& json = tree.root();
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, "", {"namespace"}));
  return fields.Text("namespace");
}

Result<std::string> NamespaceToCreate(std::string_view body) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseBody(body));
  const Json& json = tree.root();
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, "", {"name"}));
  return fields.RequiredText("name");
}

Result<ClockChange> ParseClockChange(std::string_view body) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseBody(body));
  const Json& json = tree.root();
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, "", {"now", "advance_seconds", "frozen", "rate"}));
  ClockChange change;
  PENSTOCK_ASSIGN(change.now, fields.Time("now"));
  PENSTOCK_ASSIGN(const std::optional<double> seconds, fields.Number("advance_seconds"));
  if (seconds && !(std::fabs(*seconds) <= kLongestAdvance)) {
    return FieldError("advance_seconds", "must be at most 9000000000 seconds in either direction");
  }
  if (seconds)
    change.advance = std::chrono::nanoseconds(std::llround(*seconds * kNanosecondsPerSecond));
  PENSTOCK_ASSIGN(change.frozen, fields.Flag("frozen"));
  PENSTOCK_ASSIGN(change.rate, fields.Number("rate"));
  if (json.empty())
    return FieldError("", "nothing to change; give now, advance_seconds, frozen or rate");
  return change;
}

Result<std::chrono::seconds> ParseCapture(std::string_view body) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseBody(body));
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(tree.root(), "", {"seconds"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> seconds, fields.Whole("seconds"));
  if (!seconds) return FieldError("seconds", "is missing: give 1 to 3600, or 0 to end a capture");
  return std::chrono::seconds(*seconds);
}

Result<SeedRequest> ParseSeedRequest(std::string_view body) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseBody(body));
  const Json& json = tree.root();
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, "", {"bucket", "directory", "prefix", "namespace"}));
  SeedRequest request;
  PENSTOCK_ASSIGN(request.bucket, fields.RequiredText("bucket"));
  PENSTOCK_ASSIGN(request.directory, fields.RequiredText("directory"));
  PENSTOCK_ASSIGN(const auto prefix, fields.Text("prefix"));
  request.prefix = prefix.value_or(std::string());
  PENSTOCK_ASSIGN(const auto name_space, fields.Text("namespace"));
  request.name_space = name_space.value_or(std::string(identity::kDefaultNamespace));
  return request;
}

Result<AccessKeyChange> ParseKeyChange(std::string_view body) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseBody(body));
  const Json& json = tree.root();
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, "", {"active", "expires", "namespace"}));
  AccessKeyChange change;
  PENSTOCK_ASSIGN(change.active, fields.Flag("active"));
  PENSTOCK_ASSIGN(change.expires, fields.Time("expires"));
  PENSTOCK_ASSIGN(change.name_space, fields.Text("namespace"));
  if (json.empty()) return FieldError("", "nothing to change; give active, expires or namespace");
  return change;
}

}  // namespace penstock::emulator::server
