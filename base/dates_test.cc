#include "base/dates.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace penstock {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

WallTime At(std::int64_t unix_seconds) { return WallTime(seconds(unix_seconds)); }

// Expected values are from `date -u -d @N`.
constexpr std::int64_t kSigV4Example = 1369353600;  // 2013-05-24T00:00:00Z
constexpr std::int64_t kRfcExample = 784111777;     // 1994-11-06T08:49:37Z

TEST(DatesTest, FormatsTheWireForms) {
  EXPECT_EQ(FormatHttpDate(At(kSigV4Example)), "Fri, 24 May 2013 00:00:00 GMT");
  EXPECT_EQ(FormatIso8601(At(kSigV4Example)), "2013-05-24T00:00:00.000Z");
  EXPECT_EQ(FormatAmzDate(At(kSigV4Example)), "20130524T000000Z");
  EXPECT_EQ(FormatAmzDay(At(kSigV4Example)), "20130524");
}

TEST(DatesTest, FormatsMillisecondsRoundedDown) {
  EXPECT_EQ(FormatIso8601(At(kRfcExample) + std::chrono::microseconds(7999)),
            "1994-11-06T08:49:37.007Z");
}

TEST(DatesTest, FormatsLeapDaysAndYearEnds) {
  EXPECT_EQ(FormatIso8601(At(951782400)), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(FormatHttpDate(At(1735689599)), "Tue, 31 Dec 2024 23:59:59 GMT");
  EXPECT_EQ(FormatAmzDate(At(0)), "19700101T000000Z");
}

TEST(DatesTest, FormatsTimesBeforeTheEpoch) {
  EXPECT_EQ(FormatIso8601(At(-1)), "1969-12-31T23:59:59.000Z");
}

// The three examples of RFC 9110 section 5.6.7.
TEST(ParseHttpDateTest, ReadsTheThreeForms) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), At(kRfcExample));
  EXPECT_EQ(ParseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT"), At(kRfcExample));
  EXPECT_EQ(ParseHttpDate("Sun Nov  6 08:49:37 1994"), At(kRfcExample));
  EXPECT_EQ(ParseHttpDate("Sun Nov 16 08:49:37 1994"), At(kRfcExample + 10 * 86400));
}

TEST(ParseHttpDateTest, ReadsOtherSpellingsOfUtc) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 +0000"), At(kRfcExample));
  EXPECT_EQ(ParseHttpDate("Sun, 6 Nov 1994 08:49:37 UTC"), At(kRfcExample));
}

TEST(ParseHttpDateTest, TwoDigitYearsBelow70AreInThisCentury) {
  EXPECT_EQ(ParseHttpDate("Friday, 24-May-13 00:00:00 GMT"), At(kSigV4Example));
}

TEST(ParseHttpDateTest, RejectsGarbage) {
  for (const char* text : {"",
                           "x",
                           "Sun",
                           "Sun,",
                           "Sun, ",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 CET",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 29 Feb 2023 08:49:37 GMT",
                           "Sun, 06 Nox 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1969 08:49:37 GMT",
                           "Sun, 06 Nov -994 08:49:37 GMT",
                           "Sun, 06 Nov 199 08:49:37 GMT",
                           "sun, 06 nov 1994 08:49:37 gmt",
                           "784111777",
                           "Sunday, 06 Nov 1994 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994"}) {
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
  }
}

TEST(ParseIso8601Test, ReadsFractionsAndOffsets) {
  EXPECT_EQ(ParseIso8601("1994-11-06T08:49:37Z"), At(kRfcExample));
  EXPECT_EQ(ParseIso8601("1994-11-06T08:49:37.5Z"), At(kRfcExample) + milliseconds(500));
  EXPECT_EQ(ParseIso8601("1994-11-06T08:49:37.000Z"), At(kRfcExample));
  EXPECT_EQ(ParseIso8601("1994-11-06T08:49:37.123456789123Z"),
            At(kRfcExample) + std::chrono::nanoseconds(123456789));
  EXPECT_EQ(ParseIso8601("1994-11-06T10:19:37+01:30"), At(kRfcExample));
  EXPECT_EQ(ParseIso8601("1994-11-06T00:49:37-08:00"), At(kRfcExample));
}

TEST(ParseIso8601Test, LeapSecondIsTheNextSecond) {
  EXPECT_EQ(ParseIso8601("2016-12-31T23:59:60Z"), ParseIso8601("2017-01-01T00:00:00Z"));
}

TEST(ParseIso8601Test, RejectsGarbage) {
  for (const char* text :
       {"", "1994", "1994-11-06", "1994-11-06T", "1994-11-06T08:49:37", "1994-11-06T08:49:37.Z",
        "1994-11-06 08:49:37Z", "1994-11-06T08:49:37z", "1994-11-06T08:49:37Zx",
        "1994-13-06T08:49:37Z", "1994-00-06T08:49:37Z", "1994-11-06T08:49:37+0100",
        "1994-11-06T08:49:37+24:00", "1994-11-06T08:49:37+00:60", "1994-11-06T08:49:37+",
        "1994-1-06T08:49:37Z", "+994-11-06T08:49:37Z", "19941106T084937Z", "1994-11-06T08:49Z"}) {
    EXPECT_EQ(ParseIso8601(text), std::nullopt) << text;
  }
}

