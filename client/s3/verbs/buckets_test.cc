#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

const CreateBucketRequest kCreateBucket{.bucket = BucketName("b")};

TEST(CreateBucketTest, UsEast1HasNoBody) {
  EXPECT_EQ(Golden(BuildRequest(kCreateBucket, Context())), "PUT /b\n\n");
}

TEST(CreateBucketTest, OtherRegionsAreSent) {
  BuildContext context = Context();
  context.region = "eu-west-1";
  EXPECT_EQ(Golden(BuildRequest(kCreateBucket, context)),
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
  EXPECT_EQ(Golden(BuildRequest(kCreateBucket, context)), "PUT /b\n\n");
}

TEST(CreateBucketTest, RejectsAnEmptyName) {
  EXPECT_EQ(BuildRequest(CreateBucketRequest{}, Context()).error().kind,
            ErrorKind::kInvalidArgument);
}

TEST(CreateBucketTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(kCreateBucket, ResponseOf("")).ok());
}

const HeadBucketRequest kHeadBucket{.bucket = BucketName("b")};

TEST(HeadBucketTest, SendsTheBucket) {
  EXPECT_EQ(Golden(BuildRequest(kHeadBucket, Context())), "HEAD /b\n\n");
}

TEST(HeadBucketTest, ReturnsTheRegion) {
  EXPECT_EQ(
      ParseResponse(kHeadBucket, ResponseOf("", {{"X-Amz-Bucket-Region", "eu-west-1"}}))->region,
      "eu-west-1");
  EXPECT_EQ(ParseResponse(kHeadBucket, ResponseOf(""))->region, "");
}

TEST(DeleteBucketTest, SendsTheBucket) {
  EXPECT_EQ(Golden(BuildRequest(DeleteBucketRequest{.bucket = BucketName("b")}, Context())),
            "DELETE /b\n\n");
}

TEST(DeleteBucketTest, RejectsAnEmptyName) {
  EXPECT_EQ(BuildRequest(DeleteBucketRequest{}, Context()).error().kind,
            ErrorKind::kInvalidArgument);
}

TEST(DeleteBucketTest, RejectsAnAccessPoint) {
  // Symptom: the request was sent to the access point's host without the session that is required
  // there.
  const auto request =
      BuildRequest(DeleteBucketRequest{BucketName("name--usw2-az1--xa-s3"), {}}, Context());
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(
      request.error().message,
      "`name--usw2-az1--xa-s3` is an access point, and DeleteBucket accepts only the bucket itself "
      "(base--zone--x-s3); access points are created and deleted by S3 Control");
}

TEST(DeleteBucketTest, AcceptsAnySuccessResponse) {
  EXPECT_TRUE(ParseResponse(DeleteBucketRequest{}, ResponseOf("", {}, 204)).ok());
}

TEST(ListBucketsTest, AddressesTheService) {
  EXPECT_EQ(Golden(BuildRequest(ListBucketsRequest{}, Context())), "GET /\n\n");
}

TEST(ListBucketsTest, ReadsNamesAndDates) {
  const auto response = ParseResponse(
      ListBucketsRequest{},
      ResponseOf("<ListAllMyBucketsResult><Owner><ID>o</ID></Owner><Buckets><Bucket><Name>a</Name>"
                 "<CreationDate>2026-01-02T03:04:05.000Z</CreationDate></Bucket><Bucket><Name>b</"
                 "Name></Bucket></Buckets>"
                 "</ListAllMyBucketsResult>"));
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->buckets.size(), 2u);
  EXPECT_EQ(response->buckets[0].name.value, "a");
  EXPECT_EQ(response->buckets[0].created, WallTime(std::chrono::seconds(1767323045)));
  EXPECT_EQ(response->buckets[1].name.value, "b");
}

TEST(ListBucketsTest, NoBucketsIsAnEmptyList) {
  const auto response =
      ParseResponse(ListBucketsRequest{},
                    ResponseOf("<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_TRUE(response->buckets.empty());
}

TEST(ListDirectoryBucketsTest, AlwaysSendsThePageSize) {
  EXPECT_EQ(Golden(BuildRequest(ListDirectoryBucketsRequest{}, Context())),
            "GET /?max-directory-buckets=1000\n\n");
  ListDirectoryBucketsRequest next{.continuation_token = "a/b", .max_buckets = 2};
  EXPECT_EQ(Golden(BuildRequest(next, Context())),
            "GET /?max-directory-buckets=2&continuation-token=a%2Fb\n\n");
}

TEST(ListDirectoryBucketsTest, RejectsMoreThanAPage) {
  ListDirectoryBucketsRequest request;
  request.max_buckets = 1001;
  EXPECT_EQ(BuildRequest(request, Context()).error().message,
            "max_buckets must be 0 to 1000, not 1001");
}

TEST(ListDirectoryBucketsTest, ReadsNamesDatesAndTheToken) {
  const auto response = ParseResponse(
      ListDirectoryBucketsRequest{},
      ResponseOf("<ListAllMyDirectoryBucketsResult><Buckets><Bucket><Name>a--usw2-az1--x-s3</Name>"
                 "<CreationDate>2026-01-02T03:04:05.000Z</CreationDate></Bucket></Buckets>"
                 "<ContinuationToken>t</ContinuationToken></ListAllMyDirectoryBucketsResult>"));
  ASSERT_TRUE(response.ok());
  ASSERT_EQ(response->buckets.size(), 1u);
  EXPECT_EQ(response->buckets[0].name.value, "a--usw2-az1--x-s3");
  EXPECT_EQ(response->buckets[0].created, WallTime(std::chrono::seconds(1767323045)));
  EXPECT_EQ(response->next_token, "t");
}

TEST(ListDirectoryBucketsTest, TheLastPageHasNoToken) {
  const auto response = ParseResponse(
      ListDirectoryBucketsRequest{},
      ResponseOf("<ListAllMyDirectoryBucketsResult><Buckets/></ListAllMyDirectoryBucketsResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_TRUE(response->buckets.empty() && response->next_token.empty());
}

}  // namespace
}  // namespace penstock::s3
