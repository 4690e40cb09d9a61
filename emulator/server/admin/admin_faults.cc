#include <string>

#include "emulator/faults/documents/named_scenarios.h"
#include "emulator/identity/users_document.h"
#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

// Returns the namespace in the query parameter. For retry tests the name in the path is the id of
// the test, not a namespace.
std::string SpaceOf(const AdminCall& call) {
  const std::string_view name = call.Parameter("namespace");
  return std::string(name.empty() ? identity::kDefaultNamespace : name);
}

Result<AdminReply> ReadFaults(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(std::string account, emulator.FaultAccount(call.space()));
  return AdminReply{std::move(account)};
}

Result<AdminReply> SetFaults(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.SetFaults(call.space(), call.body));
  return ReadFaults(emulator, call);
}

Result<AdminReply> ClearFaults(Emulator& emulator, const AdminCall& call) {
  const std::string_view forget = call.Parameter("forget");
  if (!forget.empty() && forget != "true" && forget != "false") {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "forget must be true or false, not '" + std::string(forget) + "'");
  }
  PENSTOCK_TRY(forget == "true" ? emulator.ForgetFaults(call.space())
                                : emulator.ClearFaults(call.space()));
  return AdminReply{JsonText({{"status", "ok"}})};
}

Result<AdminReply> ListRetryTests(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const std::vector<std::string> ids, emulator.RetryTests(SpaceOf(call)));
  return AdminReply{ListJson("retry_tests", ids)};
}

Result<AdminReply> CreateRetryTest(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const std::string id, emulator.CreateRetryTest(SpaceOf(call), call.body));
  return AdminReply{JsonText({{"id", id}})};
}

Result<AdminReply> ReadRetryTest(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(std::string account, emulator.RetryTestAccount(SpaceOf(call), call.name));
  return AdminReply{std::move(account)};
}

Result<AdminReply> DeleteRetryTest(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(emulator.DeleteRetryTest(SpaceOf(call), call.name));
  return AdminReply{JsonText({{"status", "ok"}})};
}

Result<AdminReply> ListScenarios(Emulator&, const AdminCall&) {
  return AdminReply{faults::NamedScenariosJson()};
}

constexpr AdminRoute kRoutes[] = {
    {"faults", "GET", ReadFaults},
    {"faults", "PUT", SetFaults},
    {"faults", "DELETE", ClearFaults, 200, "forget"},
    {"faults/", "GET", ReadFaults},
    {"faults/", "PUT", SetFaults},
    {"faults/", "DELETE", ClearFaults, 200, "forget"},
    {"retry-tests", "GET", ListRetryTests, 200, "namespace"},
    {"retry-tests", "POST", CreateRetryTest, 201, "namespace"},
    {"retry-tests/", "GET", ReadRetryTest, 200, "namespace"},
    {"retry-tests/", "DELETE", DeleteRetryTest, 200, "namespace"},
    {"scenarios", "GET", ListScenarios},
};

}  // namespace

std::span<const AdminRoute> FaultRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
