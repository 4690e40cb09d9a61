// Credentials providers: the one that --source names signs a request.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "command_line.h"

namespace {

// A provider of the program itself. Start must not block; a Client caches the result.
class FixedProvider final : public penstock::CredentialsProvider {
 public:
  void Start(std::function<void(penstock::Result<penstock::CredentialsPtr>)> done) override {
    const char* const key = std::getenv("EXAMPLE_KEY");
    const char* const secret = std::getenv("EXAMPLE_SECRET");
    if (key == nullptr || secret == nullptr)
      return done(penstock::Error::Make(penstock::ErrorKind::kNotFound,
                                        "EXAMPLE_KEY and EXAMPLE_SECRET are not set"));
    done(std::make_shared<const penstock::Credentials>(
        penstock::Credentials{key, secret, "", std::nullopt}));
  }
};

// Empty if the variable is not set; empty keys are kUnauthenticated.
std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

penstock::CredentialsProviderPtr ProviderOf(const std::string& source,
                                            const examples::CommandLine& line) {
  if (source == "default") return penstock::MakeDefaultCredentials();
  if (source == "environment") return penstock::MakeEnvironmentCredentials();
  if (source == "static")
    return penstock::MakeStaticCredentials({Variable("EXAMPLE_KEY"), Variable("EXAMPLE_SECRET")});
  // One cache that several clients may share, around a provider of the program.
  if (source == "cached") return penstock::MakeCachedCredentials(std::make_shared<FixedProvider>());
  if (source == "web-identity") return penstock::MakeWebIdentityCredentials();
  if (source == "container") return penstock::MakeContainerCredentials();
  if (source == "instance") return penstock::MakeInstanceCredentials();
  if (source == "profile") return penstock::MakeProfileCredentials(line.Required("profile"));
  if (source == "process") return penstock::MakeProcessCredentials(line.Required("command"));
  if (source == "role")
    return penstock::MakeAssumeRoleCredentials({.role_arn = line.Required("role")});
  if (source == "chain") {
    return penstock::MakeChainCredentials(
        {{"the example's variables", std::make_shared<FixedProvider>()},
         {"the default chain", penstock::MakeDefaultCredentials()}});
  }
  line.Fail("unknown source '" + source + "'");
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv,
      "credentials --source "
      "default|environment|static|cached|profile|process|role|web-identity|container|instance|"
      "chain "
      "[--profile NAME] [--command COMMAND] [--role ARN] [--endpoint URL] [--region NAME]",
      {"source", "profile", "command", "role"});
  penstock::ClientConfig config;
  config.endpoint_url = line.Option("endpoint");
  config.region = line.Option("region");
  config.credentials = ProviderOf(line.Required("source"), line);
  const auto credentials = penstock::FetchCredentials(*config.credentials).Get();
  if (!credentials.ok()) examples::Die(credentials.error().ToString());
  std::printf("signs as %s\n", (*credentials)->access_key_id.c_str());

  const auto client = penstock::Client::Create(std::move(config));
  if (!client.ok()) examples::Die(client.error().ToString());
  const auto buckets = (*client)->ListBuckets();
  if (!buckets.ok()) examples::Die(buckets.error().ToString());
  for (const auto& bucket : buckets->buckets) std::printf("%s\n", bucket.name.value.c_str());
}
