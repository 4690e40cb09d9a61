#include "client/s3/call/region_resolver.h"

#include <string>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

struct Resolving {
  explicit Resolving(Operation operation = Operation::kGetObject)
      : resolver(config, regions, endpoints, Info(operation), bucket) {
    config.client.region = "us-east-1";
  }

  // Resolves the next attempt and returns its host.
  std::string Host() {
    const Result<void> resolved = resolver.Resolve();
    return resolved.ok() ? resolver.endpoint()->authority : resolved.error().message;
  }

  const std::string bucket = "bucket";
  ResolvedConfig config;
  BucketRegions regions;
  EndpointCache endpoints;
  RegionResolver resolver;
};

constexpr const char* kHere = "bucket.s3.us-east-1.amazonaws.com";
constexpr const char* kThere = "bucket.s3.eu-west-1.amazonaws.com";

Error To(std::string region) {
  Error error = Error::Make(ErrorKind::kWrongRegion, "m");
  error.http_status = 301;
  error.code = "PermanentRedirect";
  error.region = std::move(region);
  return error;
}

TEST(RegionResolverTest, TheConfiguredRegionIsUsedFirst) {
  Resolving test;
  EXPECT_EQ(test.Host(), kHere);
}

TEST(RegionResolverTest, ALearnedRegionTakesPrecedence) {
  Resolving test;
  test.regions.Learn("bucket", "eu-west-1");
  EXPECT_EQ(test.Host(), kThere);
}

TEST(RegionResolverTest, ANewBucketIsCreatedInTheConfiguredRegion) {
  Resolving test(Operation::kCreateBucket);
  test.regions.Learn("bucket", "eu-west-1");
  EXPECT_EQ(test.Host(), kHere);
}

TEST(RegionResolverTest, ALearnedRegionWithoutAnEndpointIsForgotten) {
  Resolving test;
  test.config.fips = true;
  test.regions.Learn("bucket", "cn-north-1");
  EXPECT_EQ(test.Host(), "bucket.s3-fips.us-east-1.amazonaws.com");
  EXPECT_EQ(test.regions.Find("bucket"), "");
}

TEST(RegionResolverTest, FollowsOneRedirectAndLearnsFromTheResponse) {
  Resolving test;
  EXPECT_EQ(test.Host(), kHere);
  Error error = To("eu-west-1");
  ASSERT_TRUE(test.resolver.Follow({301, {}}, error));
  EXPECT_EQ(test.Host(), kThere);
  EXPECT_EQ(test.regions.Find("bucket"), "") << "no server there has responded";
  test.resolver.Learn(Ok(), true, http::ResponseHead{200, {}});
  EXPECT_EQ(test.regions.Find("bucket"), "eu-west-1");
  Error again = To("eu-west-2");
  EXPECT_FALSE(test.resolver.Follow({301, {}}, again));
}

TEST(RegionResolverTest, ForgetsAnUnreachableRegionButNotAfterCancellation) {
  Resolving test;
  test.regions.Learn("bucket", "eu-west-1");
  EXPECT_EQ(test.Host(), kThere);
  test.resolver.Learn(Error::Make(ErrorKind::kCancelled, "m"), false, std::nullopt);
  EXPECT_EQ(test.regions.Find("bucket"), "eu-west-1");
  test.resolver.Learn(Error::Make(ErrorKind::kUnavailable, "m"), false, std::nullopt);
  EXPECT_EQ(test.regions.Find("bucket"), "");
}

TEST(RegionResolverTest, ServerErrorDoesNotConfirmARegion) {
  Resolving test;
  EXPECT_EQ(test.Host(), kHere);
  Error error = To("eu-west-1");
  ASSERT_TRUE(test.resolver.Follow({301, {}}, error));
  EXPECT_EQ(test.Host(), kThere);
  test.resolver.Learn(Error::Make(ErrorKind::kUnavailable, "m"), true, http::ResponseHead{502, {}});
  EXPECT_EQ(test.regions.Find("bucket"), "");
}

TEST(RegionResolverTest, ARedirectThatIsNotFollowedIsExplained) {
  Resolving test;
  EXPECT_EQ(test.Host(), kHere);
  Error error = To("us-east-1");
  const http::ResponseHead head{301, {}};
  EXPECT_FALSE(test.resolver.Follow(head, error));
  test.resolver.Explain(head, error);
  EXPECT_NE(error.message.find("the response names region us-east-1"), std::string::npos)
      << error.message;
}

}  // namespace
}  // namespace penstock::s3
