#include "emulator/s3/core/call.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

// Texts recorded against Amazon S3.
TEST(CallTest, ExpectedOwnerMustBeTheOwner) {
  Harness s3;
  s3.Send("PUT /bucket");
  EXPECT_EQ(s3.Send("GET /bucket\nx-amz-expected-bucket-owner: 123456789012").Outcome(), "200");
  EXPECT_EQ(s3.Send("GET /bucket\nx-amz-expected-bucket-owner: 000000000000").Outcome(),
            "403 AccessDenied");
  const Reply malformed = s3.Send("GET /bucket\nx-amz-expected-bucket-owner: me");
  EXPECT_EQ(malformed.Outcome(), "400 InvalidBucketOwnerAWSAccountID");
  EXPECT_EQ(malformed.Element("Message"),
            "The value of the expected bucket owner parameter must be an AWS Account ID... [me]");
}

class OneOwner final : public OwnerDirectory {
 public:
  std::optional<Owner> FindOwner(std::string_view canonical_id) const override {
    if (canonical_id != std::string(64, 'b')) return std::nullopt;
    return Owner{std::string(canonical_id), "other", "222222222222"};
  }
};

TEST(CallTest, CorrectExpectedOwnerGrantsNoAccess) {
  const OneOwner owners;
  Harness s3;
  s3.space().owners = &owners;
  s3.identity().owner_id = std::string(64, 'b');
  s3.Send("PUT /theirs");
  s3.identity().owner_id = std::string(64, 'a');
  EXPECT_EQ(s3.Send("GET /theirs\nx-amz-expected-bucket-owner: 222222222222").Outcome(),
            "403 AccessDenied")
      << "a correct expected owner grants no access";
  EXPECT_EQ(s3.Send("GET /theirs\nx-amz-expected-bucket-owner: 123456789012").Outcome(),
            "403 AccessDenied");
}

// S3 redirects with 301 and without a Location header.
TEST(CallTest, BucketOfAnotherRegionIsRedirected) {
  Harness s3;
  store::BucketRecord other_region;  // As in a data directory of an emulator in another region.
  other_region.name = BucketName("bucket");
  other_region.region = "eu-west-1";
  other_region.owner_id = s3.identity().owner_id;
  ASSERT_TRUE(s3.store().CreateBucket(other_region).ok());
  const Reply reply = s3.Send("GET /bucket/key");
  EXPECT_EQ(reply.Outcome(), "301 PermanentRedirect");
  EXPECT_EQ(reply.Element("Endpoint"), "bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(reply.Element("Bucket"), "bucket");
  EXPECT_EQ(reply.Header("x-amz-bucket-region"), "eu-west-1");
  EXPECT_EQ(reply.Header("Location"), "<absent>");
  const Reply head = s3.Send("HEAD /bucket");
  EXPECT_EQ(head.status, 301);
  EXPECT_EQ(head.Header("x-amz-bucket-region"), "eu-west-1");
}

TEST(CallTest, VersionIdsAreChecked) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "x");
  EXPECT_EQ(s3.Send("GET /bucket/k?versionId=null").Outcome(), "200");
  const Reply bad = s3.Send("GET /bucket/k?versionId=short");
  EXPECT_EQ(bad.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(bad.Element("Message"), "Invalid version id specified");
  EXPECT_EQ(bad.Element("ArgumentName"), "versionId");
  EXPECT_EQ(s3.Send("GET /bucket/k?versionId=").Element("Message"),
            "Version id cannot be the empty string");
  const std::string issued = store::MakeVersionId(1).value;
  const Reply absent = s3.Send("GET /bucket/k?versionId=" + issued);
  EXPECT_EQ(absent.Outcome(), "404 NoSuchVersion");
  EXPECT_EQ(absent.Element("Key"), "k");
  EXPECT_EQ(absent.Element("VersionId"), issued);
  EXPECT_EQ(s3.Send("GET /bucket/k?versionId=0123456789abcdefABCDEF._01234567").Outcome(),
            "400 InvalidArgument");
}

// Recorded against Amazon S3.
TEST(CallTest, DeleteMarkersReturnRecordedErrors) {
  Harness s3;
  s3.Send("PUT /bucket");
  s3.SetVersioning("bucket", "Enabled");
  s3.Send("PUT /bucket/k", "x");
  const std::string marker = s3.Send("DELETE /bucket/k").Header("x-amz-version-id");
  const Reply latest = s3.Send("GET /bucket/k");
  EXPECT_EQ(latest.Outcome(), "404 NoSuchKey");
  EXPECT_EQ(latest.Header("x-amz-delete-marker"), "true");
  EXPECT_EQ(latest.Header("x-amz-version-id"), marker);
  const Reply by_id = s3.Send("GET /bucket/k?versionId=" + marker);
  EXPECT_EQ(by_id.Outcome(), "405 MethodNotAllowed");
  EXPECT_EQ(by_id.Element("ResourceType"), "DeleteMarker");
  EXPECT_EQ(by_id.Header("Allow"), "DELETE");
  EXPECT_EQ(by_id.Header("x-amz-delete-marker"), "true");
  EXPECT_EQ(by_id.Header("Last-Modified"), "Fri, 02 Jan 2026 03:04:05 GMT");
}

}  // namespace
}  // namespace penstock::emulator::s3
