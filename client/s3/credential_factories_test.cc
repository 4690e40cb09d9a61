// The public providers against local servers, as a program uses them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/http/raw_server_for_test.h"
#include "penstock/credentials.h"

namespace penstock {
namespace {

// Sets variables for one test. All other variables of credentials are unset.
class Variables {
 public:
  explicit Variables(std::initializer_list<std::pair<const char*, std::string>> given) {
    std::map<std::string, std::string> set(given.begin(), given.end());
    for (const char* const name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
          "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS",
          "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
          "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
          "AWS_CONTAINER_AUTHORIZATION_TOKEN", "http_proxy", "all_proxy"}) {
      ::unsetenv(name);
    }
    set.emplace("AWS_CONFIG_FILE", "/nonexistent/config");
    set.emplace("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials");
    set.emplace("AWS_EC2_METADATA_DISABLED", "true");
    for (const auto& [name, value] : set) {
      ::setenv(name.c_str(), value.c_str(), 1);
      names_.push_back(name);
    }
  }
  ~Variables() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::vector<std::string> names_;
};

// Responds to every request with `body`, and keeps the requests.
class Service {
 public:
  explicit Service(std::string body) : body_(std::move(body)) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  int requests() const { return count_; }
  std::string last() const {
    const MutexLock lock(mutex_);
    return last_;
  }

 private:
  void Respond(http::RawConnection& connection) {
    while (auto head = connection.ReadHead()) {
      ++count_;
      const std::size_t at = head->find("Content-Length: ");
      if (at != std::string::npos)
        *head += connection.ReadBody(std::strtoul(head->c_str() + at + 16, nullptr, 10));
      {
        const MutexLock lock(mutex_);
        last_ = *head;
      }
      connection.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body_.size()) +
                      "\r\n\r\n" + body_);
    }
  }

  const std::string body_;
  std::atomic<int> count_ = 0;
  mutable Mutex mutex_;
  std::string last_ PENSTOCK_GUARDED_BY(mutex_);
  http::RawServer server_{[this](http::RawConnection& connection) { Respond(connection); }};
};

std::string StsResponse(const std::string& action) {
  return "<" + action + "Response><" + action +
         "Result><Credentials><AccessKeyId>ROLEKEY</AccessKeyId><SecretAccessKey>s"
         "</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z"
         "</Expiration></Credentials></" +
         action + "Result></" + action + "Response>";
}

// The access key id, or the error.
std::string KeyOf(const CredentialsProviderPtr& provider) {
  const Result<CredentialsPtr> got = FetchCredentials(*provider).Get();
  if (!got.ok()) return "error: " + got.error().message;
  return *got == nullptr ? "anonymous" : (*got)->access_key_id;
}

std::string TestFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name + std::to_string(::getpid());
  std::ofstream(path) << text;
  return path;
}

TEST(CredentialFactoriesTest, StaticAnonymousAndEnvironment) {
  const Variables variables({{"AWS_ACCESS_KEY_ID", "ENVKEY"}, {"AWS_SECRET_ACCESS_KEY", "s"}});
  EXPECT_EQ(KeyOf(MakeStaticCredentials({"KEY", "secret", "", {}})), "KEY");
  EXPECT_EQ(KeyOf(MakeStaticCredentials({})).substr(0, 6), "error:");
  EXPECT_EQ(KeyOf(MakeAnonymousCredentials()), "anonymous");
  EXPECT_EQ(KeyOf(MakeEnvironmentCredentials()), "ENVKEY");
  EXPECT_EQ(KeyOf(MakeDefaultCredentials()), "ENVKEY");
}

