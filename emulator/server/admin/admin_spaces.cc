#include <utility>

#include "emulator/identity/users_document.h"
#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/admin/metrics_text.h"

namespace penstock::emulator::server {
namespace {

Result<AdminReply> Health(Emulator&, const AdminCall&) { return AdminReply{HealthJson()}; }

Result<AdminReply> Stats(Emulator& emulator, const AdminCall&) {
  return AdminReply{StatsJson(emulator.stats())};
}

Result<AdminReply> Metrics(Emulator& emulator, const AdminCall&) {
  PENSTOCK_ASSIGN(const EmulatorGauges gauges, emulator.gauges());
  return AdminReply{MetricsText(emulator.stats(), gauges), kMetricsContentType};
}

Result<AdminReply> Reset(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const std::optional<std::string> name, NamespaceToReset(call.body));
  PENSTOCK_TRY(name ? emulator.ResetNamespace(*name) : emulator.Reset());
  return AdminReply{JsonText({{"status", "ok"}})};
}

Result<AdminReply> ListNamespaces(Emulator& emulator, const AdminCall&) {
  PENSTOCK_ASSIGN(const std::vector<std::string> names, emulator.Namespaces());
  return AdminReply{ListJson("namespaces", names)};
}

Result<AdminReply> CreateNamespace(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const std::string name, NamespaceToCreate(call.body));
  PENSTOCK_ASSIGN(const AccessKey key, emulator.CreateNamespace(name));
  return AdminReply{
      JsonText({{"name", name}, {"access_key_id", key.id}, {"secret_access_key", key.secret}})};
}

Result<AdminReply> DeleteNamespace(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.DeleteNamespace(call.name));
  return AdminReply{JsonText({{"status", "ok"}})};
}

Result<AdminReply> ClockReply(const AdminCall& call, Result<ClockState> state) {
  if (!state.ok()) return std::move(state).error();
  return AdminReply{ClockJson(call.space(), *state)};
}

Result<AdminReply> ReadClock(Emulator& emulator, const AdminCall& call) {
  return ClockReply(call, emulator.GetClock(call.space()));
}

Result<AdminReply> ChangeClock(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const ClockChange change, ParseClockChange(call.body));
  return ClockReply(call, emulator.ChangeClock(call.space(), change));
}

Result<AdminReply> RestoreClock(Emulator& emulator, const AdminCall& call) {
  return ClockReply(call, emulator.RestoreClock(call.space()));
}

Result<AdminReply> Seed(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(SeedRequest request, ParseSeedRequest(call.body));
  request.cancelled = call.client_gone;
  PENSTOCK_ASSIGN(const SeedReport report, emulator.Seed(request));
  return AdminReply{JsonText(
      {{"objects", report.objects}, {"bytes", report.bytes}, {"skipped", report.skipped}})};
}

Result<AdminReply> ListUsers(Emulator& emulator, const AdminCall&) {
  PENSTOCK_ASSIGN(std::string users, emulator.ListUsers());
  return AdminReply{std::move(users)};
}

Result<AdminReply> AddUsers(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.AddUsers(call.body));
  return ListUsers(emulator, call);
}

Result<AdminReply> ChangeKey(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const AccessKeyChange change, ParseKeyChange(call.body));
  PENSTOCK_TRY(emulator.ChangeAccessKey(call.name, change));
  return AdminReply{JsonText({{"status", "ok"}})};
}

Result<AdminReply> RemoveKey(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.RemoveAccessKey(call.name));
  return AdminReply{JsonText({{"status", "ok"}})};
}

constexpr AdminRoute kRoutes[] = {
    {"health", "GET", Health},
    {"stats", "GET", Stats},
    {"metrics", "GET", Metrics},
    {"reset", "POST", Reset},
    {"namespaces", "GET", ListNamespaces},
    {"namespaces", "POST", CreateNamespace, 201},
    {"namespaces/", "DELETE", DeleteNamespace},
    {"clock", "GET", ReadClock},
    {"clock", "POST", ChangeClock},
    {"clock", "DELETE", RestoreClock},
    {"clock/", "GET", ReadClock},
    {"clock/", "POST", ChangeClock},
    {"clock/", "DELETE", RestoreClock},
    {"seed", "POST", Seed},
    {"users", "GET", ListUsers},
    {"users", "POST", AddUsers},
    {"access-keys/", "PATCH", ChangeKey},
    {"access-keys/", "DELETE", RemoveKey},
};

}  // namespace

std::span<const AdminRoute> SpaceRoutes() { return kRoutes; }

std::string AdminCall::space() const {
  return name.empty() ? std::string(identity::kDefaultNamespace) : name;
}

Result<std::shared_ptr<void>> TakeTail(const AdminCall& call) {
  std::shared_ptr<void> place = call.concurrency->tails.Take();
  if (place != nullptr) return place;
  return Error::Make(ErrorKind::kUnavailable,
                     "24 requests already wait for entries, which is the limit; retry later");
}

std::string_view AdminCall::Parameter(std::string_view parameter) const {
  for (const auto& [given, value] : query) {
    if (given == parameter) return value;
  }
  return {};
}

}  // namespace penstock::emulator::server
