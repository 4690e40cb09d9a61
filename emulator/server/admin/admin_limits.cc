#include <utility>

#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

Result<AdminReply> ReadLimits(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(std::string report, emulator.LimitsReport(call.space()));
  return AdminReply{std::move(report) + "\n"};
}

Result<AdminReply> SetLimits(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.SetLimits(call.space(), call.body));
  return ReadLimits(emulator, call);
}

Result<AdminReply> LiftLimits(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.SetLimits(call.space(), "{}"));
  return ReadLimits(emulator, call);
}

constexpr AdminRoute kRoutes[] = {
    {"limits", "GET", ReadLimits},    {"limits", "PUT", SetLimits},
    {"limits", "DELETE", LiftLimits}, {"limits/", "GET", ReadLimits},
    {"limits/", "PUT", SetLimits},    {"limits/", "DELETE", LiftLimits},
};

}  // namespace

std::span<const AdminRoute> LimitRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