TEST(CredentialFactoriesTest, ProfileFile) {
  const std::string path =
      TestFile("credentials", "[work]\naws_access_key_id = WORKKEY\naws_secret_access_key = s\n");
  const Variables variables({{"AWS_SHARED_CREDENTIALS_FILE", path}});
  EXPECT_EQ(KeyOf(MakeProfileCredentials("work")), "WORKKEY");
  EXPECT_EQ(KeyOf(MakeDefaultCredentials("work")), "WORKKEY");
  EXPECT_NE(KeyOf(MakeProfileCredentials("none")).find("none"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(CredentialFactoriesTest, EndpointOfTheOptionsIsUsedForRolesOfProfiles) {
  Service sts(StsResponse("AssumeRole"));
  const std::string path = TestFile("credentials",
                                    "[work]\naws_access_key_id = WORKKEY\naws_secret_access_key = "
                                    "s\n[role]\nrole_arn = arn:aws:iam::123456789012:role/reader\n"
                                    "source_profile = work\nendpoint_url = http://127.0.0.1:1\n");
  const Variables variables({{"AWS_SHARED_CREDENTIALS_FILE", path},
                             {"AWS_ENDPOINT_URL", "http://127.0.0.1:1"},
                             {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}});
  const CredentialsOptions options{.region = "eu-west-1", .endpoint_url = sts.url()};
  EXPECT_EQ(KeyOf(MakeProfileCredentials("role", options)), "ROLEKEY");
  EXPECT_EQ(KeyOf(MakeDefaultCredentials("role", options)), "ROLEKEY");
  EXPECT_EQ(sts.requests(), 2);
  ::setenv("AWS_PROFILE", "role", 1);
  EXPECT_EQ(KeyOf(MakeAssumeRoleCredentials(
                {.role_arn = "arn:aws:iam::123456789012:role/second", .options = options})),
            "ROLEKEY");
  ::unsetenv("AWS_PROFILE");
  EXPECT_EQ(sts.requests(), 4) << "one for the source, one for the role";
  std::filesystem::remove(path);
}

TEST(CredentialFactoriesTest, AssumeRoleIsSignedCachedAndForgotten) {
  const Variables variables({{"AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1"}});
  Service sts(StsResponse("AssumeRole"));
  const auto provider =
      MakeAssumeRoleCredentials({.role_arn = "arn:aws:iam::123456789012:role/reader",
                                 .session_name = "me",
                                 .external_id = "ticket",
                                 .duration = std::chrono::seconds(900),
                                 .source = MakeStaticCredentials({"SOURCE", "secret", "", {}}),
                                 .options = {.region = "eu-west-1", .endpoint_url = sts.url()}});
  EXPECT_EQ(KeyOf(provider), "ROLEKEY");
  EXPECT_EQ(KeyOf(provider), "ROLEKEY");
  EXPECT_EQ(sts.requests(), 1) << "the endpoint of the options is used, and the result is cached";
  for (const char* const part :
       {"Credential=SOURCE/", "/eu-west-1/sts/aws4_request", "RoleSessionName=me",
        "ExternalId=ticket", "DurationSeconds=900"}) {
    EXPECT_NE(sts.last().find(part), std::string::npos) << part;
  }
  const CredentialsPtr first = FetchCredentials(*provider).Get().value();
  provider->Forget(first);
  EXPECT_EQ(KeyOf(provider), "ROLEKEY");
  EXPECT_EQ(sts.requests(), 2);
}

TEST(CredentialFactoriesTest, AssumeRoleNeedsASourceThatSigns) {
  const Variables variables({});
  const auto provider = MakeAssumeRoleCredentials(
      {.role_arn = "arn:aws:iam::123456789012:role/reader", .source = MakeAnonymousCredentials()});
  EXPECT_NE(KeyOf(provider).find("anonymous credentials, which cannot sign"), std::string::npos);
}

TEST(CredentialFactoriesTest, WebIdentity) {
  Service sts(StsResponse("AssumeRoleWithWebIdentity"));
  const std::string token = TestFile("token", "the-token\n");
  const Variables variables({{"AWS_ENDPOINT_URL_STS", sts.url()},
                             {"AWS_WEB_IDENTITY_TOKEN_FILE", token},
                             {"AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/pod"}});
  EXPECT_EQ(KeyOf(MakeWebIdentityCredentials()), "ROLEKEY");
  EXPECT_NE(sts.last().find("role%2Fpod"), std::string::npos);
  EXPECT_NE(sts.last().find("WebIdentityToken=the-token"), std::string::npos);
  EXPECT_EQ(KeyOf(MakeWebIdentityCredentials(
                {.role_arn = "arn:aws:iam::123456789012:role/other", .token_file = token})),
            "ROLEKEY");
  EXPECT_NE(sts.last().find("role%2Fother"), std::string::npos);
  std::filesystem::remove(token);
}

TEST(CredentialFactoriesTest, MissingWebIdentityIsNotConfigured) {
  const Variables variables({});
  const auto provider = MakeWebIdentityCredentials();
  const Result<CredentialsPtr> got = FetchCredentials(*provider).Get();
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().kind, ErrorKind::kNotFound);
}

TEST(CredentialFactoriesTest, Process) {
  const Variables variables({});
  EXPECT_EQ(KeyOf(MakeProcessCredentials(
                R"(echo '{"Version": 1, "AccessKeyId": "PROC", "SecretAccessKey": "s"}')")),
            "PROC");
  EXPECT_EQ(KeyOf(MakeProcessCredentials("false")).substr(0, 6), "error:");
}

TEST(CredentialFactoriesTest, ContainerAndInstance) {
  Service container(R"({"AccessKeyId": "TASK", "SecretAccessKey": "s", "Token": "t",)"
                    R"( "Expiration": "2999-01-01T00:00:00Z"})");
  const Variables variables({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", container.url() + "/get"},
                             {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer x"}});
  EXPECT_EQ(KeyOf(MakeContainerCredentials()), "TASK");
  EXPECT_NE(container.last().find("Authorization: Bearer x"), std::string::npos);
  EXPECT_EQ(FetchCredentials(*MakeInstanceCredentials()).Get().error().kind, ErrorKind::kNotFound)
      << "AWS_EC2_METADATA_DISABLED is true";
}

// Counts the calls of Start, which it completes later.
class SlowProvider final : public CredentialsProvider {
 public:
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    waiting.push_back(std::move(done));
  }
  void Forget(const CredentialsPtr&) override { ++forgotten; }
  void Complete(const std::string& id) {
    for (const auto& done : std::exchange(waiting, {}))
      done(CredentialsPtr(std::make_shared<const Credentials>(Credentials{id, "s", "", {}})));
  }
  std::vector<std::function<void(Result<CredentialsPtr>)>> waiting;
  int forgotten = 0;
};

TEST(CredentialFactoriesTest, CacheSharesOneStart) {
  const auto slow = std::make_shared<SlowProvider>();
  const auto cached = MakeCachedCredentials(slow);
  auto first = FetchCredentials(*cached);
  auto second = FetchCredentials(*cached);
  EXPECT_EQ(slow->waiting.size(), 1u);
  slow->Complete("A");
  const CredentialsPtr credentials = first.Get().value();
  EXPECT_EQ(second.Get().value(), credentials);
  cached->Forget(credentials);
  EXPECT_EQ(slow->forgotten, 1);
  auto third = FetchCredentials(*cached);
  slow->Complete("B");
  EXPECT_EQ(third.Get().value()->access_key_id, "B");
}

TEST(CredentialFactoriesTest, ChainUsesTheFirstConfiguredLinkAndPassesForgetOn) {
  const Variables variables({});
  const auto slow = std::make_shared<SlowProvider>();
  const auto chain = MakeChainCredentials(
      {{"the environment", MakeEnvironmentCredentials()}, {"our vault", slow}});
  auto got = FetchCredentials(*chain);
  slow->Complete("VAULT");
  const CredentialsPtr credentials = got.Get().value();
  EXPECT_EQ(credentials->access_key_id, "VAULT");
  chain->Forget(credentials);
  EXPECT_EQ(slow->forgotten, 1);
  const std::string none =
      KeyOf(MakeChainCredentials({{"the environment", MakeEnvironmentCredentials()}}));
  EXPECT_NE(none.find("no credentials found; tried the environment"), std::string::npos) << none;
}

TEST(CredentialFactoriesTest, ANullProviderIsTheDefaultChain) {
  const Variables variables({{"AWS_ACCESS_KEY_ID", "DEFAULT"}, {"AWS_SECRET_ACCESS_KEY", "s"}});
  EXPECT_EQ(KeyOf(MakeCachedCredentials(nullptr)), "DEFAULT");
  EXPECT_EQ(KeyOf(MakeChainCredentials({{"the default chain", nullptr}})), "DEFAULT");
}

TEST(CredentialFactoriesTest, ForkedChildFetchesItsOwn) {
  const auto slow = std::make_shared<SlowProvider>();
  const auto cached = MakeCachedCredentials(slow);
  auto in_flight = FetchCredentials(*cached);
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    slow->waiting.clear();
    auto own = FetchCredentials(*cached);
    slow->Complete("CHILD");
    const auto got = own.Get();
    ::_exit(got.ok() && (*got)->access_key_id == "CHILD" ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  slow->Complete("PARENT");
  EXPECT_EQ(in_flight.Get().value()->access_key_id, "PARENT");
}

}  // namespace
}  // namespace penstock
