#include "emulator/s3/directory/directory_rules.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

const std::string kBucket = "b--use1-az4--x-s3";
const std::string kZonal = "\nHost: b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com";
const std::string kControl = "\nHost: s3express-control.us-east-1.amazonaws.com";

class DirectoryRulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(s3_.MakeDirectoryBucket(kBucket).status, 200);
    ASSERT_EQ(s3_.Send("PUT /plain-bucket").status, 200);
  }
  std::string Outcome(const std::string& request) { return s3_.Send(request).Outcome(); }
  Harness s3_;
};

TEST_F(DirectoryRulesTest, S3HostsServeOnlyTheirOperations) {
  EXPECT_EQ(Outcome("GET /?list-type=2" + kZonal), "200");
  EXPECT_EQ(Outcome("DELETE /" + kZonal), "400 InvalidRequest");
  EXPECT_EQ(Outcome("GET /" + kBucket + "?list-type=2" + kControl), "400 InvalidRequest");
  EXPECT_EQ(Outcome("GET /" + kBucket + "?policy" + kControl), "404 NoSuchBucketPolicy");
  EXPECT_EQ(
      Outcome(
          "GET /?list-type=2\nHost: b--use1-az4--x-s3.s3express-use1-az5.us-east-1.amazonaws.com"),
      "404 NoSuchBucket");
  EXPECT_EQ(
      Outcome("GET /?list-type=2\nHost: plain-bucket.s3express-use1-az4.us-east-1.amazonaws.com"),
      "404 NoSuchBucket");
  EXPECT_EQ(Outcome("GET /?list-type=2\nHost: b--use1-az4--x-s3.s3.us-east-1.amazonaws.com"),
            "404 NoSuchBucket");
  EXPECT_EQ(
      Outcome("GET /" + kBucket + "?list-type=2\nHost: s3express-use1-az4.us-east-1.amazonaws.com"),
      "400 InvalidRequest");
}

TEST_F(DirectoryRulesTest, OtherHostsServeAllOperations) {
  for (const char* host : {"127.0.0.1:9000", "localhost:9000"}) {
    EXPECT_EQ(Outcome("GET /" + kBucket + "?list-type=2\nHost: " + std::string(host)), "200")
        << host;
    EXPECT_EQ(Outcome("GET /" + kBucket + "?policy\nHost: " + std::string(host)),
              "404 NoSuchBucketPolicy")
        << host;
  }
  EXPECT_EQ(Outcome("GET /?list-type=2\nHost: b--use1-az4--x-s3.localhost:9000"), "200");
  EXPECT_EQ(Outcome("GET /?policy\nHost: b--use1-az4--x-s3.localhost:9000"),
            "404 NoSuchBucketPolicy");
}

TEST_F(DirectoryRulesTest, UnsupportedOperationsAreRefused) {
  EXPECT_EQ(Outcome("GET /" + kBucket), "400 NotSupported") << "ListObjects";
  for (const char* query :
       {"versions", "versioning", "acl", "website", "cors", "logging", "replication",
        "notification", "location", "object-lock", "requestPayment", "accelerate", "tagging",
        "ownershipControls", "publicAccessBlock"}) {
    EXPECT_EQ(Outcome("GET /" + kBucket + "?" + query), "501 NotImplemented") << query;
  }
  for (const char* query : {"acl", "tagging", "retention", "legal-hold", "torrent"}) {
    EXPECT_EQ(Outcome("GET /" + kBucket + "/k?" + query), "501 NotImplemented") << query;
  }
}

TEST_F(DirectoryRulesTest, UnsupportedHeadersAreRefused) {
  for (const char* header :
       {"x-amz-acl: private", "x-amz-grant-read: id=x", "x-amz-tagging: a=b",
        "x-amz-website-redirect-location: /x", "x-amz-object-lock-mode: GOVERNANCE",
        "x-amz-request-payer: requester", "x-amz-server-side-encryption: aws:kms:dsse",
        "x-amz-server-side-encryption-customer-algorithm: AES256",
        "Content-MD5: XUFAKrxLKna5cZ2REBfFkg==", "x-amz-checksum-md5: XUFAKrxLKna5cZ2REBfFkg=="}) {
    EXPECT_EQ(s3_.Send("PUT /" + kBucket + "/k\n" + header, "hello").Outcome(),
              "501 NotImplemented")
        << header;
  }
  EXPECT_EQ(s3_.Send("PUT /" + kBucket + "/k\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==", "hello")
                .Element("Message"),
            "This bucket does not support Content Md5 header.");
  EXPECT_EQ(Outcome("GET /" + kBucket + "?policy\nx-amz-expected-bucket-owner: 123456789012"),
            "501 NotImplemented");
  EXPECT_EQ(Outcome("GET /" + kBucket + "?list-type=2\nx-amz-expected-bucket-owner: 123456789012"),
            "200");
}

