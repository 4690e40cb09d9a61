#include "emulator/s3/core/regions.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

// The home region is us-east-1. "bucket" is in eu-west-1, "home-bucket" in the home region.
class RegionsTest : public ::testing::Test {
 protected:
  RegionsTest() {
    s3_.Send("PUT /home-bucket");
    store::BucketRecord elsewhere;
    elsewhere.name = BucketName("bucket");
    elsewhere.region = "EU";
    elsewhere.owner_id = s3_.identity().owner_id;
    EXPECT_TRUE(s3_.store().CreateBucket(elsewhere).ok());
  }
  std::string Expected(std::string_view target, std::string_view host, std::string_view scope) {
    RequestHead head;
    Connection connection;
    Exchange exchange{head, connection};
    exchange.target = ParseTarget(target, host, HostRules::Default("us-east-1")).value();
    exchange.space = std::make_shared<Namespace>();
    exchange.space->store = std::shared_ptr<store::Store>(std::shared_ptr<void>(), &s3_.store());
    return ExpectedSigningRegion(exchange, scope, "us-east-1");
  }
  Harness s3_;
};

TEST_F(RegionsTest, ExpectsTheRegionOfTheHostOrTheBucket) {
  EXPECT_EQ(Expected("/", "127.0.0.1", "eu-west-1"), "us-east-1");
  EXPECT_EQ(Expected("/home-bucket/k", "127.0.0.1", "eu-west-1"), "us-east-1");
  EXPECT_EQ(Expected("/absent", "127.0.0.1", "eu-west-1"), "us-east-1");
  EXPECT_EQ(Expected("/bucket", "127.0.0.1", "us-east-1"), "us-east-1")
      << "the endpoint redirects the request";
  EXPECT_EQ(Expected("/bucket", "127.0.0.1", "eu-west-1"), "eu-west-1");
  EXPECT_EQ(Expected("/bucket", "127.0.0.1", "ap-south-1"), "eu-west-1");
  EXPECT_EQ(Expected("/home-bucket", "s3.eu-west-1.amazonaws.com", "us-east-1"), "eu-west-1");
}

TEST_F(RegionsTest, WrongRegionalEndpointRedirects) {
  for (const char* request : {"GET /bucket/k\nHost: s3.us-west-2.amazonaws.com",
                              "GET /k\nHost: bucket.s3.us-west-2.amazonaws.com"}) {
    s3_.signing_region() = "us-west-2";
    const Reply reply = s3_.Send(request);
    EXPECT_EQ(reply.Outcome(), "301 PermanentRedirect") << request;
    EXPECT_EQ(reply.Element("Message"),
              "The bucket you are attempting to access must be addressed using the specified "
              "endpoint. Please send all "
              "future requests to this endpoint.");
    EXPECT_EQ(reply.Element("Endpoint"), "bucket.s3.eu-west-1.amazonaws.com");
    EXPECT_EQ(reply.Element("Bucket"), "bucket");
    EXPECT_EQ(reply.Header("x-amz-bucket-region"), "eu-west-1");
    EXPECT_EQ(reply.Header("Location"), "<absent>");
  }
  s3_.signing_region() = "eu-west-1";
  EXPECT_EQ(s3_.Send("GET /bucket\nHost: s3.eu-west-1.amazonaws.com").Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /home-bucket\nHost: s3.eu-west-1.amazonaws.com").Outcome(),
            "301 PermanentRedirect");
}

TEST_F(RegionsTest, UnsignedRequestsAreRedirectedBeforeTheyAreDenied) {
  s3_.identity() = {};
  EXPECT_EQ(s3_.Send("GET /bucket").Outcome(), "301 PermanentRedirect");
}

TEST_F(RegionsTest, GlobalVirtualHostRefusesTheWrongSigningRegion) {
  s3_.signing_region() = "us-east-1";
  const Reply reply = s3_.Send("GET /k\nHost: bucket.s3.amazonaws.com");
  EXPECT_EQ(reply.Outcome(), "400 AuthorizationHeaderMalformed");
  EXPECT_EQ(reply.Element("Message"),
            "The authorization header is malformed; the region 'us-east-1' is wrong; expecting "
            "'eu-west-1'");
  EXPECT_EQ(reply.Element("Region"), "eu-west-1");
  EXPECT_EQ(reply.Header("x-amz-bucket-region"), "eu-west-1");
  const Reply head = s3_.Send("HEAD /\nHost: bucket.s3.amazonaws.com");
  EXPECT_EQ(head.status, 400);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.Header("x-amz-bucket-region"), "eu-west-1");
}

TEST_F(RegionsTest, AnyEndpointReturnsTheLocation) {
  EXPECT_TRUE(s3_.Send("GET /bucket?location").body.ends_with("\">EU</LocationConstraint>"));
}

}  // namespace
}  // namespace penstock::emulator::s3
