#include "emulator/s3/core/exchange.h"

#include "base/dates.h"
#include "base/log/log.h"
#include "emulator/message/errors.h"

namespace penstock::emulator::s3 {

std::optional<WallTime> Exchange::Now() const {
  if (!space || space->clock == nullptr) return std::nullopt;
  return TimeAhead(space->clock->Now(), clock_ahead);
}

void Exchange::ReportDamage(const std::string& detail) const {
  Log({LogLevel::kError,
       "store.damaged",
       {{"request_id", request_id},
        {"bucket", target.bucket.value},
        {"key", target.key.value},
        {"detail", detail}}});
}

Result<void> RefuseIfCancelled(const Exchange& exchange) {
  if (exchange.wire == nullptr || !exchange.wire->IsCancelled()) return Ok();
  return message::ServerStops();
}

}  // namespace penstock::emulator::s3
