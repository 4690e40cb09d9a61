#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_parameters.h"
#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

constexpr std::uint64_t kMostEventsOfReading = 1000;

Result<AdminReply> Read(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(AllowOnly(call, {"namespace", "after", "newest", "wait_ms"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> after, WholeParameter(call, "after"));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> newest,
                  WholeParameter(call, "newest", kMostEventsOfReading));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> wait_ms,
                  WholeParameter(call, "wait_ms", kLongestWaitMs));
  std::shared_ptr<void> place;
  if (wait_ms.value_or(0) > 0) {
    PENSTOCK_ASSIGN(place, TakeTail(call));
  }
  const MonotonicTime until =
      SystemClock().Monotonic() + std::chrono::milliseconds(wait_ms.value_or(0));
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - SystemClock().Monotonic());
    PENSTOCK_ASSIGN(
        std::string events,
        emulator.ReadEvents(call.space(), after.value_or(0),
                            std::clamp(left, std::chrono::milliseconds(0), kWaitSlice), newest));
    const bool found = !events.ends_with("\"events\":[]}");
    if (found || left <= kWaitSlice || call.client_gone())
      return AdminReply{std::move(events) + "\n"};
  }
}

Result<AdminReply> Remove(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(AllowOnly(call, {"namespace", "through"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> last, WholeParameter(call, "through"));
  PENSTOCK_TRY(emulator.RemoveEvents(call.space(), last.value_or(kMaxExactInteger)));
  return AdminReply{JsonText({{"status", "ok"}})};
}

constexpr AdminRoute kRoutes[] = {
    {"events", "GET", Read, 200, "*"},
    {"events", "DELETE", Remove, 200, "*"},
    {"events/", "GET", Read, 200, "*"},
    {"events/", "DELETE", Remove, 200, "*"},
};

}  // namespace

std::span<const AdminRoute> EventRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
