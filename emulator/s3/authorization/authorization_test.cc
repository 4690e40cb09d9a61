#include "emulator/s3/authorization/authorization.h"

#include <gtest/gtest.h>

#include "emulator/policy/document.h"
#include "emulator/s3/core/testing.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

const std::string kOther(64, 'b');
constexpr std::string_view kAllowAll =
    R"({"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}})";

class AuthorizationTest : public ::testing::Test {
 protected:
  AuthorizationTest() {
    s3_.identity().arn = "arn:aws:iam::123456789012:root";
    owner_ = s3_.identity();
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/k", "body");
  }
  void BeOwner() { s3_.identity() = owner_; }
  void BeAnonymous() { s3_.identity() = {}; }
  void BeOtherAccount() {
    s3_.identity() = {"AKIDOTHER", kOther, "other", "210987654321"};
    s3_.identity().arn = "arn:aws:iam::210987654321:root";
  }
  // The user ann of the bucket's account. `policy`: an identity policy; empty: none.
  void BeUser(std::string_view policy = {}) {
    s3_.identity() = owner_;
    s3_.identity().access_key_id = "AKIDANN";
    s3_.identity().user_name = "ann";
    s3_.identity().arn = "arn:aws:iam::123456789012:user/ann";
    auto policies = std::make_shared<policy::PrincipalPolicies>();
    if (!policy.empty())
      policies->identity.push_back({"user/ann/p", policy::ParseIdentityPolicy(policy).value()});
    s3_.identity().policies = std::move(policies);
  }
  void BeUserWith(std::string_view action, std::string_view resource,
                  std::string_view condition = "{}") {
    BeUser(R"({"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":)" +
           std::string(action) + R"(,"Resource":")" + std::string(resource) + R"(","Condition":)" +
           std::string(condition) + "}}");
  }
  // Sets the bucket's policy and configuration as its owner, and keeps the requester.
  void SetPolicy(std::string_view statements) {
    const Identity requester = s3_.identity();
    BeOwner();
    const Reply reply =
        s3_.SendDocument("PUT /bucket?policy", R"({"Version":"2012-10-17","Statement":[)" +
                                                   std::string(statements) + "]}");
    ASSERT_EQ(reply.Outcome(), "204") << reply.body;
    s3_.identity() = requester;
  }
  void AllowPublicAccess(std::string_view ownership = "BucketOwnerEnforced") {
    BeOwner();
    s3_.Send("DELETE /bucket?publicAccessBlock");
    s3_.SendDocument("PUT /bucket?ownershipControls",
                     "<OwnershipControls><Rule><ObjectOwnership>" + std::string(ownership) +
                         "</ObjectOwnership></Rule></OwnershipControls>");
  }
  std::string Outcome(std::string_view request) { return s3_.Send(request).Outcome(); }

  Harness s3_;
  Identity owner_;
};

TEST_F(AuthorizationTest, UsersNeedAPolicyForEveryOperation) {
  BeUser();
  for (const char* request : {"GET /",
                              "PUT /new-bucket",
                              "GET /bucket",
                              "HEAD /bucket",
                              "GET /bucket?list-type=2",
                              "GET /bucket?versions",
                              "GET /bucket?uploads",
                              "GET /bucket?location",
                              "GET /bucket?acl",
                              "GET /bucket?policy",
                              "GET /bucket?tagging",
                              "GET /bucket?cors",
                              "GET /bucket?lifecycle",
                              "GET /bucket?versioning",
                              "GET /bucket?encryption",
                              "GET /bucket?publicAccessBlock",
                              "DELETE /bucket",
                              "DELETE /bucket?policy",
                              "GET /bucket/k",
                              "HEAD /bucket/k",
                              "GET /bucket/k?versionId=null",
                              "GET /bucket/k?attributes",
                              "GET /bucket/k?tagging",
                              "GET /bucket/k?acl",
                              "GET /bucket/k?retention",
                              "PUT /bucket/k",
                              "DELETE /bucket/k",
                              "DELETE /bucket/k?versionId=null",
                              "POST /bucket/k?uploads",
                              "PUT /bucket/k?acl",
                              "PUT /bucket/k?uploadId=u&partNumber=1",
                              "POST /bucket/k?uploadId=u",
                              "DELETE /bucket/k?uploadId=u",
                              "GET /bucket/k?uploadId=u",
                              "PUT /bucket/k?tagging",
                              "PUT /bucket/k?retention",
                              "PUT /bucket/k?legal-hold"}) {
    EXPECT_EQ(s3_.Send(request).status, 403) << request;
  }
  BeOwner();
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "body");
}

