#include "client/auth/providers/profile_provider.h"

#include "client/auth/providers/provider_for_test.h"

namespace penstock::auth {
namespace {

using http::FakeReply;
using http::FakeTransport;

constexpr const char* kSts =
    "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId>"
    "<SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>"
    "<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>"
    "</AssumeRoleResponse>";

// A provider that reads these two files and has no transport.
ProviderPtr Profile(const std::string& config, const std::string& credentials,
                    const std::string& name = {}, TextMap variables = {}) {
  static FakeTransport unused_transport;
  return MakeProfileProvider(
      FakeContext(unused_transport, std::move(variables),
                  {{"/home/u/.aws/config", config}, {"/home/u/.aws/credentials", credentials}}),
      name);
}

ProviderPtr Role(FakeTransport& transport, const std::string& config, TextMap variables = {}) {
  return MakeProfileProvider(
      FakeContext(transport, std::move(variables),
                  {{"/home/u/.aws/config", config}, {"/token", "web.identity\n"}}),
      "r");
}

bool Has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

TEST(ProfileProvider, ReadsKeysOfTheDefaultProfile) {
  const Result<CredentialsPtr> result = GetCredentials(Profile(
      "", "[default]\naws_access_key_id = ID\naws_secret_access_key = S\naws_session_token = T\n"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->secret_access_key, "S");
  EXPECT_EQ((*result)->session_token, "T");
}

TEST(ProfileProvider, UsesTheSelectedProfile) {
  const std::string two =
      "[a]\naws_access_key_id = A\naws_secret_access_key = S\n"
      "[b]\naws_access_key_id = B\naws_secret_access_key = S\n";
  EXPECT_EQ((*GetCredentials(Profile("", two, "b")))->access_key_id, "B");
  EXPECT_EQ((*GetCredentials(Profile("", two, "", {{"AWS_PROFILE", "a"}})))->access_key_id, "A");
}

TEST(ProfileProvider, AMissingDefaultIsNotFoundAMissingNamedProfileIsAnError) {
  EXPECT_EQ(ErrorOf(Profile("", "")).kind, ErrorKind::kNotFound);
  const Error named = ErrorOf(Profile("", "", "prod"));
  EXPECT_EQ(named.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(named.message.find("'prod' in /home/u/.aws/config, /home/u/.aws/credentials"),
            std::string::npos)
      << named.message;
}

TEST(ProfileProvider, AProfileWithoutCredentialsIsNotFound) {
  EXPECT_EQ(ErrorOf(Profile("[default]\nregion = r\n", "")).kind, ErrorKind::kNotFound);
}

TEST(ProfileProvider, AnIncompletePairNamesTheMissingSetting) {
  const Error error = ErrorOf(Profile("", "[default]\naws_secret_access_key = s3cr3t\n"));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(error.message.find("aws_access_key_id"), std::string::npos);
  EXPECT_EQ(error.message.find("s3cr3t"), std::string::npos);
}

TEST(ProfileProvider, KeysOfTheCredentialsFilePrecedeCredentialProcess) {
  const Result<CredentialsPtr> result =
      GetCredentials(Profile("[default]\ncredential_process = x\n",
                             "[default]\naws_access_key_id = ID\naws_secret_access_key = S\n"));
  EXPECT_TRUE(result.ok());
}

TEST(ProfileProvider, KeysOfTheSourceProfileAssumeTheRole) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, kSts));
  const auto result =
      GetCredentials(Role(transport,
                          "[profile r]\nrole_arn = arn:r\nsource_profile = s\nexternal_id = e x\n"
                          "role_session_name = me\nduration_seconds = 900\n"
                          "[profile s]\naws_access_key_id = AKIA\naws_secret_access_key = S\n"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->access_key_id, "ASIA");
  const http::RecordedRequest sent = transport.requests().at(0);
  EXPECT_EQ(sent.request.endpoint.host, "sts.eu-west-1.amazonaws.com");
  EXPECT_EQ(
      sent.body,
      "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Ar&RoleSessionName=me&DurationSeconds=900"
      "&ExternalId=e%20x");
  EXPECT_TRUE(Has(*sent.Header("Authorization"), "Credential=AKIA/"));
  EXPECT_TRUE(Has(*sent.Header("Authorization"), "/eu-west-1/sts/aws4_request"));
}

TEST(ProfileProvider, ARoleMayAssumeAnotherRole) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, kSts));
  transport.Expect(FakeReply::Respond(200, {}, kSts));
  ASSERT_TRUE(GetCredentials(Role(transport,
                                  "[profile r]\nrole_arn = arn:r\nsource_profile = s\n"
                                  "[profile s]\nrole_arn = arn:s\nsource_profile = s\n"
                                  "aws_access_key_id = AKIA\naws_secret_access_key = S\n"))
                  .ok());
  EXPECT_TRUE(Has(transport.requests().at(0).body, "RoleArn=arn%3As"));
  EXPECT_TRUE(Has(transport.requests().at(1).body, "RoleArn=arn%3Ar"));
  EXPECT_TRUE(Has(*transport.requests().at(1).Header("Authorization"), "Credential=ASIA/"));
  EXPECT_EQ(transport.requests().at(1).Header("X-Amz-Security-Token"), "T");
}

