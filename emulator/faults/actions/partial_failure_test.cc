#include "emulator/faults/actions/partial_failure.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

constexpr traffic::Draw kDraw{0.1, 0.2, 0.3, 0.4};

bool Fails(const PartialFailureAction& failure, std::string_view key, std::size_t place = 0,
           std::uint64_t failed_before = 0) {
  return FailsEntry(failure, {.place = place, .key = key, .failed_before = failed_before}, kDraw);
}

std::set<std::string> Failing(double probability, const traffic::Draw& draw) {
  std::set<std::string> keys;
  for (int i = 0; i < 1'000; ++i) {
    const std::string key = "key-" + std::to_string(i);
    if (FailsEntry({.probability = probability}, {.key = key}, draw)) keys.insert(key);
  }
  return keys;
}

TEST(PartialFailureTest, EveryEntryFailsByDefault) { EXPECT_TRUE(Fails({}, "any")); }

TEST(PartialFailureTest, MatchesAnyOfThePatterns) {
  const PartialFailureAction failure{.keys = {Pattern("*.tmp"), Pattern::Exactly("a*")}};
  EXPECT_TRUE(Fails(failure, "x.tmp"));
  EXPECT_TRUE(Fails(failure, "a*"));
  EXPECT_FALSE(Fails(failure, "ab"));
}

TEST(PartialFailureTest, PositionsCountFromOne) {
  const PartialFailureAction failure{.entries = NumberSet::Parse("1,3").value()};
  EXPECT_TRUE(Fails(failure, "k", 0));
  EXPECT_FALSE(Fails(failure, "k", 1));
  EXPECT_TRUE(Fails(failure, "k", 2));
}

TEST(PartialFailureTest, LimitsFailuresPerRequest) {
  EXPECT_TRUE(Fails({.most = 2}, "k", 7, 1));
  EXPECT_FALSE(Fails({.most = 2}, "k", 7, 2));
}

TEST(PartialFailureTest, ProbabilityDependsOnlyOnDrawAndKey) {
  const std::set<std::string> some = Failing(0.3, kDraw);
  EXPECT_EQ(some, Failing(0.3, {0.9, 0.2, 0.5, 0.5}));
  EXPECT_NE(some, Failing(0.3, {0.1, 0.25, 0.3, 0.4}));
  EXPECT_GT(some.size(), 200U);
  EXPECT_LT(some.size(), 400U);
  EXPECT_TRUE(Failing(0, kDraw).empty());
}

}  // namespace
}  // namespace penstock::emulator::faults
