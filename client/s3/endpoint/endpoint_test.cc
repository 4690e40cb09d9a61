#include "client/s3/endpoint/endpoint.h"

#include <string>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

EndpointInputs Aws(std::string bucket, std::string region = "us-west-2") {
  EndpointInputs in;
  in.bucket = std::move(bucket);
  in.region = std::move(region);
  return in;
}

EndpointInputs Custom(std::string bucket, const std::string& url,
                      AddressingStyle style = AddressingStyle::kAuto) {
  EndpointInputs in = Aws(std::move(bucket), "us-east-1");
  in.custom = ParseEndpointUrl(url).value();
  in.addressing_style = style;
  return in;
}

// Returns "scheme://authority/prefix[/{bucket}]" of the resolved endpoint.
std::string Url(const EndpointInputs& in) {
  const auto out = ResolveEndpoint(in);
  if (!out.ok()) return "error: " + out.error().message;
  return out->endpoint.scheme + "://" + out->authority + out->path_prefix +
         (out->bucket_in_path ? "/" + in.bucket : "");
}

TEST(EndpointTest, PutsTheBucketInTheHostOfItsRegion) {
  EXPECT_EQ(Url(Aws("bucket")), "https://bucket.s3.us-west-2.amazonaws.com");
  EXPECT_EQ(Url(Aws("bucket", "us-east-1")), "https://bucket.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(Url(Aws("")), "https://s3.us-west-2.amazonaws.com");
}

TEST(EndpointTest, UsesThePartitionOfTheRegion) {
  EXPECT_EQ(Url(Aws("bucket", "cn-north-1")), "https://bucket.s3.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(Url(Aws("bucket", "us-gov-west-1")), "https://bucket.s3.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(Url(Aws("bucket", "eusc-de-east-1")), "https://bucket.s3.eusc-de-east-1.amazonaws.eu");
  EXPECT_EQ(Url(Aws("bucket", "us-iso-east-1")), "https://bucket.s3.us-iso-east-1.c2s.ic.gov");
  EXPECT_EQ(Url(Aws("bucket", "us-isob-east-1")), "https://bucket.s3.us-isob-east-1.sc2s.sgov.gov");
  EXPECT_EQ(Url(Aws("bucket", "eu-isoe-west-1")),
            "https://bucket.s3.eu-isoe-west-1.cloud.adc-e.uk");
  EXPECT_EQ(Url(Aws("bucket", "us-isof-south-1")),
            "https://bucket.s3.us-isof-south-1.csp.hci.ic.gov");
  EXPECT_EQ(Url(Aws("bucket", "xx-new-1")), "https://bucket.s3.xx-new-1.amazonaws.com");
}

TEST(EndpointTest, GlobalRegionUsesTheGlobalHostSignedForUsEast1) {
  EXPECT_EQ(Url(Aws("bucket", "aws-global")), "https://bucket.s3.amazonaws.com");
  EXPECT_EQ(ResolveEndpoint(Aws("bucket", "aws-global"))->signing_region, "us-east-1");
  EndpointInputs legacy = Aws("bucket", "us-east-1");
  legacy.global_us_east_1 = true;
  EXPECT_EQ(Url(legacy), "https://bucket.s3.amazonaws.com");
  legacy.region = "us-west-2";
  EXPECT_EQ(Url(legacy), "https://bucket.s3.us-west-2.amazonaws.com");
}

TEST(EndpointTest, FipsAndDualstackChangeTheHost) {
  EndpointInputs in = Aws("bucket");
  in.dualstack = true;
  EXPECT_EQ(Url(in), "https://bucket.s3.dualstack.us-west-2.amazonaws.com");
  in.fips = true;
  EXPECT_EQ(Url(in), "https://bucket.s3-fips.dualstack.us-west-2.amazonaws.com");
  in.dualstack = false;
  EXPECT_EQ(Url(in), "https://bucket.s3-fips.us-west-2.amazonaws.com");
}

TEST(EndpointTest, NamesThatAreNotDnsLabelsGoIntoThePath) {
  EXPECT_EQ(Url(Aws("a.dotted.name")), "https://s3.us-west-2.amazonaws.com/a.dotted.name");
  EXPECT_EQ(Url(Aws("Upper")), "https://s3.us-west-2.amazonaws.com/Upper");
  EXPECT_EQ(Url(Aws("under_score")), "https://s3.us-west-2.amazonaws.com/under_score");
  EXPECT_EQ(Url(Aws("ab")), "https://s3.us-west-2.amazonaws.com/ab");
}

TEST(EndpointTest, PathStyleCanBeForced) {
  EndpointInputs in = Aws("bucket");
  in.addressing_style = AddressingStyle::kPath;
  EXPECT_EQ(Url(in), "https://s3.us-west-2.amazonaws.com/bucket");
}

// As botocore's "auto" with endpoint_url.
TEST(EndpointTest, CustomHostNamesHaveTheBucketInThePath) {
  EXPECT_EQ(Url(Custom("bucket", "http://localhost:9000")), "http://localhost:9000/bucket");
  EXPECT_EQ(Url(Custom("bucket", "https://store.example/pre/fix/")),
            "https://store.example/pre/fix/bucket");
  EXPECT_EQ(Url(Custom("", "https://store.example/pre")), "https://store.example/pre");
  EXPECT_EQ(Url(Custom("bucket", "https://notamazonaws.com")), "https://notamazonaws.com/bucket");
}

TEST(EndpointTest, HostNamesOfAwsArePrefixedWithTheBucket) {
  for (const char* host : {"s3.us-east-1.amazonaws.com", "s3.cn-north-1.amazonaws.com.cn",
                           "bucket.vpce-1a2b3c4d-5e6f.s3.us-east-1.vpce.amazonaws.com"}) {
    EXPECT_EQ(Url(Custom("b12", "https://" + std::string(host))),
              "https://b12." + std::string(host));
  }
}

TEST(EndpointTest, VirtualStylePrefixesEveryHostName) {
  constexpr auto kVirtual = AddressingStyle::kVirtual;
  EXPECT_EQ(Url(Custom("bucket", "http://localhost:9000", kVirtual)),
            "http://bucket.localhost:9000");
  EXPECT_EQ(Url(Custom("bucket", "https://store.example/pre", kVirtual)),
            "https://bucket.store.example/pre");
  EXPECT_EQ(Url(Custom("bucket", "http://127.0.0.1:9000", kVirtual)),
            "http://127.0.0.1:9000/bucket");
}

TEST(EndpointTest, AccessPointsAtACustomHostNameAreNotInThePath) {
  EXPECT_EQ(
      Url(Custom("arn:aws:s3:us-east-1:123456789012:accesspoint:ap", "https://store.example")),
      "https://ap-123456789012.store.example");
}

TEST(EndpointTest, CustomIpAddressesHaveTheBucketInThePath) {
  EXPECT_EQ(Url(Custom("bucket", "http://127.0.0.1:9000")), "http://127.0.0.1:9000/bucket");
  EXPECT_EQ(Url(Custom("bucket", "http://[::1]:9000/p")), "http://[::1]:9000/p/bucket");
}

TEST(EndpointTest, DottedNamesAreHostsOverPlainHttpOnly) {
  const auto url = [](std::string bucket, const std::string& endpoint) {
    return Url(Custom(std::move(bucket), endpoint, AddressingStyle::kVirtual));
  };
  EXPECT_EQ(url("a.b.c", "http://store.example"), "http://a.b.c.store.example");
  EXPECT_EQ(url("a.b.c", "https://store.example"), "https://store.example/a.b.c");
  EXPECT_EQ(url("a..c", "http://store.example"), "http://store.example/a..c");
  EXPECT_EQ(url("10.0.0.1", "http://store.example"), "http://store.example/10.0.0.1");
}

TEST(EndpointTest, RejectsWhatTheRuleSetRejects) {
  EXPECT_EQ(Url(Aws("b12", "")).find("error: A region must be set when sending requests to S3."),
            0u);
  EXPECT_EQ(
      Url(Aws("b12", "no_label"))
          .find("error: Invalid region: region was not a valid DNS name. It is `no_label`; use "),
      0u);
  EXPECT_EQ(Url(Aws("arn:nonsense")), "error: Invalid ARN: `arn:nonsense` was not a valid ARN");
  EndpointInputs in = Custom("bucket", "http://store.example");
  in.dualstack = true;
  EXPECT_EQ(Url(in), "error: Cannot set dual-stack in combination with a custom endpoint.");
  in.dualstack = false;
  in.fips = true;
  EXPECT_EQ(Url(in), "error: A custom endpoint cannot be combined with FIPS");
  EndpointInputs china = Aws("bucket", "cn-north-1");
  china.fips = true;
  EXPECT_EQ(Url(china), "error: Partition does not support FIPS");
  EndpointInputs arn = Aws("arn:aws:s3:us-west-2:123456789012:accesspoint/x");
  arn.addressing_style = AddressingStyle::kPath;
  EXPECT_EQ(Url(arn), "error: Path-style addressing cannot be used with ARN buckets");
}

TEST(EndpointTest, RejectsANameWithASlash) {
  for (const EndpointInputs& in :
       {Aws("a/b"), Custom("a/b", "http://127.0.0.1:9000"), Aws("/a"), Aws("bucket/")}) {
    EXPECT_EQ(Url(in),
              "error: `" + in.bucket +
                  "` is not a bucket name: the part after the first `/` belongs to the key");
  }
}

std::string Refusal(const std::string& bucket, bool writes) {
  const auto out = ResolveEndpoint(Aws(bucket));
  if (!out.ok()) return out.error().message;
  const auto signable = CheckSignable(*out, bucket, writes);
  if (signable.ok()) return "";
  EXPECT_EQ(signable.error().kind, ErrorKind::kUnsupported);
  return signable.error().message;
}

TEST(EndpointTest, ReportsUnsupportedSignatures) {
  const std::string mrap = "arn:aws:s3::123456789012:accesspoint/alias.mrap";
  EXPECT_EQ(
      Refusal(mrap, false),
      "`" + mrap +
          "` is a Multi-Region Access Point, whose requests need SigV4a signatures, "
          "which this version does not support; use the bucket or the access point of one region");
  const std::string outpost =
      "arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-1/accesspoint/x";
  EXPECT_EQ(Refusal(outpost, false), "`" + outpost +
                                         "` is on S3 on Outposts, whose requests this version does "
                                         "not sign; use a bucket in a region");
  const std::string lambda = "arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/x";
  EXPECT_EQ(Refusal(lambda, false), "");
  EXPECT_EQ(Refusal(lambda, true),
            "`" + lambda +
                "` is an Object Lambda access point, through which this version only "
                "reads; use the bucket or access point behind it");
  EXPECT_EQ(Refusal("arn:aws:s3:us-west-2:123456789012:accesspoint/x", true), "");
}

TEST(EndpointTest, SignsForTheArnsRegionAndService) {
  const auto point = ResolveEndpoint(Aws("arn:aws:s3:eu-west-1:123456789012:accesspoint/x"));
  EXPECT_EQ(ScopeOf(*point), (auth::SigningScope{"eu-west-1", "s3"}));
  const auto lambda =
      ResolveEndpoint(Aws("arn:aws:s3-object-lambda:eu-west-1:123456789012:accesspoint/x"));
  EXPECT_EQ(ScopeOf(*lambda), (auth::SigningScope{"eu-west-1", "s3-object-lambda"}));
}

TEST(EndpointTest, AccelerateHostHasNoRegion) {
  EndpointInputs in = Aws("bucket");
  in.accelerate = true;
  EXPECT_EQ(Url(in), "https://bucket.s3-accelerate.amazonaws.com");
  in.bucket = "dotted.name";
  EXPECT_EQ(Url(in),
            "error: Path-style addressing cannot be used with S3 Accelerate: `dotted.name` cannot "
            "be one DNS label of the host");
}

}  // namespace
}  // namespace penstock::s3
