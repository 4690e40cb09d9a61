#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Reply;

class AclOperationsTest : public ConfigurationTest {
 protected:
  AclOperationsTest() { s3_.Send("PUT /bucket/k", "x"); }
  void AllowAcls() {
    Put("ownershipControls",
        "<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></"
        "OwnershipControls>");
  }
  void AllowPublic() { s3_.Send("DELETE /bucket?publicAccessBlock"); }
};

constexpr const char* kTargets[] = {"/bucket?acl", "/bucket/k?acl"};

TEST_F(AclOperationsTest, EnforcedOwnershipRefusesAcls) {
  for (const std::string target : kTargets) {
    EXPECT_EQ(s3_.Send("GET " + target).Element("Permission"), "FULL_CONTROL") << target;
    EXPECT_EQ(s3_.Send("GET " + target).Element("ID"), std::string(64, 'a')) << target;
    const Reply put = s3_.Send("PUT " + target + "\nx-amz-acl: private");
    EXPECT_EQ(put.Outcome(), "400 AccessControlListNotSupported") << target;
    EXPECT_EQ(put.Element("Message"), "The bucket does not allow ACLs") << target;
  }
  EXPECT_EQ(s3_.Send("GET /bucket/absent?acl").Outcome(), "404 NoSuchKey");
}

// Recorded against Amazon S3.
TEST_F(AclOperationsTest, ArgumentsAreCheckedBeforeTheOwnership) {
  for (const std::string target : kTargets) {
    const std::string put = "PUT " + target;
    EXPECT_EQ(s3_.Send(put).Outcome(), "400 MissingSecurityHeader") << target;
    EXPECT_EQ(s3_.SendDocument(put, "<Nonsense/>").Outcome(), "400 MalformedACLError") << target;
    EXPECT_EQ(s3_.SendDocument(put + "\nx-amz-acl: private", "<Nonsense/>").Outcome(),
              "400 UnexpectedContent")
        << target;
    EXPECT_EQ(s3_.Send(put + "\nx-amz-acl: secret").Outcome(), "400 InvalidArgument") << target;
    EXPECT_EQ(s3_.Send(put + "\nx-amz-grant-read: id=me").Outcome(), "400 InvalidArgument")
        << target;
  }
  EXPECT_EQ(s3_.Send("PUT /bucket/new\nx-amz-acl: secret", "x").Outcome(), "400 InvalidArgument");
  EXPECT_EQ(s3_.Send("PUT /bucket/new\nx-amz-grant-read: me", "x").Outcome(),
            "400 InvalidArgument");
}

TEST_F(AclOperationsTest, HeadersAreStoredAsADocument) {
  AllowAcls();
  AllowPublic();
  for (const std::string target : kTargets) {
    ASSERT_EQ(s3_.Send("PUT " + target + "\nx-amz-acl: public-read").Outcome(), "200") << target;
    const Reply got = s3_.Send("GET " + target);
    EXPECT_EQ(got.Elements("Permission"), (std::vector<std::string>{"FULL_CONTROL", "READ"}))
        << target;
    EXPECT_EQ(got.Element("URI"), "http://acs.amazonaws.com/groups/global/AllUsers") << target;
    ASSERT_EQ(s3_.Send("PUT " + target + "\nx-amz-acl: private").Outcome(), "200") << target;
    EXPECT_EQ(s3_.Send("GET " + target).Elements("Permission"),
              (std::vector<std::string>{"FULL_CONTROL"}))
        << target;
  }
}

// Recorded against Amazon S3: PutObjectAcl returns 405 for a delete marker, with and without a
// version id.
TEST_F(AclOperationsTest, DeleteMarkersHaveNoAcl) {
  AllowAcls();
  s3_.SetVersioning("bucket", "Enabled");
  const std::string marker =
      "&versionId=" + s3_.Send("DELETE /bucket/k").Header("x-amz-version-id");
  for (const std::string& version : {std::string(), marker}) {
    const Reply put = s3_.Send("PUT /bucket/k?acl" + version + "\nx-amz-acl: private");
    EXPECT_EQ(put.Outcome(), "405 MethodNotAllowed") << version;
    EXPECT_EQ(put.Element("ResourceType"), "DeleteMarker");
  }
  EXPECT_EQ(s3_.Send("GET /bucket/k?acl").Outcome(), "404 NoSuchKey");
  EXPECT_EQ(s3_.Send("GET /bucket/k?acl" + marker).Outcome(), "405 MethodNotAllowed");
}

