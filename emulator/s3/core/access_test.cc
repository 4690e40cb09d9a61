#include "emulator/s3/core/access.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k", "x");
  }
  void UseOtherAccount() {
    s3_.identity() = {"AKIDOTHER", std::string(64, 'b'), "other", "210987654321"};
  }
  Harness s3_;
};

constexpr const char* kRequests[] = {
    "GET /bucket",         "GET /bucket?list-type=2", "GET /bucket?versions",
    "GET /bucket?uploads", "GET /bucket/k",           "GET /bucket/absent",
    "PUT /bucket/k",       "DELETE /bucket/k",        "GET /bucket?acl",
    "GET /bucket/k?acl",   "DELETE /bucket",          "GET /bucket?policy",
    "GET /bucket?tagging", "PUT /bucket?acl",         "POST /bucket/k?uploads",
    "GET /bucket?location"};

// S3 also denies access to missing keys, so that a requester who may not list learns nothing about
// them.
TEST_F(AccessTest, OtherAccountsAreDenied) {
  UseOtherAccount();
  for (const char* request : kRequests) {
    const Reply reply = s3_.Send(request);
    EXPECT_EQ(reply.Outcome(), "403 AccessDenied") << request;
    EXPECT_EQ(reply.Element("Message"), "Access Denied") << request;
  }
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").status, 403);
  const Reply head = s3_.Send("HEAD /bucket");
  EXPECT_EQ(head.status, 403);
  EXPECT_EQ(head.Header("x-amz-bucket-region"), "us-east-1");
  EXPECT_EQ(s3_.Send("GET /absent").Outcome(), "404 NoSuchBucket");
}

TEST_F(AccessTest, UnsignedRequestsAreDenied) {
  s3_.identity() = {};
  for (const char* request : kRequests)
    EXPECT_EQ(s3_.Send(request).Outcome(), "403 AccessDenied") << request;
  const Reply anonymous = s3_.Send("GET /");
  EXPECT_EQ(anonymous.status, 307);
  EXPECT_EQ(anonymous.Header("Location"), "https://aws.amazon.com/s3/");
  EXPECT_EQ(anonymous.body, "");
  EXPECT_EQ(s3_.Send("PUT /another").Outcome(), "403 AccessDenied");
  EXPECT_EQ(s3_.Send("GET /absent").Outcome(), "404 NoSuchBucket");
}

TEST_F(AccessTest, CopyNeedsAccessToItsSource) {
  UseOtherAccount();
  s3_.Send("PUT /mine-here");
  EXPECT_EQ(s3_.Send("PUT /mine-here/k\nx-amz-copy-source: /bucket/k").Outcome(),
            "403 AccessDenied");
  EXPECT_EQ(s3_.Send("GET /mine-here/k").Outcome(), "404 NoSuchKey");
}

TEST_F(AccessTest, UsersOfOneAccountShareItsBuckets) {
  s3_.identity().access_key_id = "AKIDCOLLEAGUE";
  s3_.identity().display_name = "colleague";
  EXPECT_EQ(s3_.Send("GET /bucket/k").Outcome(), "200");
}

TEST(AddressTest, HasNoPort) {
  EXPECT_EQ(AddressOf("127.0.0.1:54321"), "127.0.0.1");
  EXPECT_EQ(AddressOf("[::1]:54321"), "::1");
  EXPECT_EQ(AddressOf("[::ffff:192.0.2.1]:54321"), "192.0.2.1");
}

}  // namespace
}  // namespace penstock::emulator::s3
