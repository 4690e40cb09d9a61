#include "penstock/base/check.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(CheckTest, TrueConditionPasses) {
  int evaluated = 0;
  PENSTOCK_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, FalseConditionAbortsWithConditionAndLine) {
  EXPECT_DEATH(PENSTOCK_CHECK(1 + 1 == 3), "check_test.cc:[0-9]+: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace penstock
