#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/dates.h"
#include "emulator/json/json_fields.h"
#include "emulator/server/admin/admin_parameters.h"
#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

Result<LifecycleRequest> RequestOf(const AdminCall& call,
                                   std::initializer_list<std::string_view> allowed) {
  PENSTOCK_TRY(AllowOnly(call, allowed));
  LifecycleRequest request;
  for (const auto& [name, value] : call.query) {
    if (name == "namespace") request.name_space = value;
    if (name == "bucket") request.bucket = value;
    if (name != "by") continue;
    request.by = ParseIso8601(value);
    if (!request.by)
      return FieldError(name, "must be a time such as 2030-01-31T00:00:00Z, not '" + value + "'");
    // Later times became request.by.
    if (*ParseCalendarTime(value) > std::chrono::ceil<std::chrono::milliseconds>(*request.by))
      return FieldError(name,
                        "must be at most " + FormatIso8601(*request.by) + ", not '" + value + "'");
  }
  request.cancelled = call.client_gone;
  return request;
}

// A run occupies its thread. The limit leaves threads for other requests.
Error TooManyRuns() {
  return Error::Make(
      ErrorKind::kUnavailable,
      "8 lifecycle requests are already in progress, which is the limit; retry later");
}

Result<AdminReply> Preview(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const LifecycleRequest request, RequestOf(call, {"namespace", "bucket", "by"}));
  const std::shared_ptr<void> place = call.concurrency->lifecycle.Take();
  if (place == nullptr) return TooManyRuns();
  PENSTOCK_ASSIGN(std::string account, emulator.PreviewLifecycle(request));
  return AdminReply{std::move(account)};
}

Result<AdminReply> Run(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const LifecycleRequest request, RequestOf(call, {"namespace", "bucket"}));
  const std::shared_ptr<void> place = call.concurrency->lifecycle.Take();
  if (place == nullptr) return TooManyRuns();
  PENSTOCK_ASSIGN(std::string account, emulator.RunLifecycle(request));
  return AdminReply{std::move(account)};
}

constexpr AdminRoute kRoutes[] = {
    {"lifecycle", "GET", Preview, 200, "*"},
    {"lifecycle/run", "POST", Run, 200, "*"},
};

}  // namespace

std::span<const AdminRoute> LifecycleRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
