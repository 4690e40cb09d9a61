#include "client/auth/providers/credentials.h"

#include <gtest/gtest.h>

#include "client/auth/providers/provider_for_test.h"

namespace penstock::auth {
namespace {

TEST(StaticProvider, ReturnsTheGivenCredentials) {
  EXPECT_EQ((*GetCredentials(MakeStaticProvider({"ID", "SECRET", "T", {}})))->session_token, "T");
}

TEST(StaticProvider, AMissingKeyIsUnauthenticated) {
  EXPECT_EQ(ErrorOf(MakeStaticProvider({"ID", "", "", {}})).kind, ErrorKind::kUnauthenticated);
}

TEST(AnonymousProvider, ReturnsNull) {
  EXPECT_EQ(*GetCredentials(MakeAnonymousProvider()), nullptr);
}

TEST(EnvironmentProvider, ReadsKeysTokenAndExpiry) {
  const Result<CredentialsPtr> result = GetCredentials(MakeEnvironmentProvider(
      FakeEnvironment({{"AWS_ACCESS_KEY_ID", "ID"},
                       {"AWS_SECRET_ACCESS_KEY", "SECRET"},
                       {"AWS_SESSION_TOKEN", "T"},
                       {"AWS_CREDENTIAL_EXPIRATION", "2013-05-24T01:00:00Z"}})));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->access_key_id, "ID");
  EXPECT_EQ((*result)->secret_access_key, "SECRET");
  EXPECT_EQ((*result)->session_token, "T");
  EXPECT_EQ((*result)->expires_at, WallTime(std::chrono::seconds(1369357200)));
}

TEST(EnvironmentProvider, AcceptsTheOlderNameOfTheToken) {
  const TextMap variables = {{"AWS_ACCESS_KEY_ID", "ID"},
                             {"AWS_SECRET_ACCESS_KEY", "SECRET"},
                             {"AWS_SECURITY_TOKEN", "T"}};
  EXPECT_EQ((*GetCredentials(MakeEnvironmentProvider(FakeEnvironment(variables))))->session_token,
            "T");
}

TEST(EnvironmentProvider, NoKeyIsNotFoundAndOneKeyIsAnErrorWithoutTheSecret) {
  EXPECT_EQ(ErrorOf(MakeEnvironmentProvider(FakeEnvironment({}))).kind, ErrorKind::kNotFound);
  const Error half =
      ErrorOf(MakeEnvironmentProvider(FakeEnvironment({{"AWS_SECRET_ACCESS_KEY", "s3cr3t"}})));
  EXPECT_EQ(half.kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(half.message.find("s3cr3t"), std::string::npos);
  EXPECT_NE(half.message.find("AWS_ACCESS_KEY_ID"), std::string::npos);
}

TEST(EnvironmentProvider, ALineBreakIsAnErrorThatNamesTheVariable) {
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
    TextMap variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "s3cr3t"}};
    variables[name] = "s3cr3t\n";
    EXPECT_EQ(ErrorOf(MakeEnvironmentProvider(FakeEnvironment(variables))).message,
              std::string(name) + " contains a line break; it must be one line");
  }
}

TEST(EnvironmentProvider, AnInvalidExpiryIsAnError) {
  const TextMap variables = {{"AWS_ACCESS_KEY_ID", "ID"},
                             {"AWS_SECRET_ACCESS_KEY", "SECRET"},
                             {"AWS_CREDENTIAL_EXPIRATION", "soon"}};
  EXPECT_EQ(ErrorOf(MakeEnvironmentProvider(FakeEnvironment(variables))).kind,
            ErrorKind::kUnauthenticated);
}

TEST(ChainProvider, ReturnsTheFirstCredentials) {
  const ProviderPtr chain =
      MakeChainProvider({{"nothing", MakeEnvironmentProvider(FakeEnvironment({}))},
                         {"first", MakeStaticProvider({"1", "s", "", {}})},
                         {"second", MakeStaticProvider({"2", "s", "", {}})}});
  EXPECT_EQ((*GetCredentials(chain))->access_key_id, "1");
}

