#include <charconv>
#include <chrono>
#include <memory>
#include <utility>

#include "emulator/json/json_fields.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/admin/live_stream.h"

namespace penstock::emulator::server {
namespace {

constexpr int kDefaultIntervalMs = 500;
constexpr int kShortestIntervalMs = 100;
constexpr int kLongestIntervalMs = 10'000;

Result<std::chrono::milliseconds> IntervalOf(std::string_view text) {
  int interval = text.empty() ? kDefaultIntervalMs : 0;
  if (!text.empty()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), interval);
    if (error != std::errc() || end != text.data() + text.size()) interval = 0;
  }
  if (interval >= kShortestIntervalMs && interval <= kLongestIntervalMs)
    return std::chrono::milliseconds(interval);
  return FieldError("interval_ms",
                    "must be an integer from 100 to 10000, not '" + std::string(text) + "'");
}

Result<AdminReply> Live(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const std::chrono::milliseconds interval,
                  IntervalOf(call.Parameter("interval_ms")));
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
