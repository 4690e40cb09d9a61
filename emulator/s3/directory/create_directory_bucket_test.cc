#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

std::string Document(const std::string& zone_type, const std::string& zone,
                     const std::string& bucket) {
  return "<CreateBucketConfiguration "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Location><Type>" +
         zone_type + "</Type><Name>" + zone + "</Name></Location><Bucket>" + bucket +
         "</Bucket></CreateBucketConfiguration>";
}
const std::string kSingleZone =
    "<Type>Directory</Type><DataRedundancy>SingleAvailabilityZone</DataRedundancy>";

TEST(CreateDirectoryBucketTest, HeadReturnsTheZone) {
  Harness s3;
  const Reply made =
      s3.Send("PUT /logs--use1-az4--x-s3", Document("AvailabilityZone", "use1-az4", kSingleZone));
  EXPECT_EQ(made.Outcome(), "200");
  EXPECT_EQ(made.Header("Location"),
            "https://logs--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com/");
  const Reply head = s3.Send("HEAD /logs--use1-az4--x-s3");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("x-amz-bucket-location-type"), "AvailabilityZone");
  EXPECT_EQ(head.Header("x-amz-bucket-location-name"), "use1-az4");
  EXPECT_EQ(head.Header("x-amz-bucket-arn"),
            "arn:aws:s3express:us-east-1:123456789012:bucket/logs--use1-az4--x-s3");
}

TEST(CreateDirectoryBucketTest, LocalZonesHaveTheirTypeAndRedundancy) {
  Harness s3;
  const std::string local =
      "<Type>Directory</Type><DataRedundancy>SingleLocalZone</DataRedundancy>";
  EXPECT_EQ(
      s3.Send("PUT /b--usw2-lax1-az1--x-s3", Document("AvailabilityZone", "usw2-lax1-az1", local))
          .Outcome(),
      "400 InvalidRequest");
  EXPECT_EQ(
      s3.Send("PUT /b--usw2-lax1-az1--x-s3", Document("LocalZone", "usw2-lax1-az1", kSingleZone))
          .Outcome(),
      "400 InvalidRequest");
  EXPECT_EQ(s3.Send("PUT /b--usw2-lax1-az1--x-s3", Document("LocalZone", "usw2-lax1-az1", local))
                .Outcome(),
            "200");
  EXPECT_EQ(s3.Send("HEAD /b--usw2-lax1-az1--x-s3").Header("x-amz-bucket-location-type"),
            "LocalZone");
}

TEST(CreateDirectoryBucketTest, OtherDocumentsAreMalformed) {
  Harness s3;
  const std::string name = "PUT /b--use1-az4--x-s3";
  EXPECT_EQ(s3.Send(name).Outcome(), "400 MalformedXML");
  EXPECT_EQ(s3.Send(name,
                    "<CreateBucketConfiguration><LocationConstraint>eu-west-1</"
                    "LocationConstraint></CreateBucketConfiguration>")
                .Outcome(),
            "400 MalformedXML");
  EXPECT_EQ(
      s3.Send(name, Document("AvailabilityZone", "use1-az4", "<Type>General</Type>")).Outcome(),
      "400 MalformedXML");
  EXPECT_EQ(s3.Send(name, Document("AvailabilityZone", "", kSingleZone)).Outcome(),
            "400 MalformedXML");
}

TEST(CreateDirectoryBucketTest, NameAndDocumentMustHaveTheSameZone) {
  Harness s3;
  const Reply refused =
      s3.Send("PUT /b--use1-az4--x-s3", Document("AvailabilityZone", "use1-az5", kSingleZone));
  EXPECT_EQ(refused.Outcome(), "400 InvalidBucketName");
  EXPECT_NE(refused.Element("Message").find("Location.Name is use1-az5"), std::string::npos);
  EXPECT_EQ(
      s3.Send("PUT /b--x-s3", Document("AvailabilityZone", "use1-az4", kSingleZone)).Outcome(),
      "400 InvalidBucketName");
  EXPECT_EQ(
      s3.Send("PUT /plain-bucket", Document("AvailabilityZone", "use1-az4", kSingleZone)).Outcome(),
      "501 NotImplemented");
}

TEST(CreateDirectoryBucketTest, RecreateIsAConflict) {
  Harness s3;
  ASSERT_EQ(s3.MakeDirectoryBucket("b--use1-az4--x-s3").status, 200);
  EXPECT_EQ(s3.MakeDirectoryBucket("b--use1-az4--x-s3").Outcome(), "409 BucketAlreadyOwnedByYou");
  EXPECT_EQ(s3.MakeDirectoryBucket("b--use1-az5--x-s3").Outcome(), "200")
      << "names are unique in a zone";
  s3.identity().owner_id = std::string(64, 'b');
  EXPECT_EQ(s3.MakeDirectoryBucket("b--use1-az4--x-s3").Outcome(), "409 BucketAlreadyExists");
}

TEST(CreateDirectoryBucketTest, QuotaCountsOnlyDirectoryBuckets) {
  Harness s3({.max_directory_buckets_per_region = 1});
  ASSERT_EQ(s3.Send("PUT /plain-bucket").status, 200);
  ASSERT_EQ(s3.MakeDirectoryBucket("b--use1-az4--x-s3").status, 200);
  EXPECT_EQ(s3.MakeDirectoryBucket("c--use1-az4--x-s3").Outcome(), "400 TooManyBuckets");
}

TEST(CreateDirectoryBucketTest, OpenUploadsPreventDeletion) {
  Harness s3;
  ASSERT_EQ(s3.MakeDirectoryBucket("b--use1-az4--x-s3").status, 200);
  const Reply upload = s3.Send("POST /b--use1-az4--x-s3/k?uploads");
  EXPECT_EQ(s3.Send("DELETE /b--use1-az4--x-s3").Outcome(), "409 BucketNotEmpty");
  EXPECT_EQ(s3.Send("DELETE /b--use1-az4--x-s3/k?uploadId=" + upload.Element("UploadId")).Outcome(),
            "204");
  EXPECT_EQ(s3.Send("DELETE /b--use1-az4--x-s3").Outcome(), "204");
}

}  // namespace
}  // namespace penstock::emulator::s3
