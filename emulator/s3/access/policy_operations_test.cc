#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Reply;

using PolicyOperationsTest = ConfigurationTest;

constexpr std::string_view kPrivate =
    "{ \"Statement\": "
    "{\"Effect\":\"Deny\",\"Principal\":\"*\",\"Action\":\"s3:*\",\"Resource\":\"arn:aws:s3:::"
    "bucket/*\"}}";
constexpr std::string_view kPublic =
    "{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"s3:GetObject\","
    "\"Resource\":\"arn:aws:s3:::bucket/*\"}]}";

TEST_F(PolicyOperationsTest, PoliciesAreReturnedUnchanged) {
  EXPECT_EQ(Put("policy", kPrivate).status, 204);
  const Reply got = Get("policy");
  EXPECT_EQ(got.body, kPrivate);
  EXPECT_EQ(got.Header("Content-Type"), "application/json");
  EXPECT_EQ(Get("policyStatus").Element("IsPublic"), "false");
  EXPECT_EQ(s3_.Send("DELETE /bucket?policy").status, 204);
  EXPECT_EQ(Get("policy").Outcome(), "404 NoSuchBucketPolicy");
  EXPECT_EQ(Get("policyStatus").Outcome(), "404 NoSuchBucketPolicy");
  EXPECT_EQ(s3_.Send("DELETE /bucket?policy").status, 204);
}

TEST_F(PolicyOperationsTest, PublicPoliciesAreBlockedUntilAllowed) {
  EXPECT_EQ(Put("policy", kPublic).Outcome(), "403 AccessDenied");
  EXPECT_EQ(Get("policy").Outcome(), "404 NoSuchBucketPolicy");
  s3_.Send("DELETE /bucket?publicAccessBlock");
  EXPECT_EQ(Put("policy", kPublic).status, 204);
  EXPECT_EQ(Get("policyStatus").Element("IsPublic"), "true");
}

TEST_F(PolicyOperationsTest, NeedsAChecksum) {
  EXPECT_EQ(s3_.Send("PUT /bucket?policy", kPrivate).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(Put("policy", "nonsense").Outcome(), "400 MalformedPolicy");
}

}  // namespace
}  // namespace penstock::emulator::s3