TEST_F(DirectoryRulesTest, OnlyTheNullVersionIsAccepted) {
  s3_.Send("PUT /" + kBucket + "/k", "hello");
  EXPECT_EQ(Outcome("GET /" + kBucket + "/k?versionId=null"), "200");
  EXPECT_EQ(Outcome("GET /" + kBucket + "/k?versionId=abc"), "400 InvalidArgument");
}

TEST_F(DirectoryRulesTest, DirectoryFeaturesAreRefusedForOtherBuckets) {
  for (const char* header : {"x-amz-write-offset-bytes: 0", "x-amz-rename-source: k",
                             "x-amz-client-token: t", "x-amz-create-session-mode: ReadOnly"}) {
    EXPECT_EQ(s3_.Send("PUT /plain-bucket/k\n" + std::string(header), "x").Outcome(),
              "501 NotImplemented")
        << header;
  }
  EXPECT_EQ(Outcome("PUT /plain-bucket/k?renameObject\nx-amz-rename-source: j"),
            "501 NotImplemented");
  EXPECT_EQ(s3_.Send("GET /" + kBucket + "/k\nx-amz-write-offset-bytes: 0").Outcome(),
            "501 NotImplemented")
      << "header of another operation";
}

TEST_F(DirectoryRulesTest, ReadOnlySessionsOnlyRead) {
  s3_.Send("PUT /" + kBucket + "/k", "hello");
  auto session = std::make_shared<DirectorySession>();
  session->bucket = kBucket;
  session->read_only = true;
  s3_.identity().session = session;
  EXPECT_EQ(Outcome("GET /" + kBucket + "/k"), "200");
  EXPECT_EQ(Outcome("HEAD /" + kBucket + "/k"), "200");
  EXPECT_EQ(Outcome("GET /" + kBucket + "?list-type=2"), "200");
  EXPECT_EQ(Outcome("GET /" + kBucket + "?uploads"), "200");
  EXPECT_EQ(s3_.Send("PUT /" + kBucket + "/k", "x").Outcome(), "403 AccessDenied");
  EXPECT_EQ(Outcome("DELETE /" + kBucket + "/k"), "403 AccessDenied");
  EXPECT_EQ(Outcome("POST /" + kBucket + "/k?uploads"), "403 AccessDenied");
  EXPECT_EQ(Outcome("PUT /" + kBucket + "/j?renameObject\nx-amz-rename-source: k"),
            "403 AccessDenied");
}

TEST_F(DirectoryRulesTest, SessionsAreValidOnlyForTheirBucket) {
  s3_.Send("PUT /plain-bucket/k", "hello");
  auto session = std::make_shared<DirectorySession>();
  session->bucket = kBucket;
  s3_.identity().session = session;
  EXPECT_EQ(Outcome("PUT /" + kBucket + "/copy\nx-amz-copy-source: plain-bucket/k"),
            "403 AccessDenied");
  EXPECT_EQ(s3_.Send("PUT /" + kBucket + "/k", "x").Outcome(), "200");
  EXPECT_EQ(Outcome("PUT /" + kBucket + "/copy\nx-amz-copy-source: " + kBucket + "/k"), "200");
}

TEST_F(DirectoryRulesTest, EncryptionMustMatchTheSession) {
  auto session = std::make_shared<DirectorySession>();
  session->bucket = kBucket;
  session->encryption = "AES256";
  s3_.identity().session = session;
  EXPECT_EQ(s3_.Send("PUT /" + kBucket + "/k\nx-amz-server-side-encryption: AES256", "x").Outcome(),
            "200");
  EXPECT_EQ(
      s3_.Send("PUT /" + kBucket + "/k\nx-amz-server-side-encryption: aws:kms", "x").Outcome(),
      "400 InvalidRequest");
}

}  // namespace
}  // namespace penstock::emulator::s3
