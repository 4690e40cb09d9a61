#include "emulator/faults/rules/header_needs.h"

#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

NumberSet Numbers(const char* text) { return NumberSet::Parse(text).value(); }

HeaderNameSet NamesOf(const Headers& headers) {
  HeaderNameSet names;
  for (const auto& [name, value] : headers) names.Add(name);
  return names;
}

TEST(HeaderNeedsTest, ExcludesRequestsWithoutTheHeader) {
  const HeaderNameSet bare = NamesOf({{"Host", "h"}});
  EXPECT_FALSE(NeedsOf({.range = RangeCondition{.covers = 4}}).MetBy(bare));
  EXPECT_FALSE(NeedsOf({.range = RangeCondition{.present = true}}).MetBy(bare));
  EXPECT_FALSE(NeedsOf({.headers = {{"x-run", Pattern("7")}}}).MetBy(bare));
  EXPECT_FALSE(NeedsOf({.user_agent = Pattern("Boto3*")}).MetBy(bare));
  EXPECT_FALSE(NeedsOf({.attempt = Numbers(">=2")}).MetBy(bare));
  EXPECT_FALSE(NeedsOf({.rank = Numbers("3")}).MetBy(bare));
  EXPECT_FALSE(NeedsOf({.size = Numbers("3")}).MetBy(bare));
}

TEST(HeaderNeedsTest, ConditionThatHoldsWithoutAHeaderNeedsNone) {
  const HeaderNameSet bare = NamesOf({{"Host", "h"}});
  EXPECT_TRUE(NeedsOf({}).MetBy(bare));
  EXPECT_TRUE(NeedsOf({.range = RangeCondition{.present = false}}).MetBy(bare));
  EXPECT_TRUE(NeedsOf({.attempt = Numbers("1-3")}).MetBy(bare));
  EXPECT_TRUE(NeedsOf({.user_agent = Pattern("*")}).MetBy(bare));
  EXPECT_TRUE(
      NeedsOf({.key = Pattern("a"), .part = Numbers("1"), .access_key = "AKID"}).MetBy(bare));
}

TEST(HeaderNeedsTest, NamesAreCaseInsensitive) {
  EXPECT_TRUE(NeedsOf({.attempt = Numbers("2")}).MetBy(NamesOf({{"Amz-Sdk-REQUEST", ""}})));
  EXPECT_TRUE(NeedsOf({.headers = {{"X-Run", Pattern("7")}}}).MetBy(NamesOf({{"x-run", "7"}})));
}

TEST(HeaderNeedsTest, KeepsEveryMatchingRequest) {
  const std::vector<Condition> conditions{
      {.range = RangeCondition{.first = Numbers("3")}},
      {.range = RangeCondition{.length = Numbers("5")}},
      {.range = RangeCondition{.present = false}},
      {.size = Numbers(">=0")},
      {.headers = {{"X-Run", Pattern("*")}, {"range", Pattern("*")}}},
      {.user_agent = Pattern("*rank*")},
      {.rank = Numbers("3")},
      {.size = Numbers("7"), .rank = Numbers("3")},
      {.attempt = Numbers("1")},
      {.attempt = Numbers("2")}};
  const Headers all{{"Range", "bytes=3-7"},          {"x-run", "1"},
                    {"User-Agent", "x rank/3"},      {"X-Penstock-Rank", "3"},
                    {"Content-Length", "7"},         {"x-amz-decoded-content-length", "7"},
                    {"amz-sdk-request", "attempt=2"}};
  std::size_t fulfilled = 0;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << all.size(); ++chosen) {
    Headers headers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((chosen >> i & 1U) != 0) headers.push_back(all[i]);
    }
    TestRequest request("PUT", "/b/k", headers);
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      if (!Matches(conditions[i], request.properties())) continue;
      ++fulfilled;
      EXPECT_TRUE(NeedsOf(conditions[i]).MetBy(HeaderNameSet::Of(request.exchange().request)))
          << "condition " << i << ", headers " << chosen;
    }
  }
  EXPECT_GT(fulfilled, 400U);
}

}  // namespace
}  // namespace penstock::emulator::faults
