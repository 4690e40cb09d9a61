#include "emulator/s3/access/acl.h"

#include "emulator/s3/config/configuration_fixture.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

const std::string kOwner(64, 'a');
const std::string kOther(64, 'b');
const AclOwners kOwners{kOwner, kOther};

std::string Policy(std::string_view owner, std::string_view grants) {
  return "<AccessControlPolicy><Owner><ID>" + std::string(owner) +
         "</ID></Owner><AccessControlList>" + std::string(grants) +
         "</AccessControlList></AccessControlPolicy>";
}
std::string Grant(std::string_view type, std::string_view who) {
  return "<Grant><Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"" +
         std::string(type) + "\">" + std::string(who) +
         "</Grantee><Permission>READ</Permission></Grant>";
}

std::string CodeOf(const Result<Element>& result) { return result.ok() ? "" : result.error().code; }

TEST(AclTest, DocumentsAreCheckedAgainstSchemaAndOwner) {
  const std::string group = "<URI>http://acs.amazonaws.com/groups/global/AllUsers</URI>";
  EXPECT_EQ(CodeOf(ReadAclDocument("<Wrong/>", kOwners)), "MalformedACLError");
  EXPECT_EQ(CodeOf(ReadAclDocument(Policy(kOwner, Grant("Robot", group)), kOwners)),
            "MalformedACLError");
  EXPECT_EQ(CodeOf(ReadAclDocument(Policy(kOther, ""), kOwners)), "InvalidArgument")
      << "an owner cannot be changed";
  EXPECT_EQ(CodeOf(ReadAclDocument(Policy(kOwner, Grant("CanonicalUser", "<ID>x</ID>")), kOwners)),
            "InvalidArgument");
  EXPECT_EQ(CodeOf(ReadAclDocument(Policy(kOwner, Grant("Group", "<URI>x</URI>")), kOwners)),
            "InvalidArgument");
  EXPECT_EQ(CodeOf(ReadAclDocument(
                Policy(kOwner, Grant("AmazonCustomerByEmail", "<EmailAddress>x</EmailAddress>")),
                kOwners)),
            "MethodNotAllowed")
      << "e-mail grantees are not supported since October 2025";
  const auto acl = ReadAclDocument(Policy(kOwner, Grant("Group", group)), kOwners);
  ASSERT_TRUE(acl.ok());
  EXPECT_TRUE(IsPublicAcl(*acl));
  EXPECT_FALSE(IsPrivateAcl(*acl));
}

TEST(AclTest, StoredAclsReadBackUnchanged) {
  const auto acl = ReadAclDocument(
      Policy(kOwner, Grant("CanonicalUser", "<DisplayName>n</DisplayName><ID>" + kOther + "</ID>")),
      kOwners);
  ASSERT_TRUE(acl.ok());
  const std::string stored = StoredAcl(*acl);
  EXPECT_EQ(stored.find("DisplayName"), std::string::npos);
  const auto again = ReadBySchema(stored, kAclSchema);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(StoredAcl(*again), stored);
  EXPECT_TRUE(AclDocument(stored, kOwner).ends_with(stored));
}

TEST(AclTest, EmptyAclGrantsOnlyTheOwner) {
  const std::string document = AclDocument("", kOwner);
  EXPECT_NE(document.find("xsi:type=\"CanonicalUser\"><ID>" + kOwner +
                          "</ID></Grantee><Permission>FULL_CONTROL</Permission>"),
            std::string::npos)
      << document;
  EXPECT_EQ(document.find("DisplayName"), std::string::npos);
}

TEST(AclTest, OwnershipIsEnforcedByDefault) {
  store::BucketRecord bucket;
  EXPECT_EQ(OwnershipOf(bucket), kBucketOwnerEnforced);
  bucket.configuration = {{std::string(kOwnershipKey), ""}};
  EXPECT_EQ(OwnershipOf(bucket), "ObjectWriter") << "deleted controls";
  bucket.configuration[0].second =
      "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerPreferred</ObjectOwnership></Rule></"
      "OwnershipControls>";
  EXPECT_EQ(OwnershipOf(bucket), "BucketOwnerPreferred");
}

TEST(PublicAccessTest, EverythingIsBlockedByDefault) {
  store::BucketRecord bucket;
  EXPECT_TRUE(PublicAccessBlockOf(bucket).block_acls);
  EXPECT_TRUE(PublicAccessBlockOf(bucket).restrict_buckets);
  bucket.configuration = {
      {"publicAccessBlock",
       "<PublicAccessBlockConfiguration><BlockPublicAcls>false</BlockPublicAcls>"
       "<IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>"
       "<RestrictPublicBuckets>false</RestrictPublicBuckets></PublicAccessBlockConfiguration>"}};
  const PublicAccessBlock some = PublicAccessBlockOf(bucket);
  EXPECT_FALSE(some.block_acls);
  EXPECT_TRUE(some.ignore_acls);
  EXPECT_TRUE(some.block_policy);
  EXPECT_FALSE(some.restrict_buckets);
  bucket.configuration[0].second.clear();
  EXPECT_FALSE(PublicAccessBlockOf(bucket).block_policy) << "deleted configuration";
}

}  // namespace
}  // namespace penstock::emulator::s3
