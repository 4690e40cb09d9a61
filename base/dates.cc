#include "base/dates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace penstock {
namespace {

namespace chrono = std::chrono;

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> kLongDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

// A time in calendar fields.
struct Fields {
  int year = 1970;
  int month = 1;  // 1..12
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int nanosecond = 0;
};

struct BrokenDownTime {
  Fields fields;
  std::size_t weekday = 0;  // 0 is Sunday
};

template <class Duration>
BrokenDownTime BreakDown(chrono::sys_time<Duration> time) {
  const auto days = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(days);
  const chrono::hh_mm_ss clock(chrono::floor<chrono::nanoseconds>(time - days));
  BrokenDownTime result;
  result.weekday = chrono::weekday(days).c_encoding();
  result.fields = {.year = static_cast<int>(date.year()),
                   .month = static_cast<int>(static_cast<unsigned>(date.month())),
                   .day = static_cast<int>(static_cast<unsigned>(date.day())),
                   .hour = static_cast<int>(clock.hours().count()),
                   .minute = static_cast<int>(clock.minutes().count()),
                   .second = static_cast<int>(clock.seconds().count()),
                   .nanosecond = static_cast<int>(clock.subseconds().count())};
  return result;
}

// The latest time that the parsers return. WallTime counts nanoseconds in 64 bits and ends in 2262.
constexpr WallTime kLatest(chrono::floor<chrono::seconds>(WallTime::max()).time_since_epoch() -
                           chrono::days(1));

// Returns the time in whole seconds, or nullopt if a field is out of range. A leap second (:60)
// becomes the following second, as in POSIX.
std::optional<chrono::sys_seconds> SecondsOf(const Fields& fields) {
  if (fields.year < 1970 || fields.year > 9999) return std::nullopt;
  const chrono::year_month_day date(chrono::year(fields.year),
                                    chrono::month(static_cast<unsigned>(fields.month)),
                                    chrono::day(static_cast<unsigned>(fields.day)));
  if (!date.ok() || fields.hour > 23 || fields.minute > 59 || fields.second > 60)
    return std::nullopt;
  return chrono::sys_days(date) + chrono::hours(fields.hour) + chrono::minutes(fields.minute) +
         chrono::seconds(fields.second);
}

// As SecondsOf, with the nanoseconds. Later times become kLatest.
std::optional<WallTime> TimeOf(const Fields& fields) {
  const std::optional<chrono::sys_seconds> seconds = SecondsOf(fields);
  if (!seconds) return std::nullopt;
  if (*seconds >= chrono::floor<chrono::seconds>(kLatest)) return kLatest;
  return WallTime(
      chrono::duration_cast<WallTime::duration>(seconds->time_since_epoch()) +
      chrono::duration_cast<WallTime::duration>(chrono::nanoseconds(fields.nanosecond)));
}

// Overwrites `digits` characters at `at`.
void PutNumber(std::string& out, std::size_t at, std::size_t digits, int value) {
  for (std::size_t i = digits; i-- > 0; value /= 10)
    out[at + i] = static_cast<char>('0' + value % 10);
}

void AppendNumber(std::string& out, int value, std::size_t digits) {
  const std::size_t end = out.size() + digits;
  out.resize(end, '0');
  for (std::size_t i = 1; i <= digits; ++i, value /= 10)
    out[end - i] = static_cast<char>('0' + value % 10);
}

// Parses a text from left to right. Every Take method returns false and consumes nothing if the
// text does not match.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Done() const { return rest_.empty(); }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Take(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  // Takes exactly `digits` decimal digits, at most 9.
  bool TakeNumber(std::size_t digits, int& value) {
    if (rest_.size() < digits) return false;
    int number = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + (c - '0');
    }
    value = number;
    rest_.remove_prefix(digits);
    return true;
  }

  template <std::size_t size>
  bool TakeName(const std::array<std::string_view, size>& names, int& index) {
    for (std::size_t i = 0; i < size; ++i) {
      if (!Take(names[i])) continue;
      index = static_cast<int>(i);
      return true;
    }
    return false;
  }

  bool TakeMonth(int& month) {
    if (!TakeName(kMonths, month)) return false;
    ++month;
    return true;
  }

  // Takes "hh:mm:ss".
  bool TakeClock(Fields& fields) {
    return TakeNumber(2, fields.hour) && Take(':') && TakeNumber(2, fields.minute) && Take(':') &&
           TakeNumber(2, fields.second);
  }

  // Takes one or more fraction digits. Digits beyond nanoseconds are dropped.
  bool TakeFraction(int& nanosecond) {
    int digit = 0;
    if (!TakeNumber(1, digit)) return false;
    nanosecond = 0;
    for (int scale = 100'000'000;; scale /= 10) {
      nanosecond += digit * scale;
      if (!TakeNumber(1, digit)) return true;
    }
  }

 private:
  std::string_view rest_;
};

