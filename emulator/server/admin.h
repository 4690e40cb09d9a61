// The admin listener's Handler: /_penstock/health, /_penstock/stats, /_penstock/reset, in JSON.
//
// On a port of its own, so that no bucket name is taken and no signature is needed: bind it to a trusted address.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_H_

#include <functional>
#include <memory>

#include "emulator/api/exchange.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Called from the admin listener's threads.
struct AdminActions {
  std::function<EmulatorStats()> stats;
  std::function<Result<void>()> reset;
};

// Statistics as the admin listener and the log of tests show them.
std::string StatsJson(const EmulatorStats& stats);

std::unique_ptr<api::Handler> MakeAdmin(AdminActions actions);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_H_
