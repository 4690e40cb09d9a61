#include "client/s3/verbs/list_buckets.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

TEST(ListBucketsTest, AddressesTheService) {
  EXPECT_EQ(Golden(BuildRequest(ListBucketsRequest{}, Context())), "GET /\n\n");
}

TEST(ListBucketsTest, ReadsNamesAndDates) {
  const auto response = ParseResponse(
      ListBucketsRequest{},
      Answer("<ListAllMyBucketsResult><Owner><ID>o</ID></Owner><Buckets><Bucket><Name>a</Name>"
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
  const auto response = ParseResponse(
      ListBucketsRequest{}, Answer("<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_TRUE(response->buckets.empty());
}

}  // namespace
}  // namespace penstock::s3