// Takes the rest of "Sun, 06 Nov 1994 08:49:37 GMT" after the day name. The mail RFCs allow several
// spellings of UTC.
bool TakeRfc1123(Scanner& scan, Fields& fields) {
  if (!scan.Take(", ")) return false;
  if (!scan.TakeNumber(2, fields.day) && !scan.TakeNumber(1, fields.day)) return false;
  return scan.Take(' ') && scan.TakeMonth(fields.month) && scan.Take(' ') &&
         scan.TakeNumber(4, fields.year) && scan.Take(' ') && scan.TakeClock(fields) &&
         (scan.Take(" GMT") || scan.Take(" UTC") || scan.Take(" +0000") || scan.Take(" -0000"));
}

// Takes the rest of "Sunday, 06-Nov-94 08:49:37 GMT" after the day name. Two-digit years below 70
// are in this century.
bool TakeRfc850(Scanner& scan, Fields& fields) {
  if (!(scan.Take(", ") && scan.TakeNumber(2, fields.day) && scan.Take('-') &&
        scan.TakeMonth(fields.month) && scan.Take('-') && scan.TakeNumber(2, fields.year))) {
    return false;
  }
  fields.year += fields.year < 70 ? 2000 : 1900;
  return scan.Take(' ') && scan.TakeClock(fields) && scan.Take(" GMT");
}

// Takes the rest of "Sun Nov  6 08:49:37 1994" after the day name.
bool TakeAsctime(Scanner& scan, Fields& fields) {
  if (!(scan.Take(' ') && scan.TakeMonth(fields.month) && scan.Take(' '))) return false;
  const bool day = scan.Take(' ') ? scan.TakeNumber(1, fields.day) : scan.TakeNumber(2, fields.day);
  return day && scan.Take(' ') && scan.TakeClock(fields) && scan.Take(' ') &&
         scan.TakeNumber(4, fields.year);
}

// Takes "Z", "+hh:mm" or "-hh:mm". `offset` is the local time minus UTC.
bool TakeZone(Scanner& scan, chrono::minutes& offset) {
  if (scan.Take('Z')) return true;
  const bool ahead = scan.Take('+');
  if (!ahead && !scan.Take('-')) return false;
  int hours = 0;
  int minutes = 0;
  if (!(scan.TakeNumber(2, hours) && scan.Take(':') && scan.TakeNumber(2, minutes))) return false;
  if (hours > 23 || minutes > 59) return false;
  offset = chrono::hours(hours) + chrono::minutes(minutes);
  if (!ahead) offset = -offset;
  return true;
}

struct ZonedFields {
  Fields fields;
  chrono::minutes offset{0};  // the local time minus UTC
};

std::optional<ZonedFields> ScanIso8601(std::string_view text) {
  ZonedFields found;
  Fields& fields = found.fields;
  Scanner scan(text);
  if (!(scan.TakeNumber(4, fields.year) && scan.Take('-') && scan.TakeNumber(2, fields.month) &&
        scan.Take('-') && scan.TakeNumber(2, fields.day) && scan.Take('T') &&
        scan.TakeClock(fields))) {
    return std::nullopt;
  }
  if (scan.Take('.') && !scan.TakeFraction(fields.nanosecond)) return std::nullopt;
  if (!TakeZone(scan, found.offset) || !scan.Done()) return std::nullopt;
  return found;
}

