#include <gtest/gtest.h>

#include "emulator/api/testing.h"

namespace penstock::emulator::api {
namespace {

using testing::Harness;

// Spec §2.5 "x-amz-copy-source on non-copy".
TEST(WritesTest, CopySourceOnAnythingElseIsRefused) {
  Harness s3;
  s3.Send("PUT /bucket");
  for (const char* target : {"POST /bucket/k?uploads", "POST /bucket/k?uploadId=u", "GET /bucket/k", "DELETE /bucket/k"}) {
    const auto reply = s3.Send(std::string(target) + "\nx-amz-copy-source: /bucket/a");
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << target;
    EXPECT_EQ(reply.Element("Message"), "You can only specify a copy source header for copy requests.");
    EXPECT_EQ(reply.Element("ArgumentName"), "x-amz-copy-source");
  }
}

// Spec §2.2 "retention / legal-hold", §2.17 "Object Lock": the answers of a bucket without it.
TEST(WritesTest, ObjectLockHeadersNeedABucketWithObjectLock) {
  Harness s3;
  s3.Send("PUT /bucket");
  for (const char* header : {"x-amz-object-lock-mode: COMPLIANCE", "x-amz-object-lock-legal-hold: ON",
                             "x-amz-object-lock-retain-until-date: 2030-01-01T00:00:00Z"}) {
    const auto reply = s3.Send(std::string("PUT /bucket/k\n") + header, "x");
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << header;
    EXPECT_EQ(reply.Element("Message"), "Bucket is missing Object Lock Configuration");
    EXPECT_EQ(s3.Send(std::string("GET /bucket/k\n") + header).Outcome(), "501 NotImplemented");
  }
  EXPECT_EQ(s3.Send("PUT /absent/k\nx-amz-object-lock-mode: COMPLIANCE", "x").Outcome(), "404 NoSuchBucket");
  const auto bypass = s3.Send("DELETE /bucket/k\nx-amz-bypass-governance-retention: true");
  EXPECT_EQ(bypass.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(bypass.Element("ArgumentName"), "x-amz-bypass-governance-retention");
  s3.Send("PUT /bucket/k", "x");
  for (const char* sub_resource : {"retention", "legal-hold"}) {
    const auto reply = s3.SendDocument(std::string("PUT /bucket/k?") + sub_resource, "<X/>");
    EXPECT_EQ(reply.Outcome(), "400 InvalidRequest") << sub_resource;
    EXPECT_EQ(reply.Element("Message"), "Bucket is missing Object Lock Configuration");
  }
}

}  // namespace
}  // namespace penstock::emulator::api
