#include "emulator/s3/authorization/upload_access.h"

#include <gtest/gtest.h>

#include "emulator/policy/document.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

const std::string kOther(64, 'b');

class UploadAccessTest : public ::testing::Test {
 protected:
  UploadAccessTest() {
    s3_.identity().arn = "arn:aws:iam::123456789012:root";
    owner_ = s3_.identity();
    s3_.Send("PUT /bucket");
  }
  void BeOwner() { s3_.identity() = owner_; }
  void BeOther() {
    s3_.identity() = {"AKIDOTHER", kOther, "other", "210987654321"};
    s3_.identity().arn = "arn:aws:iam::210987654321:root";
  }
  // A user of the requester's account, with these permissions.
  void BeUser(const std::string& name, std::string_view actions) {
    Identity& who = s3_.identity();
    who.user_name = name;
    who.arn = "arn:aws:iam::" + who.account_id + ":user/" + name;
    auto policies = std::make_shared<policy::PrincipalPolicies>();
    policies->identity.push_back(
        {"user/" + name + "/p",
         policy::ParseIdentityPolicy(R"({"Statement":{"Effect":"Allow","Action":[)" +
                                     std::string(actions) + R"(],"Resource":"*"}})")
             .value()});
    who.policies = std::move(policies);
  }
  void AddStatement(std::string_view statement) {
    const Identity requester = s3_.identity();
    BeOwner();
    ASSERT_EQ(
        s3_.SendDocument("PUT /bucket?policy", R"({"Statement":)" + std::string(statement) + "}")
            .status,
        204);
    s3_.identity() = requester;
  }
  void GrantWrite(const std::string& header) {
    BeOwner();
    s3_.Send("DELETE /bucket?publicAccessBlock");
    s3_.SendDocument("PUT /bucket?ownershipControls",
                     "<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership>"
                     "</Rule></OwnershipControls>");
    ASSERT_EQ(s3_.Send("PUT /bucket?acl\n" + header).status, 200);
  }
  std::string Create() { return s3_.Send("POST /bucket/k?uploads").Element("UploadId"); }
  std::string Outcome(const std::string& method, const std::string& id) {
    const bool is_part = method == "PUT";
    return s3_
        .Send(method + " /bucket/k?" + (is_part ? "partNumber=1&" : "") + "uploadId=" + id,
              is_part ? "part" : "")
        .Outcome();
  }

  testing::Harness s3_;
  Identity owner_;
};

// Amazon S3 User Guide, "Multipart upload API and permissions".
TEST_F(UploadAccessTest, AGrantToWriteIsForOwnUploads) {
  for (const std::string& header :
       {"x-amz-grant-write: id=" + kOther, std::string("x-amz-acl: public-read-write")}) {
    GrantWrite(header);
    const std::string id = Create();
    BeOther();
    for (const char* const method : {"PUT", "GET", "DELETE"})
      EXPECT_EQ(Outcome(method, id), "403 AccessDenied") << method << " " << header;
    EXPECT_EQ(
        s3_.SendDocument("POST /bucket/k?uploadId=" + id, "<CompleteMultipartUpload/>").Outcome(),
        "403 AccessDenied");
    EXPECT_EQ(
        s3_.Send("PUT /bucket/k?partNumber=1&uploadId=" + id + "\nx-amz-copy-source: /bucket/k")
            .Outcome(),
        "403 AccessDenied");
    const std::string own = Create();
    EXPECT_EQ(Outcome("PUT", own), "200");
    EXPECT_EQ(Outcome("GET", own), "200");
    BeOwner();
    EXPECT_EQ(Outcome("GET", own), "200") << "the bucket's owner";
    BeOther();
    EXPECT_EQ(Outcome("DELETE", own), "204");
    EXPECT_EQ(Outcome("PUT", own), "404 NoSuchUpload");
    BeOwner();
    EXPECT_EQ(Outcome("DELETE", id), "204");
  }
}

TEST_F(UploadAccessTest, AnonymousRequestersMayNotUse) {
  GrantWrite("x-amz-acl: public-read-write");
  const std::string id = Create();
  s3_.identity() = {};
  for (const char* method : {"PUT", "GET", "DELETE"})
    EXPECT_EQ(Outcome(method, id), "403 AccessDenied") << method;
}

TEST_F(UploadAccessTest, InitiatorsMayListAndAbort) {
  BeUser("bob", R"("s3:PutObject")");
  const std::string of_bob = Create();
  BeUser("ann", R"("s3:PutObject")");
  const std::string id = Create();
  EXPECT_EQ(Outcome("GET", of_bob), "403 AccessDenied");
  EXPECT_EQ(Outcome("DELETE", of_bob), "403 AccessDenied");
  EXPECT_EQ(Outcome("GET", id), "200");
  AddStatement(
      R"({"Effect":"Deny","Principal":"*","Action":"s3:AbortMultipartUpload","Resource":"arn:aws:s3:::bucket/*"})");
  EXPECT_EQ(Outcome("DELETE", id), "403 AccessDenied") << "denied";
  BeOwner();
  s3_.Send("DELETE /bucket?policy");
  BeUser("ann", R"("s3:PutObject")");
  EXPECT_EQ(Outcome("DELETE", id), "204");
}

TEST_F(UploadAccessTest, AccountsOfInitiatorsMayListAndAbort) {
  AddStatement(
      R"({"Effect":"Allow","Principal":{"AWS":"210987654321"},"Action":"s3:PutObject","Resource":"arn:aws:s3:::bucket/*"})");
  BeOther();
  const std::string of_root = Create();
  BeUser("ann", R"("s3:PutObject")");
  const std::string of_ann = Create();
  EXPECT_EQ(Outcome("GET", of_ann), "200");
  EXPECT_EQ(Outcome("GET", of_root), "403 AccessDenied");
  BeUser("bob", R"("s3:PutObject","s3:AbortMultipartUpload")");
  EXPECT_EQ(Outcome("GET", of_ann), "403 AccessDenied");
  EXPECT_EQ(Outcome("DELETE", of_ann), "204") << "the account and bob's policy allow it";
  BeOwner();
  EXPECT_EQ(s3_.Send("GET /bucket/k?uploadId=" + of_root).Elements("ID"),
            (std::vector<std::string>{kOther, owner_.owner_id}))
      << "initiator and owner";
  BeOther();
  EXPECT_EQ(Outcome("DELETE", of_root), "204");
}

}  // namespace
}  // namespace penstock::emulator::s3
