#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/json/json_fields.h"
#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

Result<void> RefuseOthers(const AdminCall& call, std::initializer_list<std::string_view> allowed) {
  for (const auto& [name, value] : call.query) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
      return FieldError(name, "is not a parameter of this request");
  }
  return Ok();
}

Result<std::uint64_t> Number(const AdminCall& call, std::string_view name, std::uint64_t fallback,
                             std::uint64_t most) {
  const std::string_view text = call.Parameter(name);
  if (text.empty()) return fallback;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number <= most) return number;
  return FieldError(name, "must be an integer from 0 to " + std::to_string(most) + ", not '" +
                              std::string(text) + "'");
}

Result<AdminReply> Read(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(RefuseOthers(call, {"namespace", "after", "wait_ms"}));
  PENSTOCK_ASSIGN(const std::uint64_t after, Number(call, "after", 0, kMaxExactInteger));
  PENSTOCK_ASSIGN(const std::uint64_t wait_ms, Number(call, "wait_ms", 0, kLongestWaitMs));
  std::shared_ptr<void> place;
  if (wait_ms > 0) {
    PENSTOCK_ASSIGN(place, TakeTail(call));
  }
  const MonotonicTime until = SystemClock().Monotonic() + std::chrono::milliseconds(wait_ms);
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - SystemClock().Monotonic());
    PENSTOCK_ASSIGN(
        std::string events,
        emulator.ReadEvents(call.space(), after,
                            std::clamp(left, std::chrono::milliseconds(0), kWaitSlice)));
    const bool found = !events.ends_with("\"events\":[]}");
    if (found || left <= kWaitSlice || call.client_gone())
      return AdminReply{std::move(events) + "\n"};
  }
}

Result<AdminReply> Remove(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_TRY(RefuseOthers(call, {"namespace", "through"}));
  PENSTOCK_ASSIGN(const std::uint64_t last,
                  Number(call, "through", kMaxExactInteger, kMaxExactInteger));
  PENSTOCK_TRY(emulator.RemoveEvents(call.space(), last));
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
