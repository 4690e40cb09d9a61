#include "client/s3/endpoint/endpoint_express.h"

#include <string>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

constexpr const char* kBucket = "data--usw2-az1--x-s3";

EndpointInputs Inputs(const std::string& bucket, const std::string& endpoint = "") {
  EndpointInputs in;
  in.bucket = bucket;
  in.region = "us-west-2";
  if (!endpoint.empty()) in.custom = ParseEndpointUrl(endpoint).value();
  return in;
}

std::string Url(const EndpointInputs& in) {
  const auto out = ResolveEndpoint(in);
  if (!out.ok()) return "error: " + out.error().message;
  return out->endpoint.scheme + "://" + out->authority + out->BasePath(in.bucket);
}

TEST(EndpointExpressTest, ObjectsUseTheZoneHost) {
  EXPECT_EQ(Url(Inputs(kBucket)),
            "https://data--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com");
  EXPECT_EQ(Url(Inputs("point--usw2-az1--xa-s3")),
            "https://point--usw2-az1--xa-s3.s3express-usw2-az1.us-west-2.amazonaws.com");
}

TEST(EndpointExpressTest, BucketOperationsUseTheRegionalHost) {
  EndpointInputs in = Inputs(kBucket);
  in.operation.express_control = true;
  EXPECT_EQ(Url(in), "https://s3express-control.us-west-2.amazonaws.com/data--usw2-az1--x-s3");
  in.fips = in.dualstack = true;
  EXPECT_EQ(
      Url(in),
      "https://s3express-control-fips.dualstack.us-west-2.amazonaws.com/data--usw2-az1--x-s3");
  in.bucket.clear();
  EXPECT_EQ(Url(in), "https://s3express-control-fips.dualstack.us-west-2.amazonaws.com");
}

TEST(EndpointExpressTest, ACustomEndpointServesBoth) {
  EXPECT_EQ(Url(Inputs(kBucket, "http://127.0.0.1:9000")),
            "http://127.0.0.1:9000/data--usw2-az1--x-s3");
  EXPECT_EQ(Url(Inputs(kBucket, "http://store.example:9000/pre")),
            "http://data--usw2-az1--x-s3.store.example:9000/pre");
  EndpointInputs control = Inputs(kBucket, "http://127.0.0.1:9000");
  control.operation.express_control = true;
  EXPECT_EQ(Url(control), "http://127.0.0.1:9000/data--usw2-az1--x-s3");
}

// Only here the rule set places the bucket before the endpoint's path.
TEST(EndpointExpressTest, AtAnIpAddressTheBucketPrecedesThePath) {
  EXPECT_EQ(Url(Inputs(kBucket, "http://127.0.0.1:9000/pre")),
            "http://127.0.0.1:9000/data--usw2-az1--x-s3/pre");
}

TEST(EndpointExpressTest, IgnoresTheAddressingStyle) {
  EndpointInputs in = Inputs(kBucket, "http://store.example");
  in.addressing_style = AddressingStyle::kPath;
  EXPECT_EQ(Url(in), "http://data--usw2-az1--x-s3.store.example");
}

TEST(EndpointExpressTest, UsesASessionUnlessOperationOrConfigurationDisablesIt) {
  EndpointInputs in = Inputs(kBucket);
  EXPECT_EQ(ScopeOf(*ResolveEndpoint(in)),
            (auth::SigningScope{"us-west-2", "s3express", auth::TokenKind::kS3Session}));
  in.operation.plain_auth = true;
  EXPECT_EQ(ScopeOf(*ResolveEndpoint(in)), (auth::SigningScope{"us-west-2", "s3express"}));
  in.operation.plain_auth = false;
  in.express_sessions = false;
  EXPECT_EQ(ScopeOf(*ResolveEndpoint(in)), (auth::SigningScope{"us-west-2", "s3express"}));
}

TEST(EndpointExpressTest, ErrorsOfInvalidNamesStateTheReason) {
  EXPECT_EQ(Url(Inputs("data--az1--x-s3")),
            "error: Unrecognized S3Express bucket name format. `data--az1--x-s3` contains no zone "
            "id; use "
            "base--zone--x-s3, as in name--usw2-az1--x-s3");
  EXPECT_EQ(Url(Inputs("da.ta--usw2-az1--x-s3"))
                .find("error: S3Express bucket name is not a valid virtual hostable name."),
            0u);
  EXPECT_EQ(Url(Inputs("a/b--usw2-az1--x-s3", "http://127.0.0.1:9000"))
                .find("error: S3Express bucket name is not a valid"),
            0u);
  EndpointInputs in = Inputs(kBucket);
  in.accelerate = true;
  EXPECT_EQ(Url(in), "error: S3Express does not support S3 Accelerate.");
}

}  // namespace
}  // namespace penstock::s3
