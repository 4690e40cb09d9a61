#include "client/s3/verbs/list_directory_buckets.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

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
      Answer("<ListAllMyDirectoryBucketsResult><Buckets><Bucket><Name>a--usw2-az1--x-s3</Name>"
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
      Answer("<ListAllMyDirectoryBucketsResult><Buckets/></ListAllMyDirectoryBucketsResult>"));
  ASSERT_TRUE(response.ok());
  EXPECT_TRUE(response->buckets.empty() && response->next_token.empty());
}

}  // namespace
}  // namespace penstock::s3