TEST(ProfileProvider, ARoleUsesTheEnvironmentOrATokenAsItsSource) {
  FakeTransport transport;
  transport.Expect(FakeReply::Respond(200, {}, kSts));
  ASSERT_TRUE(
      GetCredentials(Role(transport,
                          "[profile r]\nrole_arn = arn:r\ncredential_source = Environment\n",
                          {{"AWS_ACCESS_KEY_ID", "ENV"}, {"AWS_SECRET_ACCESS_KEY", "S"}}))
          .ok());
  EXPECT_TRUE(Has(*transport.requests().at(0).Header("Authorization"), "Credential=ENV/"));
  const Error refused =
      ErrorOf(Role(transport, "[profile r]\nrole_arn = arn:r\nweb_identity_token_file = /token\n"));
  EXPECT_TRUE(Has(transport.requests().at(1).body, "&WebIdentityToken=web.identity"))
      << refused.message;
  EXPECT_FALSE(transport.requests().at(1).Header("Authorization"));
}

TEST(ProfileProvider, ErrorsNameInvalidSettings) {
  const std::string keys = "aws_access_key_id = A\naws_secret_access_key = S\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"role_arn = a\n", "neither of source_profile and credential_source"},
      {"role_arn = a\nsource_profile = r\ncredential_source = Environment\n",
       "both of source_profile"},
      {"role_arn = a\nsource_profile = gone\n", "'gone', which does not exist"},
      {"role_arn = a\nsource_profile = s\n[profile s]\nrole_arn = b\nsource_profile = r\n",
       "refers back"},
      {"role_arn = a\ncredential_source = Elsewhere\n",
       "Environment, Ec2InstanceMetadata or EcsContainer"},
      {"role_arn = a\nsource_profile = r\nduration_seconds = 60\n" + keys,
       "STS allows 900 to 43200"},
      {"role_arn = a\nsource_profile = r\nmfa_serial = m\n" + keys, "mfa_serial"},
      {"web_identity_token_file = /token\n", "no role_arn"},
      {"sso_session = gone\n", "sso_session 'gone', which does not exist"},
      {"sso_start_url = u\nsso_account_id = 1\nsso_role_name = n\n", "does not set sso_region"}};
  for (const auto& [settings, message] : wrong) {
    FakeTransport transport;
    const Error error = ErrorOf(Role(transport, "[profile r]\n" + settings));
    EXPECT_TRUE(Has(error.message, message)) << settings << error.message;
    EXPECT_TRUE(transport.requests().empty()) << settings;
  }
}

TEST(ProfileProvider, ARoleWithoutSourceCredentialsDoesNotFallBack) {
  FakeTransport transport;
  const Error error =
      ErrorOf(Role(transport, "[profile r]\nrole_arn = arn:r\ncredential_source = Environment\n"));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_TRUE(Has(error.message, "AWS_ACCESS_KEY_ID")) << error.message;
}

}  // namespace
}  // namespace penstock::auth
