// JSON of the limiter's report.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LIMITS_REPORT_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LIMITS_REPORT_H_

#include <atomic>
#include <string>
#include <string_view>

#include "emulator/traffic/rate_limiter.h"

namespace penstock::emulator::traffic {

// Returns one line (docs/reference/admin-api.md). Invalid UTF-8 in keys becomes U+FFFD. Takes
// linear time. Returns kUnavailable once `stop` is true; null: never.
Result<std::string> LimitsReportJson(std::string_view name_space, const ThrottleReport& report,
                                     const std::atomic<bool>* stop = nullptr);

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LIMITS_REPORT_H_
