// What a limiter reports, as JSON.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_LIMITS_REPORT_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_LIMITS_REPORT_H_

#include <string>
#include <string_view>

#include "emulator/instruments/rate_limiter.h"

namespace penstock::emulator::instruments {

// One line (docs/admin-api.md). Keys that are no UTF-8 have replacement characters.
std::string LimitsReportJson(std::string_view name_space, const ThrottleReport& report);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_LIMITS_REPORT_H_
