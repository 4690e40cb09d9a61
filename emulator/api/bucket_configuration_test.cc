#include <gtest/gtest.h>

#include "emulator/api/testing.h"

namespace penstock::emulator::api {
namespace {

using testing::Harness;
using testing::Reply;

class BucketConfigurationTest : public ::testing::Test {
 protected:
  BucketConfigurationTest() {
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k", "x");
  }
  Harness s3_;
};

// Spec §2.2.
TEST_F(BucketConfigurationTest, UnsetErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"tagging", "NoSuchTagSet"}, {"policy", "NoSuchBucketPolicy"}, {"policyStatus", "NoSuchBucketPolicy"},
      {"cors", "NoSuchCORSConfiguration"}, {"lifecycle", "NoSuchLifecycleConfiguration"},
      {"website", "NoSuchWebsiteConfiguration"}, {"object-lock", "ObjectLockConfigurationNotFoundError"},
      {"replication", "ReplicationConfigurationNotFoundError"}, {"analytics&id=1", "NoSuchConfiguration"},
      {"inventory&id=1", "NoSuchConfiguration"}, {"metrics&id=1", "NoSuchConfiguration"},
      {"intelligent-tiering&id=1", "NoSuchConfiguration"}};
  for (const auto& [selector, code] : cases) {
    const Reply reply = s3_.Send(std::string("GET /bucket?") + selector);
    EXPECT_EQ(reply.Outcome(), std::string("404 ") + code) << selector;
    EXPECT_EQ(reply.Element("BucketName"), "bucket") << selector;
  }
}

TEST_F(BucketConfigurationTest, UnsetDocuments) {
  EXPECT_EQ(s3_.Send("GET /bucket?encryption").Element("SSEAlgorithm"), "AES256");
  EXPECT_EQ(s3_.Send("GET /bucket?ownershipControls").Element("ObjectOwnership"), "BucketOwnerEnforced");
  EXPECT_EQ(s3_.Send("GET /bucket?publicAccessBlock").Element("RestrictPublicBuckets"), "true");
  EXPECT_EQ(s3_.Send("GET /bucket?requestPayment").Element("Payer"), "BucketOwner");
  for (const char* selector : {"notification", "logging", "accelerate", "versioning"}) {
    const Reply reply = s3_.Send(std::string("GET /bucket?") + selector);
    EXPECT_EQ(reply.Outcome(), "200") << selector;
    EXPECT_TRUE(reply.body.ends_with("xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>")) << reply.body;
  }
}

TEST_F(BucketConfigurationTest, AclIsTheOwnersAndCannotBeChanged) {
  for (const char* target : {"/bucket?acl", "/bucket/k?acl"}) {
    EXPECT_EQ(s3_.Send(std::string("GET ") + target).Element("Permission"), "FULL_CONTROL") << target;
    EXPECT_EQ(s3_.Send(std::string("PUT ") + target).Outcome(), "400 AccessControlListNotSupported") << target;
  }
  EXPECT_EQ(s3_.Send("GET /bucket/absent?acl").Outcome(), "404 NoSuchKey");
}

TEST_F(BucketConfigurationTest, ObjectLockIsMissing) {
  for (const char* selector : {"retention", "legal-hold"}) {
    EXPECT_EQ(s3_.Send(std::string("GET /bucket/k?") + selector).Element("Message"),
              "Bucket is missing Object Lock Configuration");
  }
}

// Spec §2.7 "States".
TEST_F(BucketConfigurationTest, VersioningIsKept) {
  EXPECT_EQ(s3_.SetVersioning("bucket", "Enabled").Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /bucket?versioning").Element("Status"), "Enabled");
  EXPECT_EQ(s3_.SetVersioning("bucket", "Suspended").Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET /bucket?versioning").Element("Status"), "Suspended");
  EXPECT_EQ(s3_.SetVersioning("bucket", "enabled").Outcome(), "400 MalformedXML");
  EXPECT_EQ(s3_.SendDocument("PUT /bucket?versioning", "<VersioningConfiguration/>").Outcome(),
            "400 IllegalVersioningConfigurationException");
}

}  // namespace
}  // namespace penstock::emulator::api
