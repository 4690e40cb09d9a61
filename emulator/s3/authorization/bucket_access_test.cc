#include "emulator/s3/authorization/bucket_access.h"

#include <gtest/gtest.h>

namespace penstock::emulator::s3 {
namespace {

TEST(BucketAccessTest, ANewBucketIsForItsOwnerOnly) {
  const store::BucketRecord bucket;
  const BucketAccess& access = AccessOf(bucket);
  EXPECT_TRUE(access.owner_only());
  EXPECT_TRUE(access.block.restrict_buckets);
  EXPECT_EQ(&AccessOf(bucket), &access) << "parsed once";
}

TEST(BucketAccessTest, AnUnreadablePolicyDeniesEverything) {
  store::BucketRecord bucket;
  bucket.configuration.emplace_back("policy", R"({"Statement":{"Effect":"Allow"}})");
  const BucketAccess& access = AccessOf(bucket);
  ASSERT_NE(access.policy, nullptr);
  EXPECT_EQ(access.policy->statements[0].effect, policy::Effect::kDeny);
  EXPECT_EQ(access.policy->statements[0].sid, "UnreadableBucketPolicy");
}

TEST(BucketAccessTest, GroupsAndAccountsAreGranted) {
  const std::vector<AclEntry> acl = {{std::string(kAllUsers), "READ"},
                                     {std::string(kAuthenticatedUsers), "READ_ACP"},
                                     {"c1", "FULL_CONTROL"}};
  Identity signed_request;
  signed_request.owner_id = "c2";
  Identity named = signed_request;
  named.owner_id = "c1";
  const auto grant = [&](const Identity& who, std::string_view action, bool ignore = false) {
    return GrantOf(acl, AclResource::kObject, who, action, ignore);
  };
  EXPECT_EQ(grant({}, "s3:GetObject"), policy::AclGrant::kToGroup);
  EXPECT_EQ(grant({}, "s3:GetObjectAcl"), policy::AclGrant::kNone);
  EXPECT_EQ(grant(signed_request, "s3:GetObjectAcl"), policy::AclGrant::kToGroup);
  EXPECT_EQ(grant(signed_request, "s3:PutObjectAcl"), policy::AclGrant::kNone);
  EXPECT_EQ(grant(named, "s3:PutObjectAcl"), policy::AclGrant::kToAccount);
  EXPECT_EQ(grant({}, "s3:GetObject", true), policy::AclGrant::kNone);
  EXPECT_EQ(grant(named, "s3:GetObject", true), policy::AclGrant::kToAccount);
  EXPECT_EQ(grant(named, "s3:GetObjectTagging"), policy::AclGrant::kNone);
}

TEST(BucketAccessTest, PermissionsOfBucketsAndObjectsDiffer) {
  EXPECT_TRUE(AclPermits(AclResource::kBucket, "READ", "s3:ListBucket"));
  EXPECT_FALSE(AclPermits(AclResource::kBucket, "READ", "s3:GetObject"));
  EXPECT_TRUE(AclPermits(AclResource::kBucket, "WRITE", "s3:PutObject"));
  EXPECT_FALSE(AclPermits(AclResource::kObject, "WRITE", "s3:PutObject"));
  EXPECT_TRUE(AclPermits(AclResource::kBucket, "FULL_CONTROL", "s3:PutBucketAcl"));
  EXPECT_FALSE(AclPermits(AclResource::kBucket, "FULL_CONTROL", "s3:PutBucketPolicy"));
}

}  // namespace
}  // namespace penstock::emulator::s3