TEST_F(AclOperationsTest, DocumentsAreStored) {
  AllowAcls();
  const std::string other(64, 'b');
  const std::string document =
      "<AccessControlPolicy><Owner><ID>" + std::string(64, 'a') +
      "</ID></Owner><AccessControlList><Grant><Grantee "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"CanonicalUser\"><ID>" +
      other +
      "</ID></Grantee><Permission>READ_ACP</Permission></Grant></AccessControlList></"
      "AccessControlPolicy>";
  for (const std::string target : kTargets) {
    ASSERT_EQ(s3_.SendDocument("PUT " + target, document).Outcome(), "200") << target;
    const Reply got = s3_.Send("GET " + target);
    EXPECT_EQ(got.Elements("ID"), (std::vector<std::string>{std::string(64, 'a'), other}))
        << target;
    EXPECT_EQ(got.Element("Permission"), "READ_ACP") << target;
    EXPECT_EQ(s3_.SendDocument("PUT " + target, "<Nonsense/>").Outcome(), "400 MalformedACLError")
        << target;
    EXPECT_EQ(s3_.Send("PUT " + target, document).Outcome(), "400 InvalidRequest")
        << "missing checksum";
    std::string foreign = document;
    foreign.replace(foreign.find("aaaa"), 4, "bbbb");
    const Reply owner = s3_.SendDocument("PUT " + target, foreign);
    EXPECT_EQ(owner.Outcome(), "400 InvalidArgument") << target;
    EXPECT_EQ(owner.Element("Message"), "Invalid id") << target;
    EXPECT_EQ(owner.Element("ArgumentName"), "CanonicalUser/ID") << target;
  }
  EXPECT_EQ(s3_.Send("GET /bucket/k").body, "x");
}

TEST_F(AclOperationsTest, AclNeedsExactlyOneSource) {
  AllowAcls();
  for (const std::string target : kTargets) {
    const Reply none = s3_.Send("PUT " + target);
    EXPECT_EQ(none.Outcome(), "400 MissingSecurityHeader") << target;
    EXPECT_EQ(none.Element("Message"), "Your request was missing a required header");
    EXPECT_EQ(none.Element("MissingHeaderName"), "x-amz-acl");
    EXPECT_EQ(s3_.SendDocument("PUT " + target + "\nx-amz-acl: private", "<AccessControlPolicy/>")
                  .Outcome(),
              "400 UnexpectedContent")
        << target;
    const Reply unknown = s3_.Send("PUT " + target + "\nx-amz-acl: secret");
    EXPECT_EQ(unknown.Outcome(), "400 InvalidArgument") << target;
    EXPECT_EQ(unknown.Element("ArgumentName"), "x-amz-acl");
    EXPECT_EQ(unknown.Element("ArgumentValue"), "secret");
    EXPECT_EQ(unknown.Element("Message"), "") << "recorded against Amazon S3";
  }
}

