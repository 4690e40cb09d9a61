#include "client/auth/credentials.h"

#include <gtest/gtest.h>

#include "base/fake_clock.h"
#include "client/auth/environment_for_test.h"

namespace penstock::auth {
namespace {

Result<CredentialsPtr> Ask(const ProviderPtr& provider) {
  std::optional<Result<CredentialsPtr>> answer;
  provider->Start([&](Result<CredentialsPtr> result) { answer.emplace(std::move(result)); });
  return *answer;
}

Error ErrorOf(const ProviderPtr& provider) {
  const Result<CredentialsPtr> answer = Ask(provider);
  EXPECT_FALSE(answer.ok());
  return answer.ok() ? Error() : answer.error();
}

ProviderPtr Profile(const std::string& config, const std::string& credentials, const std::string& name = {},
                    TextMap variables = {}) {
  return MakeProfileProvider(FakeEnvironment(std::move(variables), {{"/home/u/.aws/config", config},
                                                                    {"/home/u/.aws/credentials", credentials}}),
                             name);
}

TEST(StaticProvider, GivesWhatItWasGiven) {
  EXPECT_EQ((*Ask(MakeStaticProvider({"ID", "SECRET", "T", {}})))->session_token, "T");
}

TEST(StaticProvider, HalfAPairIsUnauthenticated) {
  EXPECT_EQ(ErrorOf(MakeStaticProvider({"ID", "", "", {}})).kind, ErrorKind::kUnauthenticated);
}

TEST(AnonymousProvider, GivesNull) { EXPECT_EQ(*Ask(MakeAnonymousProvider()), nullptr); }

TEST(EnvironmentProvider, ReadsKeysTokenAndExpiry) {
  const Result<CredentialsPtr> answer =
      Ask(MakeEnvironmentProvider(FakeEnvironment({{"AWS_ACCESS_KEY_ID", "ID"},
                                                   {"AWS_SECRET_ACCESS_KEY", "SECRET"},
                                                   {"AWS_SESSION_TOKEN", "T"},
                                                   {"AWS_CREDENTIAL_EXPIRATION", "2013-05-24T01:00:00Z"}})));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->access_key_id, "ID");
  EXPECT_EQ((*answer)->secret_access_key, "SECRET");
  EXPECT_EQ((*answer)->session_token, "T");
  EXPECT_EQ((*answer)->expires_at, WallTime(std::chrono::seconds(1369357200)));
}

TEST(EnvironmentProvider, KnowsTheOldNameOfTheToken) {
  const TextMap variables = {
      {"AWS_ACCESS_KEY_ID", "ID"}, {"AWS_SECRET_ACCESS_KEY", "SECRET"}, {"AWS_SECURITY_TOKEN", "T"}};
  EXPECT_EQ((*Ask(MakeEnvironmentProvider(FakeEnvironment(variables))))->session_token, "T");
}

TEST(EnvironmentProvider, NothingSetIsNotFoundHalfIsAnErrorWithoutTheSecret) {
  EXPECT_EQ(ErrorOf(MakeEnvironmentProvider(FakeEnvironment({}))).kind, ErrorKind::kNotFound);
  const Error half = ErrorOf(MakeEnvironmentProvider(FakeEnvironment({{"AWS_SECRET_ACCESS_KEY", "s3cr3t"}})));
  EXPECT_EQ(half.kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(half.message.find("s3cr3t"), std::string::npos);
  EXPECT_NE(half.message.find("AWS_ACCESS_KEY_ID"), std::string::npos);
}

TEST(EnvironmentProvider, UnreadableExpiryIsAnError) {
  const TextMap variables = {
      {"AWS_ACCESS_KEY_ID", "ID"}, {"AWS_SECRET_ACCESS_KEY", "SECRET"}, {"AWS_CREDENTIAL_EXPIRATION", "soon"}};
  EXPECT_EQ(ErrorOf(MakeEnvironmentProvider(FakeEnvironment(variables))).kind, ErrorKind::kUnauthenticated);
}

TEST(ProfileProvider, ReadsKeysOfTheDefaultProfile) {
  const Result<CredentialsPtr> answer =
      Ask(Profile("", "[default]\naws_access_key_id = ID\naws_secret_access_key = S\naws_session_token = T\n"));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->secret_access_key, "S");
  EXPECT_EQ((*answer)->session_token, "T");
}

TEST(ProfileProvider, FollowsTheSelectedProfile) {
  const std::string two = "[a]\naws_access_key_id = A\naws_secret_access_key = S\n"
                          "[b]\naws_access_key_id = B\naws_secret_access_key = S\n";
  EXPECT_EQ((*Ask(Profile("", two, "b")))->access_key_id, "B");
  EXPECT_EQ((*Ask(Profile("", two, "", {{"AWS_PROFILE", "a"}})))->access_key_id, "A");
}

TEST(ProfileProvider, MissingDefaultIsNotFoundMissingNamedIsAnError) {
  EXPECT_EQ(ErrorOf(Profile("", "")).kind, ErrorKind::kNotFound);
  const Error named = ErrorOf(Profile("", "", "prod"));
  EXPECT_EQ(named.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(named.message.find("'prod' in /home/u/.aws/config, /home/u/.aws/credentials"), std::string::npos)
      << named.message;
}

TEST(ProfileProvider, ProfileWithoutCredentialsIsNotFound) {
  EXPECT_EQ(ErrorOf(Profile("[default]\nregion = r\n", "")).kind, ErrorKind::kNotFound);
}

TEST(ProfileProvider, HalfAPairNamesTheMissingSetting) {
  const Error error = ErrorOf(Profile("", "[default]\naws_secret_access_key = s3cr3t\n"));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(error.message.find("aws_access_key_id"), std::string::npos);
  EXPECT_EQ(error.message.find("s3cr3t"), std::string::npos);
}

TEST(ProfileProvider, UnsupportedMethodsAreNamedNotPassedOver) {
  for (const std::string setting :
       {"role_arn", "sso_session", "sso_start_url", "credential_process", "web_identity_token_file"}) {
    const Error error = ErrorOf(
        Profile("[default]\n" + setting + " = x\naws_access_key_id = ID\naws_secret_access_key = S\n", ""));
    EXPECT_EQ(error.kind, ErrorKind::kUnsupported) << setting;
    EXPECT_NE(error.message.find(setting), std::string::npos) << error.message;
  }
}

TEST(ProfileProvider, KeysOfTheCredentialsFileBeatCredentialProcess) {
  const Result<CredentialsPtr> answer = Ask(Profile("[default]\ncredential_process = x\n",
                                                    "[default]\naws_access_key_id = ID\naws_secret_access_key = S\n"));
  EXPECT_TRUE(answer.ok());
}

TEST(ChainProvider, FirstThatHasCredentialsWins) {
  const ProviderPtr chain = MakeChainProvider({{"nothing", MakeEnvironmentProvider(FakeEnvironment({}))},
                                               {"first", MakeStaticProvider({"1", "s", "", {}})},
                                               {"second", MakeStaticProvider({"2", "s", "", {}})}});
  EXPECT_EQ((*Ask(chain))->access_key_id, "1");
}

TEST(ChainProvider, ProviderThatFailsEndsTheSearch) {
  const ProviderPtr chain =
      MakeChainProvider({{"half", MakeEnvironmentProvider(FakeEnvironment({{"AWS_ACCESS_KEY_ID", "ID"}}))},
                         {"whole", MakeStaticProvider({"1", "s", "", {}})}});
  EXPECT_EQ(ErrorOf(chain).kind, ErrorKind::kUnauthenticated);
}

TEST(DefaultProvider, ListsThePlacesItLookedAt) {
  const FakeClock clock;
  const Error error = ErrorOf(MakeDefaultProvider(FakeEnvironment({}), "", clock));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_NE(error.message.find("AWS_ACCESS_KEY_ID"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("/home/u/.aws/credentials (no such file)"), std::string::npos) << error.message;
}

TEST(DefaultProvider, ExplicitProfileShutsOutTheEnvironment) {
  const FakeClock clock;
  const Environment environment =
      FakeEnvironment({{"AWS_ACCESS_KEY_ID", "ENV"}, {"AWS_SECRET_ACCESS_KEY", "S"}},
                      {{"/home/u/.aws/credentials", "[p]\naws_access_key_id = FILE\naws_secret_access_key = S\n"}});
  EXPECT_EQ((*Ask(MakeDefaultProvider(environment, "p", clock)))->access_key_id, "FILE");
  EXPECT_EQ((*Ask(MakeDefaultProvider(environment, "", clock)))->access_key_id, "ENV");
}

}  // namespace
}  // namespace penstock::auth
