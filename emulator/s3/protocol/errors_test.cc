#include "emulator/s3/protocol/errors.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

TEST(ErrorsTest, BuildersAddTheirElements) {
  EXPECT_EQ(InvalidArgument("m", "n", "v").details,
            (ErrorDetails{{"ArgumentName", "n"}, {"ArgumentValue", "v"}}));
  EXPECT_EQ(InvalidArgument("m", "n", std::nullopt).details, (ErrorDetails{{"ArgumentName", "n"}}));
  EXPECT_EQ(NoSuchKey("k").details, (ErrorDetails{{"Key", "k"}}));
  EXPECT_EQ(NotImplementedHeader("H", "more").details,
            (ErrorDetails{{"Header", "H"}, {"additionalMessage", "more"}}));
  EXPECT_EQ(PreconditionFailed("If-Match").details, (ErrorDetails{{"Condition", "If-Match"}}));
  EXPECT_EQ(MethodNotAllowed("PUT", "OBJECT").details,
            (ErrorDetails{{"Method", "PUT"}, {"ResourceType", "OBJECT"}}));
}

}  // namespace
}  // namespace penstock::emulator::s3
