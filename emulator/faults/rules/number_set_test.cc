#include "emulator/faults/rules/number_set.h"

#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

// Returns the numbers from 0 to 12 that the set has.
std::string Members(std::string_view text) {
  const NumberSet set = NumberSet::Parse(text).value();
  std::string members;
  for (std::uint64_t number = 0; number <= 12; ++number) {
    if (set.Has(number)) members += std::to_string(number) + " ";
  }
  return members;
}

TEST(NumberSetTest, ParsesEveryForm) {
  EXPECT_EQ(Members("3"), "3 ");
  EXPECT_EQ(Members("3-5"), "3 4 5 ");
  EXPECT_EQ(Members(">=10"), "10 11 12 ");
  EXPECT_EQ(Members("<=2"), "0 1 2 ");
  EXPECT_EQ(Members("every 5"), "5 10 ");
  EXPECT_EQ(Members("2, 7 ,9-10"), "2 7 9 10 ");
}

TEST(NumberSetTest, BuildsASetOfOneNumber) {
  EXPECT_TRUE(NumberSet::Of(7).Has(7));
  EXPECT_FALSE(NumberSet::Of(7).Has(8));
}

TEST(NumberSetTest, RejectsInvalidItemsAndNamesThem) {
  for (const char* text : {"", "x", "3-", "-3", "5-3", "every 0", ">2", "1,,2", "1,",
                           "1234567890123456789", "+3", "3.5"}) {
    EXPECT_FALSE(NumberSet::Parse(text).ok()) << text;
  }
  EXPECT_EQ(NumberSet::Parse("1,5-3").error().message,
            "'5-3' is not a set of numbers: expected 3, 3-5, >=2, <=9, every 5, or a "
            "comma-separated list of these");
}

TEST(NumberSetTest, DetectsSetsWithoutPositiveNumbers) {
  for (const char* text : {"0", "0-0", "<=0", "0,0"})
    EXPECT_TRUE(NumberSet::Parse(text)->HasZeroAtMost()) << text;
  for (const char* text : {"1", "0-1", ">=0", "every 3", "0,2"})
    EXPECT_FALSE(NumberSet::Parse(text)->HasZeroAtMost()) << text;
}

TEST(NumberSetTest, LimitsTheNumberOfItems) {
  std::string text = "1";
  for (int i = 1; i < 64; ++i) text += ",1";
  EXPECT_TRUE(NumberSet::Parse(text).ok());
  EXPECT_FALSE(NumberSet::Parse(text + ",1").ok());
}

}  // namespace
}  // namespace penstock::emulator::faults
