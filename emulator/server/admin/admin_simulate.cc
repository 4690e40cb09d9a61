#include <utility>

#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

Result<AdminReply> Simulate(Emulator& emulator, const AdminCall& call) {
  const std::shared_ptr<void> place = call.concurrency->simulations.Take();
  if (place == nullptr) {
    return Error::Make(ErrorKind::kUnavailable,
                       "2 simulations already run, which is the limit; retry later");
  }
  PENSTOCK_ASSIGN(std::string report,
                  emulator.Simulate({.job = call.body, .cancelled = call.client_gone}));
  return AdminReply{std::move(report) + "\n"};
}

constexpr AdminRoute kRoutes[] = {{"simulate", "POST", Simulate}};

}  // namespace

std::span<const AdminRoute> SimulateRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