template <class Duration>
std::string Iso8601(chrono::sys_time<Duration> time) {
  const Fields fields = BreakDown(time).fields;
  std::string out;
  out.reserve(24);
  AppendNumber(out, fields.year, 4);
  out += '-';
  AppendNumber(out, fields.month, 2);
  out += '-';
  AppendNumber(out, fields.day, 2);
  out += 'T';
  AppendNumber(out, fields.hour, 2);
  out += ':';
  AppendNumber(out, fields.minute, 2);
  out += ':';
  AppendNumber(out, fields.second, 2);
  out += '.';
  AppendNumber(out, fields.nanosecond / 1'000'000, 3);
  out += 'Z';
  return out;
}

}  // namespace

std::string FormatHttpDate(WallTime time) {
  const auto [fields, weekday] = BreakDown(time);
  std::string out("DDD, dd MMM yyyy hh:mm:ss GMT");
  kDays[weekday].copy(&out[0], 3);
  PutNumber(out, 5, 2, fields.day);
  kMonths[static_cast<std::size_t>(fields.month - 1)].copy(&out[8], 3);
  PutNumber(out, 12, 4, fields.year);
  PutNumber(out, 17, 2, fields.hour);
  PutNumber(out, 20, 2, fields.minute);
  PutNumber(out, 23, 2, fields.second);
  return out;
}

std::string FormatIso8601(WallTime time) { return Iso8601(time); }

std::string FormatCalendarTime(CalendarTime time) { return Iso8601(time); }

std::string FormatAmzDate(WallTime time) {
  const Fields fields = BreakDown(time).fields;
  std::string out("yyyyMMddThhmmssZ");
  PutNumber(out, 0, 4, fields.year);
  PutNumber(out, 4, 2, fields.month);
  PutNumber(out, 6, 2, fields.day);
  PutNumber(out, 9, 2, fields.hour);
  PutNumber(out, 11, 2, fields.minute);
  PutNumber(out, 13, 2, fields.second);
  return out;
}

std::string FormatAmzDay(WallTime time) {
  const Fields fields = BreakDown(time).fields;
  std::string out;
  AppendNumber(out, fields.year, 4);
  AppendNumber(out, fields.month, 2);
  AppendNumber(out, fields.day, 2);
  return out;
}

std::optional<WallTime> ParseHttpDate(std::string_view text) {
  Fields fields;
  // The day name is required but not compared with the date.
  int weekday = 0;
  Scanner scan(text);
  bool matches = false;
  if (text.size() == 29 && text[3] == ',') {  // the form that servers send
    matches = scan.TakeName(kDays, weekday) && TakeRfc1123(scan, fields);
  } else if (scan.TakeName(kLongDays, weekday)) {
    matches = TakeRfc850(scan, fields);
  } else if (scan.TakeName(kDays, weekday)) {
    matches = TakeRfc1123(scan, fields) || TakeAsctime(scan, fields);
  }
  if (!matches || !scan.Done()) return std::nullopt;
  return TimeOf(fields);
}

std::optional<WallTime> ParseIso8601(std::string_view text) {
  const std::optional<ZonedFields> found = ScanIso8601(text);
  const std::optional<WallTime> local = found ? TimeOf(found->fields) : std::nullopt;
  if (!local || *local - found->offset < WallTime{}) return std::nullopt;
  return std::min(*local - found->offset, kLatest);
}

std::optional<CalendarTime> ParseCalendarTime(std::string_view text) {
  const std::optional<ZonedFields> found = ScanIso8601(text);
  const auto seconds = found ? SecondsOf(found->fields) : std::nullopt;
  if (!seconds) return std::nullopt;
  const CalendarTime time =
      *seconds - found->offset + chrono::milliseconds(found->fields.nanosecond / 1'000'000);
  if (time < CalendarTime{}) return std::nullopt;
  return std::min(time, kLastCalendarTime);
}

std::optional<WallTime> ParseAmzDate(std::string_view text) {
  Fields fields;
  Scanner scan(text);
  const bool matches = scan.TakeNumber(4, fields.year) && scan.TakeNumber(2, fields.month) &&
                       scan.TakeNumber(2, fields.day) && scan.Take('T') &&
                       scan.TakeNumber(2, fields.hour) && scan.TakeNumber(2, fields.minute) &&
                       scan.TakeNumber(2, fields.second) && scan.Take('Z');
  if (!matches || !scan.Done()) return std::nullopt;
  return TimeOf(fields);
}

}  // namespace penstock
