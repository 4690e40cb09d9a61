#include "emulator/faults/connection_rules.h"

#include <algorithm>
#include <string>
#include <vector>

namespace penstock::emulator::faults {

bool IsOfConnections(const Rule& rule) { return !rule.deeds.empty() && rule.deeds.front().at.stage == Stage::kAccept; }

Result<void> RefuseConnectionRules(const Scenario& scenario, std::string_view reason) {
  const auto found = std::find_if(scenario.rules.begin(), scenario.rules.end(), IsOfConnections);
  if (found == scenario.rules.end()) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     "rule '" + found->id + "': happens at accept, and would never happen here: " + std::string(reason) +
                         ". The default namespace's scenario decides on connections: set it there, PUT /_penstock/faults (in a "
                         "test, s3_server.faults().set(...))");
}

void DropConnectionRules(Scenario& scenario) { std::erase_if(scenario.rules, IsOfConnections); }

}  // namespace penstock::emulator::faults
