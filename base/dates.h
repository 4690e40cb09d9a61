// The date formats of the S3 protocol. UTC only, no locale, no time zone database.
//
// Parsers accept years 1970 to 9999 and return nullopt for any other text. WallTime ends in 2262:
// later dates become the last day that it can represent.
#ifndef PENSTOCK_BASE_DATES_H_
#define PENSTOCK_BASE_DATES_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/clock.h"

namespace penstock {

// A date of the years 1970 to 9999. Do not compare it with a WallTime: C++ converts it to
// nanoseconds, which overflow after 2262.
using CalendarTime = std::chrono::sys_time<std::chrono::milliseconds>;
// "9999-12-31T23:59:59.999Z".
inline constexpr CalendarTime kLastCalendarTime(std::chrono::milliseconds(253'402'300'799'999));

std::string FormatHttpDate(WallTime time);  // "Fri, 24 May 2013 00:00:00 GMT"
// "2013-05-24T00:00:00.000Z", always with milliseconds.
std::string FormatIso8601(WallTime time);
std::string FormatCalendarTime(CalendarTime time);  // as FormatIso8601
std::string FormatAmzDate(WallTime time);           // "20130524T000000Z"
std::string FormatAmzDay(WallTime time);            // "20130524"

std::optional<WallTime> ParseHttpDate(std::string_view text);  // RFC 1123; also RFC 850 and asctime
// With or without a fraction; "Z" or "+hh:mm".
std::optional<WallTime> ParseIso8601(std::string_view text);
// The same, to milliseconds. Later dates, in zones west of UTC, become kLastCalendarTime.
std::optional<CalendarTime> ParseCalendarTime(std::string_view text);
std::optional<WallTime> ParseAmzDate(std::string_view text);

// Returns `now` plus `ahead`, which may be negative. The result is at least one day before the end
// of WallTime (2262), so that margins of minutes can be added to it. `now` must not be before 1970.
inline WallTime TimeAhead(WallTime now, std::chrono::nanoseconds ahead) {
  constexpr WallTime kLast = WallTime::max() - std::chrono::days(1);
  const auto step = std::chrono::duration_cast<WallTime::duration>(ahead);
  return now >= kLast || step > kLast - now ? kLast : now + step;
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_DATES_H_
