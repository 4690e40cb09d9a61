#include "client/auth/providers/credential_document.h"

#include <gtest/gtest.h>

namespace penstock::auth {
namespace {

TEST(CredentialDocumentTest, ReadsKeysTokenAndExpiry) {
  const auto found = ReadCredentialDocument(
      R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2013-05-24T01:00:00Z","Code":"Success"})",
      "Token", "x");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->access_key_id, "A");
  EXPECT_EQ(found->secret_access_key, "S");
  EXPECT_EQ(found->session_token, "T");
  EXPECT_EQ(found->expires_at, WallTime(std::chrono::seconds(1369357200)));
}

TEST(CredentialDocumentTest, TokenAndExpiryMayBeMissing) {
  const auto found = ReadCredentialDocument(
      R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":""})", "Token", "x");
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->session_token.empty());
  EXPECT_FALSE(found->expires_at);
}

TEST(CredentialDocumentTest, ErrorsNameTheMissingMemberAndNoSecret) {
  for (const auto& [text, message] : {
           std::pair{R"(["s3cr3t"])", "not a JSON object"},
           std::pair{R"({"SecretAccessKey":"s3cr3t"})", "AccessKeyId is missing"},
           std::pair{R"({"AccessKeyId":"A"})", "SecretAccessKey is missing"},
           std::pair{R"({"AccessKeyId":"A","SecretAccessKey":"s3cr3t","Expiration":"soon"})",
                     "'soon'"},
           std::pair{R"({"SecretAccessKey":"s3cr3t)", "not a JSON object"},
       }) {
    const auto found = ReadCredentialDocument(text, "Token", "the source");
    ASSERT_FALSE(found.ok()) << text;
    EXPECT_EQ(found.error().kind, ErrorKind::kUnauthenticated);
    EXPECT_NE(found.error().message.find("the source"), std::string::npos);
    EXPECT_NE(found.error().message.find(message), std::string::npos) << found.error().message;
    EXPECT_EQ(found.error().message.find("s3cr3t"), std::string::npos);
  }
}

TEST(CredentialDocumentTest, RejectsATextWithANul) {
  EXPECT_TRUE(ReadFlatObject("{}").ok());
  EXPECT_FALSE(ReadFlatObject(std::string_view("{}\0 x", 5)).ok());
}

TEST(CredentialDocumentTest, RejectsSecretsThatAreNoTextOrHaveANul) {
  for (const auto& [text, message] : {
           std::pair{R"({"AccessKeyId":"A","SecretAccessKey":5})",
                     "the source: `SecretAccessKey` has the type number, not string"},
           std::pair{R"({"AccessKeyId":["A"],"SecretAccessKey":"S"})",
                     "the source: `AccessKeyId` has the type array, not string"},
           std::pair{R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":1.5})",
                     "the source: `Token` has the type number, not string"},
           std::pair{R"({"AccessKeyId":"A","SecretAccessKey":"a\u0000b"})",
                     "the source: `SecretAccessKey` has a NUL"},
       }) {
    const auto found = ReadCredentialDocument(text, "Token", "the source");
    ASSERT_FALSE(found.ok()) << text;
    EXPECT_EQ(found.error().message, message);
  }
  EXPECT_TRUE(ReadCredentialDocument(R"({"AccessKeyId":"A","SecretAccessKey":"S","Token":null})",
                                     "Token", "")
                  .ok());
}

TEST(CredentialDocumentTest, FlattensOneLevelOfStringsAndNumbers) {
  const auto members =
      ReadFlatObject(R"({"a":"b","n":12,"o":{"x":"y","deep":{"z":"no"}},"list":[1],"t":true})");
  ASSERT_TRUE(members.ok());
  EXPECT_EQ(*members, (std::map<std::string, std::string>{{"a", "b"}, {"n", "12"}, {"o.x", "y"}}));
}

}  // namespace
}  // namespace penstock::auth
