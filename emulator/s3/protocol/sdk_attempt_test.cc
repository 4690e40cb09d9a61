#include "emulator/s3/protocol/sdk_attempt.h"

#include "gtest/gtest.h"

namespace penstock::emulator::s3 {
namespace {

TEST(SdkAttemptTest, IsFoundAtAnyPosition) {
  EXPECT_EQ(ClaimedAttempt("attempt=1"), 1U);
  EXPECT_EQ(ClaimedAttempt("attempt=2; max=3"), 2U);
  EXPECT_EQ(ClaimedAttempt("ttl=20260101T000000Z; attempt=12; max=64"), 12U);
}

TEST(SdkAttemptTest, ValuesWithoutANumberReturnNullopt) {
  for (const char* text : {"", "max=3", "attempt=", "attempt=x", "attempt=-1", "attempt=2x",
                           "attempt=99999999999999999999"}) {
    EXPECT_EQ(ClaimedAttempt(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
