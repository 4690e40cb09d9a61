// The JSON of the admin API: what its requests say, and its answers as text.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_JSON_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_JSON_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/json/json_tree.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// One line; bytes that are no UTF-8 are replaced.
std::string JsonText(const Json& json);
// An object. It builds no tree, which a failed allocation could not end.
std::string JsonText(std::initializer_list<std::pair<std::string_view, Json>> members);

std::string HealthJson();  // also in the shape that waits for LocalStack look for
// {"NAME": [...]}
std::string ListJson(std::string_view name, const std::vector<std::string>& items);
std::string StatsJson(const EmulatorStats& stats);
std::string ClockJson(const std::string& name_space, const ClockState& state);

// Each: kInvalidArgument naming the field. An empty body is an empty object.
Result<std::optional<std::string>> NamespaceToReset(std::string_view body);  // nullopt: all of them
Result<std::string> NamespaceToCreate(std::string_view body);
Result<ClockChange> ParseClockChange(std::string_view body);
Result<SeedRequest> ParseSeedRequest(std::string_view body);
Result<AccessKeyChange> ParseKeyChange(std::string_view body);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_JSON_H_