// Amazon S3 User Guide, "Troubleshoot access denied (403 Forbidden) errors in Amazon S3".
TEST_F(AuthorizationTest, DenialsNameUserActionAndReason) {
  BeUser();
  EXPECT_EQ(
      s3_.Send("GET /bucket/k").Element("Message"),
      "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: s3:GetObject on "
      "resource: &quot;arn:aws:s3:::bucket/k&quot; because no identity-based policy allows the "
      "s3:GetObject action");
  EXPECT_EQ(s3_.Send("GET /").Element("Message"),
            "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: "
            "s3:ListAllMyBuckets because no identity-based policy allows the s3:ListAllMyBuckets "
            "action");
  BeOtherAccount();
  EXPECT_EQ(s3_.Send("GET /bucket/k").Element("Message"), "Access Denied");
  BeAnonymous();
  EXPECT_EQ(s3_.Send("GET /bucket/k").Element("Message"), "Access Denied");
}

TEST_F(AuthorizationTest, IdentityPoliciesAllowTheirActions) {
  BeUserWith("[\"s3:GetObject\"]", "arn:aws:s3:::bucket/*");
  EXPECT_EQ(Outcome("GET /bucket/k"), "200");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").status, 200);
  EXPECT_EQ(Outcome("GET /bucket/k?versionId=null"), "403 AccessDenied") << "s3:GetObjectVersion";
  EXPECT_EQ(Outcome("GET /bucket/k?attributes\nx-amz-object-attributes: ETag"), "403 AccessDenied");
  EXPECT_EQ(Outcome("PUT /bucket/k"), "403 AccessDenied");
  BeUserWith("[\"s3:PutObject\"]", "arn:aws:s3:::bucket/home/${aws:username}/*");
  EXPECT_EQ(Outcome("PUT /bucket/home/ann/f"), "200");
  EXPECT_EQ(Outcome("PUT /bucket/home/bob/f"), "403 AccessDenied");
  EXPECT_EQ(Outcome("PUT /bucket/home/ann/f\nx-amz-tagging: a=1"), "403 AccessDenied");
  EXPECT_EQ(Outcome("PUT /bucket/home/ann/f\nIf-Match: \"0\""), "403 AccessDenied");
  EXPECT_EQ(Outcome("PUT /bucket/home/ann/f\nIf-None-Match: *"), "412 PreconditionFailed");
}

