// JSON of the admin API: parsers of request bodies and writers of response bodies.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_JSON_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_JSON_H_

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/json/json_tree.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Formats JSON on one line. Invalid UTF-8 is replaced.
std::string JsonText(const Json& json);
// Formats an object without a JSON tree, whose destructor could fail to allocate.
std::string JsonText(std::initializer_list<std::pair<std::string_view, Json>> members);

std::string HealthJson();  // also has the members that LocalStack health checks expect
// {"NAME": [...]}
std::string ListJson(std::string_view name, const std::vector<std::string>& items);
// Adds the counters that a reset sets to zero.
void AddCounters(Json& json, const EmulatorStats& stats);
std::string StatsJson(const EmulatorStats& stats);
std::string ClockJson(const std::string& name_space, const ClockState& state);

// Each returns kInvalidArgument with the field's name on an error. An empty body is an empty
// object.
Result<std::optional<std::string>> NamespaceToReset(std::string_view body);  // nullopt: all of them
Result<std::string> NamespaceToCreate(std::string_view body);
Result<ClockChange> ParseClockChange(std::string_view body);
Result<std::chrono::seconds> ParseCapture(std::string_view body);
Result<SeedRequest> ParseSeedRequest(std::string_view body);
Result<AccessKeyChange> ParseKeyChange(std::string_view body);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_JSON_H_