TEST_F(AclOperationsTest, GrantHeadersAreParsed) {
  AllowAcls();
  const std::string other(64, 'b');
  for (const std::string target : kTargets) {
    ASSERT_EQ(s3_.Send("PUT " + target + "\nx-amz-grant-read: id=\"" + other +
                       "\", uri=\"http://acs.amazonaws.com/groups/s3/LogDelivery\"")
                  .Outcome(),
              "200")
        << target;
    EXPECT_EQ(s3_.Send("GET " + target).Elements("Permission"),
              (std::vector<std::string>{"READ", "READ"}))
        << target;
    const Reply both =
        s3_.Send("PUT " + target + "\nx-amz-acl: private\nx-amz-grant-read: id=" + other);
    EXPECT_EQ(both.Element("Message"),
              "Specifying both Canned ACLs and Header Grants is not allowed")
        << target;
    EXPECT_EQ(s3_.Send("PUT " + target + "\nx-amz-grant-read: id=me").Element("Message"),
              "Invalid id")
        << target;
    const Reply malformed = s3_.Send("PUT " + target + "\nx-amz-grant-read-acp: me");
    EXPECT_EQ(malformed.Element("Message"), "Argument format not recognized") << target;
    EXPECT_EQ(malformed.Element("ArgumentName"), "x-amz-grant-read-acp") << target;
    EXPECT_EQ(malformed.Element("ArgumentValue"), "me") << target;
    EXPECT_EQ(s3_.Send("PUT " + target + "\nx-amz-grant-read: emailAddress=a@b.c").Outcome(),
              "405 MethodNotAllowed")
        << target;
  }
}

// If ACLs are allowed, every operation that creates an object accepts one. A copy does not keep the
// ACL of its source.
TEST_F(AclOperationsTest, NewObjectsGetTheAclOfTheRequest) {
  AllowAcls();
  const std::string grant = "\nx-amz-grant-read: id=" + std::string(64, 'b');
  const auto permission = [&](std::string_view key) {
    return s3_.Send("GET /bucket/" + std::string(key) + "?acl").Element("Permission");
  };
  ASSERT_EQ(s3_.Send("PUT /bucket/put" + grant, "x").Outcome(), "200");
  EXPECT_EQ(permission("put"), "READ");
  ASSERT_EQ(s3_.Send("PUT /bucket/copy\nx-amz-copy-source: /bucket/put").Outcome(), "200");
  EXPECT_EQ(permission("copy"), "FULL_CONTROL");
  ASSERT_EQ(s3_.Send("PUT /bucket/granted\nx-amz-copy-source: /bucket/k" + grant).Outcome(), "200");
  EXPECT_EQ(permission("granted"), "READ");
  const std::string id = s3_.Send("POST /bucket/parts?uploads" + grant).Element("UploadId");
  const std::string etag =
      s3_.Send("PUT /bucket/parts?partNumber=1&uploadId=" + id, "x").Header("ETag");
  ASSERT_EQ(s3_.Send("POST /bucket/parts?uploadId=" + id,
                     "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" + etag +
                         "</ETag></Part></CompleteMultipartUpload>")
                .Outcome(),
            "200");
  EXPECT_EQ(permission("parts"), "READ");
  EXPECT_EQ(s3_.Send("PUT /bucket/open\nx-amz-acl: public-read", "x").Outcome(),
            "403 AccessDenied");
  EXPECT_EQ(s3_.Send("PUT /bucket/odd\nx-amz-acl: secret", "x").Outcome(), "400 InvalidArgument");
}

TEST_F(AclOperationsTest, PublicAclsAreBlocked) {
  AllowAcls();
  for (const std::string target : kTargets) {
    EXPECT_EQ(s3_.Send("PUT " + target + "\nx-amz-acl: authenticated-read").Outcome(),
              "403 AccessDenied")
        << target;
  }
}

TEST_F(AclOperationsTest, EachVersionHasItsAcl) {
  AllowAcls();
  s3_.SetVersioning("bucket", "Enabled");
  const std::string version = s3_.Send("PUT /bucket/k", "y").Header("x-amz-version-id");
  const std::string other(64, 'b');
  ASSERT_EQ(s3_.Send("PUT /bucket/k?acl&versionId=null\nx-amz-grant-read: id=" + other)
                .Header("x-amz-version-id"),
            "null");
  EXPECT_EQ(s3_.Send("GET /bucket/k?acl&versionId=null").Element("Permission"), "READ");
  EXPECT_EQ(s3_.Send("GET /bucket/k?acl").Element("Permission"), "FULL_CONTROL");
  EXPECT_EQ(s3_.Send("GET /bucket/k?acl").Header("x-amz-version-id"), version);
}

}  // namespace
}  // namespace penstock::emulator::s3
