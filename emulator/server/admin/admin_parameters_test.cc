#include "emulator/server/admin/admin_parameters.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace penstock::emulator::server {
namespace {

TEST(AdminParametersTest, OtherAndEmptyParametersAreRefused) {
  EXPECT_TRUE(AllowOnly({.query = {{"a", "1"}, {"b", "2"}}}, {"a", "b", "c"}).ok());
  EXPECT_EQ(AllowOnly({.query = {{"a", "1"}, {"d", "2"}}}, {"a"}).error().message,
            "d: is not a parameter of this request");
  EXPECT_EQ(AllowOnly({.query = {{"a", ""}}}, {"a"}).error().message,
            "a: is empty; give it a value, or leave it out");
}

TEST(AdminParametersTest, NumbersHaveALimit) {
  const AdminCall call{.query = {{"n", "60000"}, {"empty", ""}, {"bad", "-1"}}};
  EXPECT_EQ(*WholeParameter(call, "n", 60'000), 60'000u);
  EXPECT_EQ(*WholeParameter(call, "empty"), std::nullopt);
  EXPECT_EQ(*WholeParameter(call, "missing"), std::nullopt);
  EXPECT_FALSE(WholeParameter(call, "bad").ok());
  for (const char* text : {"60001", "-1", "1x", "+1", " 1", "", "99999999999999999999"}) {
    const auto number = WholeNumber("wait_ms", text, 60'000);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_EQ(number.error().message,
              "wait_ms: must be an integer from 0 to 60000, not '" + std::string(text) + "'");
  }
  EXPECT_EQ(WholeNumber("n", "9007199254740992").value(), kMaxExactInteger);
  EXPECT_FALSE(WholeNumber("n", "9007199254740993").ok());
}

}  // namespace
}  // namespace penstock::emulator::server
