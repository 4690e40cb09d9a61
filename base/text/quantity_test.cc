#include "base/text/quantity.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace penstock {
namespace {

TEST(QuantityTest, SizesAreThoseOfTheTableThatThePythonPackagesShare) {
  std::ifstream table(PENSTOCK_QUANTITY_CASES);
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t tab = line.rfind('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    std::string text = line.substr(0, tab);
    if (const std::size_t escape = text.find("\\t"); escape != std::string::npos)
      text.replace(escape, 2, "\t");
    const std::optional<std::uint64_t> bytes = ParseByteSize(text);
    EXPECT_EQ(bytes ? std::to_string(*bytes) : "-", line.substr(tab + 1)) << "`" << text << "`";
    ++rows;
  }
  EXPECT_GT(rows, 50);
}

TEST(QuantityTest, UnitsAreThoseOfTheCaller) {
  constexpr QuantityUnit kDurations[] = {{"ms", 1}, {"s", 1000}};
  EXPECT_EQ(ParseQuantity("25ms", kDurations), 25u);
  EXPECT_EQ(ParseQuantity("1.5 S", kDurations), 1500u);
  EXPECT_EQ(ParseQuantity("0.0009s", kDurations), 0u) << "rounded down";
  EXPECT_EQ(ParseQuantity("25", kDurations), std::nullopt);
  EXPECT_EQ(ParseQuantity("1h", kDurations), std::nullopt);
}

}  // namespace
}  // namespace penstock
