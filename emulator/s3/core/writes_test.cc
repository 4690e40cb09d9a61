#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;

TEST(WritesTest, CopySourceIsRefusedOnOtherOperations) {
  Harness s3;
  s3.Send("PUT /bucket");
  for (const char* target : {"POST /bucket/k?uploads", "POST /bucket/k?uploadId=u", "GET /bucket/k",
                             "DELETE /bucket/k"}) {
    const auto reply = s3.Send(std::string(target) + "\nx-amz-copy-source: /bucket/a");
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << target;
    EXPECT_EQ(reply.Element("Message"),
              "You can only specify a copy source header for copy requests.");
    EXPECT_EQ(reply.Element("ArgumentName"), "x-amz-copy-source");
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
