// The date forms of S3's wire. UTC only, no locale, no time zone database.
//
// Parsers take years 1970 to 9999 and nothing but the form, or answer nullopt. WallTime ends in
// 2262: dates beyond are read as the last day it can hold.
#ifndef PENSTOCK_BASE_DATES_H_
#define PENSTOCK_BASE_DATES_H_

#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/clock.h"

namespace penstock {

std::string FormatHttpDate(WallTime time);  // "Fri, 24 May 2013 00:00:00 GMT"
// "2013-05-24T00:00:00.000Z", milliseconds always printed
std::string FormatIso8601(WallTime time);
std::string FormatAmzDate(WallTime time);  // "20130524T000000Z"
std::string FormatAmzDay(WallTime time);   // "20130524"

std::optional<WallTime> ParseHttpDate(std::string_view text);  // RFC 1123; also RFC 850 and asctime
// with or without fraction, "Z" or "+hh:mm"
std::optional<WallTime> ParseIso8601(std::string_view text);
std::optional<WallTime> ParseAmzDate(std::string_view text);

}  // namespace penstock

#endif  // PENSTOCK_BASE_DATES_H_