TEST(ChainProvider, AnErrorEndsTheSearch) {
  const ProviderPtr chain = MakeChainProvider(
      {{"half", MakeEnvironmentProvider(FakeEnvironment({{"AWS_ACCESS_KEY_ID", "ID"}}))},
       {"whole", MakeStaticProvider({"1", "s", "", {}})}});
  EXPECT_EQ(ErrorOf(chain).kind, ErrorKind::kUnauthenticated);
}

// Keeps its callback for the test.
class LaterProvider final : public CredentialsProvider {
 public:
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    waiting = std::move(done);
  }
  std::function<void(Result<CredentialsPtr>)> waiting;
};

// Responds with `first`, unless it is null, and then throws.
class ThrowingProvider final : public CredentialsProvider {
 public:
  explicit ThrowingProvider(CredentialsPtr first = nullptr) : first_(std::move(first)) {}
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    if (first_ != nullptr) done(first_);
    throw std::runtime_error("no vault");
  }

 private:
  const CredentialsPtr first_;
};

TEST(ChainProvider, AnExceptionOfALinkIsTheError) {
  const auto later = std::make_shared<LaterProvider>();
  const ProviderPtr chain =
      MakeChainProvider({{"later", later}, {"vault", std::make_shared<ThrowingProvider>()}});
  std::vector<Result<CredentialsPtr>> results;
  chain->Start([&](Result<CredentialsPtr> result) { results.push_back(std::move(result)); });
  // Symptom: the exception left through this callback. On an I/O thread the call never ended.
  const auto waiting = std::exchange(later->waiting, nullptr);
  EXPECT_NO_THROW(waiting(Error::Make(ErrorKind::kNotFound, "none")));
  ASSERT_EQ(results.size(), 1u);
  ASSERT_FALSE(results[0].ok());
  EXPECT_NE(results[0].error().message.find("no vault"), std::string::npos)
      << results[0].error().message;
}

TEST(ChainProvider, AnExceptionAfterTheResultHasNoEffect) {
  const auto found = std::make_shared<const Credentials>(Credentials{"1", "s", "", {}});
  const ProviderPtr chain =
      MakeChainProvider({{"vault", std::make_shared<ThrowingProvider>(found)}});
  std::vector<Result<CredentialsPtr>> results;
  EXPECT_NO_THROW(
      chain->Start([&](Result<CredentialsPtr> result) { results.push_back(std::move(result)); }));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].value(), found);
}

TEST(DefaultProvider, ListsThePlacesTried) {
  http::FakeTransport transport;
  transport.Expect(http::FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "no route")));
  const Error error = ErrorOf(MakeDefaultProvider(FakeContext(transport, {}), ""));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  for (const char* place : {"AWS_ACCESS_KEY_ID", "/home/u/.aws/credentials (no such file)",
                            "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                            "http://169.254.169.254"}) {
    EXPECT_NE(error.message.find(place), std::string::npos) << error.message;
  }
}

TEST(DefaultProvider, AConfiguredPlaceThatFailsEndsTheSearch) {
  http::FakeTransport transport;
  transport.Expect(http::FakeReply::Respond(403, {}, "no"));
  const Error error = ErrorOf(MakeDefaultProvider(
      FakeContext(transport, {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x"}}), ""));
  EXPECT_EQ(error.kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(transport.requests().size(), 1u);
}

TEST(DefaultProvider, AnExplicitProfileExcludesTheEnvironment) {
  http::FakeTransport transport;
  const RemoteContext context = FakeContext(
      transport, {{"AWS_ACCESS_KEY_ID", "ENV"}, {"AWS_SECRET_ACCESS_KEY", "S"}},
      {{"/home/u/.aws/credentials", "[p]\naws_access_key_id = FILE\naws_secret_access_key = S\n"}});
  EXPECT_EQ((*GetCredentials(MakeDefaultProvider(context, "p")))->access_key_id, "FILE");
  EXPECT_EQ((*GetCredentials(MakeDefaultProvider(context, "")))->access_key_id, "ENV");
}

}  // namespace
}  // namespace penstock::auth
