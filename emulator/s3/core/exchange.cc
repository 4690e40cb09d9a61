#include "emulator/s3/core/exchange.h"

#include "base/dates.h"
#include "base/log/log.h"

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

}  // namespace penstock::emulator::s3
