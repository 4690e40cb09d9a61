#include "client/s3/verbs/create_bucket.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

const CreateBucketRequest kRequest{.bucket = BucketName("b")};

TEST(CreateBucketTest, UsEast1HasNoBody) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())), "PUT /b\n\n");
}

TEST(CreateBucketTest, OtherRegionsAreSent) {
  BuildContext context = Context();
  context.region = "eu-west-1";
  EXPECT_EQ(Golden(BuildRequest(kRequest, context)),
            "PUT /b\nContent-Type: application/xml\n\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>");
}

std::string Express(const std::string& zone, const std::string& type,
                    const std::string& redundancy) {
  const std::string bucket = "b--" + zone + "--x-s3";
  return "PUT /" + bucket +
         "\nContent-Type: application/xml\n\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<CreateBucketConfiguration "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Location><Type>" +
         type + "</Type><Name>" + zone +
         "</Name></Location><Bucket><Type>Directory</Type><DataRedundancy>" + redundancy +
         "</DataRedundancy></Bucket></CreateBucketConfiguration>";
}

TEST(CreateBucketTest, ADirectoryBucketIsCreatedInTheZoneOfItsName) {
  const auto golden = [](const char* bucket) {
    return Golden(BuildRequest(CreateBucketRequest{BucketName(bucket), {}}, Context()));
  };
  EXPECT_EQ(golden("b--usw2-az1--x-s3"),
            Express("usw2-az1", "AvailabilityZone", "SingleAvailabilityZone"));
  EXPECT_EQ(golden("b--usw2-lax1-az1--x-s3"),
            Express("usw2-lax1-az1", "LocalZone", "SingleLocalZone"));
  EXPECT_EQ(golden("b--az1--x-s3")
                .find("error: Unrecognized S3Express bucket name format. `b--az1--x-s3` contains "
                      "no zone id"),
            0u);
}

TEST(CreateBucketTest, RejectsAnAccessPoint) {
  // Symptom: `contains no zone id` for a name that has one.
  const auto request =
      BuildRequest(CreateBucketRequest{BucketName("name--usw2-az1--xa-s3"), {}}, Context());
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().message.find(
                "`name--usw2-az1--xa-s3` is an access point, and CreateBucket accepts"),
            0u);
}

TEST(CreateBucketTest, SendsNoRequestPayer) {
  BuildContext context = Context();
  context.requester_pays = true;
  EXPECT_EQ(Golden(BuildRequest(kRequest, context)), "PUT /b\n\n");
}

TEST(CreateBucketTest, RejectsAnEmptyName) {
  EXPECT_EQ(BuildRequest(CreateBucketRequest{}, Context()).error().kind,
            ErrorKind::kInvalidArgument);
}

TEST(CreateBucketTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(kRequest, Answer("")).ok());
}

}  // namespace
}  // namespace penstock::s3
