#include "emulator/auth/presign.h"

#include <gtest/gtest.h>

#include "base/dates.h"

namespace penstock::emulator::auth {
namespace {

// AWS documentation, "Authenticating Requests: Using Query Parameters", example.
TEST(PresignTest, MakesThePublishedUrl) {
  User user;
  user.access_key_id = "AKIAIOSFODNN7EXAMPLE";
  user.secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  EXPECT_EQ(
      PresignedTarget(user, {.method = "GET",
                             .host = "examplebucket.s3.amazonaws.com",
                             .path = "/test.txt",
                             .query = "",
                             .region = "us-east-1",
                             .now = *ParseAmzDate("20130524T000000Z"),
                             .expires = std::chrono::seconds(86400)}),
      "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524"
      "%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-"
      "SignedHeaders=host&X-Amz-Signature="
      "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

}  // namespace
}  // namespace penstock::emulator::auth