TEST(ParseAmzDateTest, ReadsExactlyOneForm) {
  EXPECT_EQ(ParseAmzDate("20130524T000000Z"), At(kSigV4Example));
  for (const char* text :
       {"", "20130524", "20130524T000000", "20130524T000000Z ", "2013-05-24T00:00:00Z",
        "20130532T000000Z", "20130524T250000Z", "20130524t000000z", "2013052xT000000Z"}) {
    EXPECT_EQ(ParseAmzDate(text), std::nullopt) << text;
  }
}

TEST(DatesTest, DatesBeyondTheClockRangeStayInTheFarFuture) {
  const auto last = ParseIso8601("9999-12-31T23:59:59Z");
  ASSERT_TRUE(last.has_value());
  EXPECT_GT(*last, *ParseIso8601("2260-01-01T00:00:00Z"));
  EXPECT_TRUE(ParseIso8601("9999-12-31T23:59:59-23:59").has_value());
  EXPECT_TRUE(ParseHttpDate("Fri, 31 Dec 9999 23:59:59 GMT").has_value());
}

TEST(DatesTest, DatesAtTheEndOfTheClockRangeRoundTripInEveryZone) {
  for (const char* text :
       {"2262-04-11T23:47:16-23:59", "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59Z"}) {
    const auto time = ParseIso8601(text);
    ASSERT_TRUE(time.has_value()) << text;
    EXPECT_EQ(ParseIso8601(FormatIso8601(*time)), time) << text;
    EXPECT_EQ(ParseHttpDate(FormatHttpDate(*time)), time) << text;
  }
}

TEST(CalendarTimeTest, EveryDateUntilTheYear9999RoundTrips) {
  for (const char* text : {"1970-01-01T00:00:00.000Z", "2262-04-11T23:47:16.855Z",
                           "4000-02-29T12:30:59.001Z", "9999-12-31T23:59:59.999Z"}) {
    const auto time = ParseCalendarTime(text);
    ASSERT_TRUE(time.has_value()) << text;
    EXPECT_EQ(FormatCalendarTime(*time), text);
  }
  EXPECT_EQ(ParseCalendarTime("9999-12-31T23:59:59.999Z"), kLastCalendarTime);
  EXPECT_EQ(ParseCalendarTime("9999-12-31T23:59:59-00:01"), kLastCalendarTime);
  EXPECT_EQ(ParseCalendarTime("3000-01-01T01:00:00+01:00"),
            ParseCalendarTime("3000-01-01T00:00:00Z"));
  EXPECT_EQ(ParseCalendarTime("1970-01-01T00:59:59+01:00"), std::nullopt);
  EXPECT_EQ(ParseCalendarTime("9999-02-29T00:00:00Z"), std::nullopt);
  EXPECT_EQ(ParseCalendarTime("10000-01-01T00:00:00Z"), std::nullopt);
}

TEST(DatesTest, RejectsTimesBefore1970InEveryZone) {
  EXPECT_EQ(ParseIso8601("1970-01-01T00:59:59+01:00"), std::nullopt);
  EXPECT_EQ(ParseIso8601("1970-01-01T01:00:00+01:00"), At(0));
}

TEST(DatesTest, RoundTripsRandomTimes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> any(0, 9'000'000'000);  // until 2255
  for (int i = 0; i < 2000; ++i) {
    const WallTime time = At(any(random));
    EXPECT_EQ(ParseHttpDate(FormatHttpDate(time)), time);
    EXPECT_EQ(ParseAmzDate(FormatAmzDate(time)), time);
    const WallTime finer = time + milliseconds(random() % 1000);
    EXPECT_EQ(ParseIso8601(FormatIso8601(finer)), finer);
  }
}

// Parses every prefix of a valid date in a buffer of exactly that size, so that AddressSanitizer
// detects reads past the end.
TEST(DatesTest, PrefixesAreRejectedWithoutReadingPastThem) {
  for (const std::string_view whole :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37.123+01:30", "20130524T000000Z"}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::vector<char> exact(whole.begin(),
                                    whole.begin() + static_cast<std::ptrdiff_t>(length));
      const std::string_view prefix(exact.data(), exact.size());
      EXPECT_EQ(ParseHttpDate(prefix), std::nullopt) << prefix;
      EXPECT_EQ(ParseIso8601(prefix), std::nullopt) << prefix;
      EXPECT_EQ(ParseAmzDate(prefix), std::nullopt) << prefix;
    }
  }
}

TEST(TimeAheadTest, AddsPositiveAndNegativeOffsets) {
  const WallTime now{std::chrono::hours(1'000)};
  EXPECT_EQ(TimeAhead(now, std::chrono::hours(5)), WallTime(std::chrono::hours(1'005)));
  EXPECT_EQ(TimeAhead(now, std::chrono::hours(0)), now);
  EXPECT_EQ(TimeAhead(now, std::chrono::hours(-5'000)), WallTime(std::chrono::hours(-4'000)));
}

TEST(TimeAheadTest, StaysADayBeforeTheEndOfTheClock) {
  constexpr WallTime last = WallTime::max() - std::chrono::days(1);
  EXPECT_EQ(TimeAhead(last - std::chrono::hours(1), std::chrono::hours(1)), last);
  EXPECT_EQ(TimeAhead(last - std::chrono::hours(1), std::chrono::hours(2)), last);
  EXPECT_EQ(TimeAhead(last, std::chrono::days(3'650)), last);
  EXPECT_EQ(TimeAhead(WallTime::max(), std::chrono::hours(1)), last);
  EXPECT_EQ(TimeAhead(WallTime{}, std::chrono::nanoseconds::max()), last);
}

}  // namespace
}  // namespace penstock