TEST_F(AuthorizationTest, RootsObeyBucketPoliciesButCanReplaceThem) {
  SetPolicy(
      R"({"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::bucket","arn:aws:s3:::bucket/*"]})");
  const Reply reply = s3_.Send("GET /bucket/k");
  EXPECT_EQ(reply.Outcome(), "403 AccessDenied");
  EXPECT_NE(reply.Element("Message").find("with an explicit deny in a resource-based policy"),
            std::string::npos);
  EXPECT_EQ(Outcome("GET /bucket"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket?policy"), "200");
  BeUser(kAllowAll);
  EXPECT_EQ(Outcome("GET /bucket?policy"), "403 AccessDenied");
  BeOwner();
  EXPECT_EQ(Outcome("DELETE /bucket?policy"), "204");
  EXPECT_EQ(Outcome("GET /bucket/k"), "200");
}

TEST_F(AuthorizationTest, BucketPoliciesGrantToUsersAndAccounts) {
  SetPolicy(
      R"({"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::123456789012:user/ann","210987654321"]},"Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*"})");
  BeUser();
  EXPECT_EQ(Outcome("GET /bucket/k"), "200");
  BeOtherAccount();
  EXPECT_EQ(Outcome("GET /bucket/k"), "200");
  EXPECT_EQ(Outcome("PUT /bucket/k"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket?policy"), "403 AccessDenied");
  BeAnonymous();
  EXPECT_EQ(Outcome("GET /bucket/k"), "403 AccessDenied");
}

// Amazon S3 API Reference, "GetBucketPolicy", "PutBucketPolicy" and "DeleteBucketPolicy".
TEST_F(AuthorizationTest, OnlyTheBucketsAccountUsesItsPolicy) {
  AllowPublicAccess();
  SetPolicy(
      R"({"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::bucket"})");
  const std::string before = s3_.Send("GET /bucket?policy").body;
  const auto refused = [&](const char* who) {
    for (const char* method : {"GET", "DELETE"}) {
      const Reply reply = s3_.Send(std::string(method) + " /bucket?policy");
      EXPECT_EQ(reply.Outcome(), "405 MethodNotAllowed") << who << " " << method;
      EXPECT_EQ(reply.Element("ResourceType"), "BUCKETPOLICY");
    }
    EXPECT_EQ(s3_.SendDocument("PUT /bucket?policy", "{}").Outcome(), "405 MethodNotAllowed");
    EXPECT_EQ(Outcome("GET /bucket?policyStatus"), "200") << who << ": others may be allowed this";
  };
  BeOtherAccount();
  refused("another account");
  BeAnonymous();
  refused("anonymous");
  BeUser();
  EXPECT_EQ(Outcome("GET /bucket?policy"), "200");
  BeOwner();
  EXPECT_EQ(s3_.Send("GET /bucket?policy").body, before);
  SetPolicy(
      R"({"Effect":"Allow","Principal":"*","Action":"s3:Get*","Resource":"arn:aws:s3:::bucket/*"})");
  BeOtherAccount();
  EXPECT_EQ(Outcome("GET /bucket?policy"), "403 AccessDenied") << "without the permission";
}

TEST_F(AuthorizationTest, PublicPoliciesNeedDisabledBlocks) {
  AllowPublicAccess();
  SetPolicy(
      R"({"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*"})");
  BeAnonymous();
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "body");
  EXPECT_EQ(Outcome("GET /bucket"), "403 AccessDenied");
  BeOwner();
  s3_.SendDocument("PUT /bucket?publicAccessBlock",
                   "<PublicAccessBlockConfiguration><RestrictPublicBuckets>true</"
                   "RestrictPublicBuckets></PublicAccessBlockConfiguration>");
  BeAnonymous();
  EXPECT_EQ(Outcome("GET /bucket/k"), "403 AccessDenied");
  BeUser();
  EXPECT_EQ(Outcome("GET /bucket/k"), "200") << "in the bucket's account";
}

// Amazon S3 API Reference, "GetObject": 404 needs s3:ListBucket.
TEST_F(AuthorizationTest, MissingKeysAreHiddenFromThoseWhoMayNotList) {
  BeUserWith("[\"s3:GetObject\",\"s3:PutObjectTagging\",\"s3:PutObject\"]",
             "arn:aws:s3:::bucket/*");
  const Reply reply = s3_.Send("GET /bucket/absent");
  EXPECT_EQ(reply.Outcome(), "403 AccessDenied");
  EXPECT_NE(reply.Element("Message").find("s3:ListBucket"), std::string::npos);
  EXPECT_EQ(s3_.Send("HEAD /bucket/absent").status, 403);
  EXPECT_EQ(Outcome("PUT /bucket/copy\nx-amz-copy-source: /bucket/absent"), "403 AccessDenied");
  EXPECT_EQ(
      s3_.SendDocument("PUT /bucket/absent?tagging", "<Tagging><TagSet/></Tagging>").Outcome(),
      "403 AccessDenied");
  BeUserWith("[\"s3:GetObject\",\"s3:ListBucket\"]", "*");
  EXPECT_EQ(Outcome("GET /bucket/absent"), "404 NoSuchKey");
  EXPECT_EQ(s3_.Send("HEAD /bucket/absent").status, 404);
  BeUserWith("\"s3:*\"", "*", R"({"StringLikeIfExists":{"s3:prefix":"a*"}})");
  EXPECT_EQ(Outcome("GET /bucket/absent"), "404 NoSuchKey");
}

// The same for versions; s3:ListBucketVersions is enough, because it shows them.
TEST_F(AuthorizationTest, MissingVersionsAreHiddenFromThoseWhoMayNotList) {
  const std::string absent = "?versionId=" + store::MakeVersionId(1).value;
  const std::string copy = "PUT /bucket/copy\nx-amz-copy-source: /bucket/k" + absent;
  constexpr std::string_view kRead =
      R"("s3:GetObjectVersion","s3:GetObjectVersionTagging","s3:PutObject")";
  BeOwner();
  ASSERT_EQ(Outcome("GET /bucket/k" + absent), "404 NoSuchVersion");
  BeUserWith("[" + std::string(kRead) + "]", "arn:aws:s3:::bucket/*");
  EXPECT_EQ(Outcome("GET /bucket/k" + absent), "403 AccessDenied");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k" + absent).status, 403);
  EXPECT_EQ(Outcome("GET /bucket/k" + absent + "&tagging"), "403 AccessDenied");
  EXPECT_EQ(Outcome(copy), "403 AccessDenied");
  for (const char* const list : {"s3:ListBucket", "s3:ListBucketVersions"}) {
    BeUserWith("[" + std::string(kRead) + ",\"" + std::string(list) + "\"]", "*");
    EXPECT_EQ(Outcome("GET /bucket/k" + absent), "404 NoSuchVersion") << list;
    EXPECT_EQ(Outcome(copy), "404 NoSuchVersion") << list;
  }
  BeUserWith("[\"s3:GetObject\",\"s3:ListBucketVersions\"]", "*");
  EXPECT_EQ(Outcome("GET /bucket/absent"), "403 AccessDenied") << "keys need s3:ListBucket";
}

TEST_F(AuthorizationTest, ListsCanBeLimitedToAPrefix) {
  BeUserWith(
      "\"s3:ListBucket\"", "arn:aws:s3:::bucket",
      R"({"StringLike":{"s3:prefix":"home/${aws:username}/*"},"NumericLessThanEquals":{"s3:max-keys":"10"}})");
  EXPECT_EQ(Outcome("GET /bucket?list-type=2&prefix=home/ann/&max-keys=10"), "200");
  EXPECT_EQ(Outcome("GET /bucket?list-type=2&prefix=home/ann/"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket?prefix=home/bob/&max-keys=1"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket?list-type=2&max-keys=1"), "403 AccessDenied");
}

TEST_F(AuthorizationTest, UploadsCanRequireEncryption) {
  SetPolicy(
      R"({"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::bucket/*","Condition":{"StringNotEquals":{"s3:x-amz-server-side-encryption":"AES256"}}})");
  EXPECT_EQ(Outcome("PUT /bucket/n"), "403 AccessDenied");
  EXPECT_EQ(Outcome("PUT /bucket/n\nx-amz-server-side-encryption: AES256"), "200");
  EXPECT_EQ(Outcome("POST /bucket/n?uploads"), "403 AccessDenied");
}

TEST_F(AuthorizationTest, TagsOfObjectsAndRequestsAreConditions) {
  s3_.SendDocument(
      "PUT /bucket/k?tagging",
      "<Tagging><TagSet><Tag><Key>team</Key><Value>red</Value></Tag></TagSet></Tagging>");
  BeUserWith("\"s3:GetObject\"", "*", R"({"StringEquals":{"s3:ExistingObjectTag/team":"red"}})");
  EXPECT_EQ(Outcome("GET /bucket/k"), "200");
  BeUserWith("\"s3:GetObject\"", "*", R"({"StringEquals":{"s3:ExistingObjectTag/team":"blue"}})");
  EXPECT_EQ(Outcome("GET /bucket/k"), "403 AccessDenied");
  BeUserWith("[\"s3:PutObject\",\"s3:PutObjectTagging\"]", "*",
             R"({"StringEquals":{"s3:RequestObjectTag/team":"red"}})");
  EXPECT_EQ(Outcome("PUT /bucket/n\nx-amz-tagging: team=red"), "200");
  EXPECT_EQ(Outcome("PUT /bucket/n\nx-amz-tagging: team=blue"), "403 AccessDenied");
  const auto tag = [&](const std::string& value) {
    return s3_
        .SendDocument("PUT /bucket/k?tagging", "<Tagging><TagSet><Tag><Key>team</Key><Value>" +
                                                   value + "</Value></Tag></TagSet></Tagging>")
        .Outcome();
  };
  EXPECT_EQ(tag("red"), "200");
  EXPECT_EQ(tag("blue"), "403 AccessDenied");
}

TEST_F(AuthorizationTest, DeleteObjectsDecidesForEachKey) {
  s3_.Send("PUT /bucket/a", "x");
  BeUserWith("\"s3:DeleteObject\"", "arn:aws:s3:::bucket/a");
  const Reply reply = s3_.SendDocument(
      "POST /bucket?delete",
      "<Delete><Object><Key>a</Key></Object><Object><Key>k</Key></Object></Delete>");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Elements("Key"), (std::vector<std::string>{"a", "k"}));
  EXPECT_EQ(reply.Element("Code"), "AccessDenied");
  BeOwner();
  EXPECT_EQ(Outcome("GET /bucket/a"), "404 NoSuchKey");
  EXPECT_EQ(Outcome("GET /bucket/k"), "200");
}

TEST_F(AuthorizationTest, DeleteObjectsHidesMissingKeys) {
  constexpr std::string_view kMissing =
      "<Delete><Object><Key>missing</Key><ETag>*</ETag></Object></Delete>";
  const auto code = [&] {
    return s3_.SendDocument("POST /bucket?delete", std::string(kMissing)).Element("Code");
  };
  BeUserWith("\"s3:DeleteObject\"", "*");
  EXPECT_EQ(code(), "AccessDenied");
  BeUserWith("[\"s3:DeleteObject\",\"s3:ListBucket\"]", "*");
  EXPECT_EQ(code(), "NoSuchKey");
}

TEST_F(AuthorizationTest, CopiesNeedTheSourceAndItsTags) {
  BeUserWith("\"s3:PutObject\"", "arn:aws:s3:::bucket/copy");
  EXPECT_EQ(Outcome("PUT /bucket/copy\nx-amz-copy-source: /bucket/k"), "403 AccessDenied");
  BeUserWith("[\"s3:PutObject\",\"s3:GetObject\"]", "*");
  EXPECT_EQ(Outcome("PUT /bucket/copy\nx-amz-copy-source: /bucket/k"), "200");
  BeOwner();
  s3_.Send("PUT /bucket/k\nx-amz-tagging: team=red", "x");
  BeUserWith("[\"s3:PutObject\",\"s3:GetObject\"]", "*");
  EXPECT_EQ(Outcome("PUT /bucket/copy\nx-amz-copy-source: /bucket/k"), "403 AccessDenied");
  BeUserWith("[\"s3:PutObject*\",\"s3:GetObject*\"]", "*");
  EXPECT_EQ(Outcome("PUT /bucket/copy\nx-amz-copy-source: /bucket/k"), "200");
}

TEST_F(AuthorizationTest, AclsOfObjectsGrantRead) {
  AllowPublicAccess("ObjectWriter");
  s3_.Send("PUT /bucket/public\nx-amz-acl: public-read", "p");
  s3_.Send("PUT /bucket/signed\nx-amz-acl: authenticated-read", "s");
  s3_.Send("PUT /bucket/granted\nx-amz-grant-read: id=" + kOther, "g");
  s3_.Send("PUT /bucket/private", "x");
  BeAnonymous();
  EXPECT_EQ(Outcome("GET /bucket/public"), "200");
  EXPECT_EQ(Outcome("GET /bucket/signed"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket/public?acl"), "403 AccessDenied");
  EXPECT_EQ(Outcome("PUT /bucket/public"), "403 AccessDenied");
  BeOtherAccount();
  EXPECT_EQ(Outcome("GET /bucket/public"), "200");
  EXPECT_EQ(Outcome("GET /bucket/signed"), "200");
  EXPECT_EQ(Outcome("GET /bucket/granted"), "200");
  EXPECT_EQ(Outcome("GET /bucket/private"), "403 AccessDenied");
  BeUser();
  EXPECT_EQ(Outcome("GET /bucket/public"), "200");
  EXPECT_EQ(Outcome("GET /bucket/private"), "403 AccessDenied");
  BeOwner();
  s3_.SendDocument("PUT /bucket?publicAccessBlock",
                   "<PublicAccessBlockConfiguration><IgnorePublicAcls>true</IgnorePublicAcls></"
                   "PublicAccessBlockConfiguration>");
  BeOtherAccount();
  EXPECT_EQ(Outcome("GET /bucket/public"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket/granted"), "200");
}

TEST_F(AuthorizationTest, AclsOfBucketsGrantListsAndWrites) {
  AllowPublicAccess("ObjectWriter");
  s3_.Send("PUT /bucket?acl\nx-amz-acl: public-read-write");
  BeAnonymous();
  EXPECT_EQ(Outcome("GET /bucket?list-type=2"), "200");
  EXPECT_EQ(Outcome("PUT /bucket/n"), "200");
  EXPECT_EQ(Outcome("DELETE /bucket/k"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket/k"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket?acl"), "403 AccessDenied");
  BeOwner();
  s3_.Send("PUT /bucket?acl\nx-amz-acl: log-delivery-write");
  BeOtherAccount();
  EXPECT_EQ(Outcome("PUT /bucket/n"), "403 AccessDenied");
}

TEST_F(AuthorizationTest, SomeOperationsNeedASignatureWhateverIsAllowed) {
  AllowPublicAccess("ObjectWriter");
  s3_.Send("PUT /bucket?acl\nx-amz-acl: public-read-write");
  SetPolicy(
      R"({"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::bucket","arn:aws:s3:::bucket/*"]})");
  const std::string id = s3_.Send("POST /bucket/u?uploads").Element("UploadId");
  BeAnonymous();
  EXPECT_EQ(Outcome("PUT /bucket/n"), "200") << "plain writes need none";
  const auto message = [&](const std::string& request) {
    const Reply reply = s3_.Send(request);
    EXPECT_EQ(reply.Outcome(), "403 AccessDenied") << request;
    return reply.Element("Message");
  };
  EXPECT_EQ(message("POST /bucket/u?uploads"),
            "Anonymous users cannot initiate multipart uploads.  Please authenticate.");
  for (const std::string& copy :
       {std::string("PUT /bucket/c"), "PUT /bucket/u?partNumber=1&uploadId=" + id}) {
    EXPECT_EQ(message(copy + "\nx-amz-copy-source: /bucket/k"),
              "Anonymous users cannot copy objects.  Please authenticate.");
  }
  for (const char* acl : {"PUT /bucket?acl", "PUT /bucket/n?acl"}) {
    EXPECT_EQ(message(std::string(acl) + "\nx-amz-acl: private"),
              "Anonymous users cannot invoke this API.  Please authenticate.");
  }
  EXPECT_EQ(message("GET /bucket?ownershipControls"),
            "s3:GetBucketOwnershipControls does not support Anonymous requests!");
  EXPECT_EQ(message("DELETE /bucket?ownershipControls"),
            "s3:PutBucketOwnershipControls does not support Anonymous requests!");
}

// Amazon S3 User Guide, "Controlling ownership of objects".
TEST_F(AuthorizationTest, ObjectsOfAnotherAccountAreItsOwn) {
  AllowPublicAccess("ObjectWriter");
  s3_.Send("PUT /bucket?acl\nx-amz-grant-write: id=" + kOther);
  BeOtherAccount();
  EXPECT_EQ(Outcome("PUT /bucket/theirs"), "200");
  EXPECT_EQ(Outcome("GET /bucket/theirs"), "200");
  EXPECT_EQ(Outcome("PUT /bucket/given\nx-amz-acl: bucket-owner-full-control"), "200");
  BeOwner();
  EXPECT_EQ(Outcome("GET /bucket/theirs"), "403 AccessDenied") << "the bucket's owner";
  EXPECT_EQ(Outcome("GET /bucket/given"), "200");
  EXPECT_EQ(Outcome("DELETE /bucket/theirs"), "204");
  AllowPublicAccess("BucketOwnerPreferred");
  BeOtherAccount();
  EXPECT_EQ(Outcome("PUT /bucket/given\nx-amz-acl: bucket-owner-full-control"), "200");
  EXPECT_EQ(Outcome("GET /bucket/given"), "403 AccessDenied") << "it belongs to the bucket's owner";
  AllowPublicAccess("BucketOwnerEnforced");
  EXPECT_EQ(Outcome("GET /bucket/given"), "200");
}

// Amazon S3 User Guide, "Access control list (ACL) overview": WRITE lets the owner of an object
// delete it.
TEST_F(AuthorizationTest, OwnersOfObjectsWithWriteDeleteThem) {
  AllowPublicAccess("ObjectWriter");
  s3_.Send("PUT /bucket?acl\nx-amz-grant-write: id=" + kOther);
  BeOtherAccount();
  ASSERT_EQ(Outcome("PUT /bucket/theirs"), "200");
  ASSERT_EQ(Outcome("PUT /bucket/also-theirs"), "200");
  EXPECT_EQ(Outcome("DELETE /bucket/k"), "403 AccessDenied");
  EXPECT_EQ(Outcome("DELETE /bucket/absent"), "403 AccessDenied");
  EXPECT_EQ(Outcome("DELETE /bucket/theirs?versionId=null"), "403 AccessDenied");
  EXPECT_EQ(Outcome("DELETE /bucket/theirs"), "204");
  const Reply reply = s3_.SendDocument(
      "POST /bucket?delete",
      "<Delete><Object><Key>also-theirs</Key></Object><Object><Key>k</Key></Object></Delete>");
  EXPECT_EQ(reply.Elements("Key"), (std::vector<std::string>{"also-theirs", "k"}));
  EXPECT_EQ(reply.Elements("Code").size(), 1u) << reply.body;
  BeOwner();
  s3_.Send("PUT /bucket?acl\nx-amz-acl: private");
  ASSERT_EQ(Outcome("PUT /bucket/k"), "200");
  BeOtherAccount();
  EXPECT_EQ(Outcome("DELETE /bucket/k"), "403 AccessDenied") << "without WRITE";
}

TEST_F(AuthorizationTest, SourceAddressAndAuthTypeAreConditions) {
  SetPolicy(
      R"({"Effect":"Deny","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*","Condition":{"StringNotEquals":{"s3:authType":"REST-QUERY-STRING"}}})");
  EXPECT_EQ(Outcome("GET /bucket/k"), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET /bucket/k?X-Amz-Signature=0"), "200");
}

TEST_F(AuthorizationTest, DirectoryBucketsNeedCreateSession) {
  s3_.MakeDirectoryBucket("dir--use1-az4--x-s3");
  BeUser();
  EXPECT_EQ(s3_.Send("GET /dir--use1-az4--x-s3?list-type=2").status, 403);
  BeUserWith("\"s3express:CreateSession\"",
             "arn:aws:s3express:us-east-1:123456789012:bucket/dir--*");
  EXPECT_EQ(s3_.Send("GET /dir--use1-az4--x-s3?list-type=2").status, 200);
  EXPECT_EQ(Outcome("GET /dir--use1-az4--x-s3/missing"), "404 NoSuchKey");
  BeOtherAccount();
  EXPECT_EQ(s3_.Send("GET /dir--use1-az4--x-s3?list-type=2").status, 403);
}

TEST(AuthorizationOffTest, AccountsUseTheirOwnBuckets) {
  Harness s3({.authorization = AuthorizationMode::kOff});
  s3.Send("PUT /bucket");
  s3.Send("PUT /bucket/k", "body");
  s3.SendDocument(
      "PUT /bucket?policy",
      R"({"Statement":{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"arn:aws:s3:::bucket/*"}})");
  EXPECT_EQ(s3.Send("GET /bucket/k").Outcome(), "200");
  s3.identity().user_name = "ann";
  s3.identity().policies = std::make_shared<policy::PrincipalPolicies>();
  EXPECT_EQ(s3.Send("GET /bucket/k").Outcome(), "200");
  EXPECT_EQ(s3.Send("GET /bucket/absent").Outcome(), "404 NoSuchKey");
  s3.identity() = {"AKIDOTHER", kOther, "other", "210987654321"};
  EXPECT_EQ(s3.Send("GET /bucket/k").Outcome(), "403 AccessDenied");
  EXPECT_EQ(s3.SendDocument("POST /bucket?delete", "<Delete><Object><Key>k</Key></Object></Delete>")
                .Outcome(),
            "403 AccessDenied");
}

}  // namespace
}  // namespace penstock::emulator::s3
