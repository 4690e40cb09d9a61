#include "client/s3/call/endpoint_cache.h"

#include <gtest/gtest.h>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

const OperationInfo& kGet = Info(Operation::kGetObject);

ResolvedConfig Config() {
  ClientConfig config;
  config.region = "eu-west-1";
  return ResolveConfig(config, EmptyEnvironment()).value();
}

TEST(EndpointCacheTest, ResolvesOncePerBucketAndRegion) {
  EndpointCache cache;
  const ResolvedConfig config = Config();
  const auto first = cache.Resolve(config, "bucket", "eu-west-1", kGet);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->authority, "bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(*cache.Resolve(config, "bucket", "eu-west-1", kGet), *first);
  EXPECT_EQ((*cache.Resolve(config, "bucket", "us-west-2", kGet))->authority,
            "bucket.s3.us-west-2.amazonaws.com");
  EXPECT_EQ((*cache.Resolve(config, "other", "eu-west-1", kGet))->authority,
            "other.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(*cache.Resolve(config, "bucket", "eu-west-1", kGet), *first);
}

TEST(EndpointCacheTest, ResolvesBeyondItsCapacity) {
  EndpointCache cache;
  const ResolvedConfig config = Config();
  for (int i = 0; i < 100; ++i) {
    const std::string bucket = "bucket-" + std::to_string(i);
    EXPECT_EQ((*cache.Resolve(config, bucket, "eu-west-1", kGet))->authority,
              bucket + ".s3.eu-west-1.amazonaws.com");
  }
  EXPECT_NE(*cache.Resolve(config, "bucket-99", "eu-west-1", kGet),
            *cache.Resolve(config, "bucket-99", "eu-west-1", kGet));
}

TEST(EndpointCacheTest, DoesNotStoreErrors) {
  EndpointCache cache;
  EXPECT_FALSE(cache.Resolve(Config(), "bucket", "not a region", kGet).ok());
  EXPECT_TRUE(cache.Resolve(Config(), "bucket", "eu-west-1", kGet).ok());
}

}  // namespace
}  // namespace penstock::s3
