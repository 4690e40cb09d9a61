#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "emulator/server/admin/admin_parameters.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/admin/live_stream.h"

namespace penstock::emulator::server {
namespace {

constexpr std::uint64_t kDefaultIntervalMs = 500;
constexpr std::uint64_t kShortestIntervalMs = 100;
constexpr std::uint64_t kLongestIntervalMs = 10'000;

Result<AdminReply> Live(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const auto interval_ms,
                  WholeParameter(call, "interval_ms", kLongestIntervalMs, kShortestIntervalMs));
  const std::chrono::milliseconds interval(interval_ms.value_or(kDefaultIntervalMs));
  PENSTOCK_TRY(call.hooks->activity_of(call.space()));  // an unknown namespace
  std::shared_ptr<void> place = call.concurrency->live.Take();
  if (place == nullptr) {
    return Error::Make(ErrorKind::kUnavailable,
                       "16 clients already receive events, which is the limit; close one, or retry "
                       "later");
  }
  return AdminReply{
      MakeLiveStream(emulator, call.hooks->activity_of, call.space(), interval, std::move(place)),
      "text/event-stream"};
}

constexpr AdminRoute kRoutes[] = {
    {"live", "GET", Live, 200, "interval_ms"},
    {"live/", "GET", Live, 200, "interval_ms"},
};

}  // namespace

std::span<const AdminRoute> LiveRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
