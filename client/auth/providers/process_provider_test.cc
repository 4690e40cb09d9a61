#include "client/auth/providers/process_provider.h"

#include <gtest/gtest.h>

#include <future>

namespace penstock::auth {
namespace {

using Words = std::vector<std::string>;

Result<CredentialsPtr> RunAndWait(const std::string& command,
                                  std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  std::promise<Result<CredentialsPtr>> promise;
  MakeProcessProvider(command, timeout)->Start([&](Result<CredentialsPtr> result) {
    promise.set_value(std::move(result));
  });
  return promise.get_future().get();
}

std::string MessageOf(const std::string& command,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
  const auto result = RunAndWait(command, timeout);
  EXPECT_FALSE(result.ok()) << command;
  if (result.ok()) return {};
  EXPECT_EQ(result.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(result.error().message.find("s3cr3t"), std::string::npos);
  return result.error().message;
}

bool Has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

TEST(ProcessProviderTest, SplitsWordsLikeAShell) {
  EXPECT_EQ(SplitCommand("  a  b\tc "), (Words{"a", "b", "c"}));
  EXPECT_EQ(SplitCommand("a 'b  c' \"d \\\" e\" f\\ g '' x'y'z"),
            (Words{"a", "b  c", "d \" e", "f g", "", "xyz"}));
  EXPECT_EQ(SplitCommand("'a\\b' \"c\\d\""), (Words{"a\\b", "c\\d"}));
  EXPECT_EQ(SplitCommand("a 'b"), std::nullopt);
  EXPECT_EQ(SplitCommand(""), Words{});
}

TEST(ProcessProviderTest, ReadsTheOutputOfTheProgram) {
  const auto response = RunAndWait(
      R"(sh -c 'echo "{\"Version\": 1, \"AccessKeyId\": \"A\", \"SecretAccessKey\": \"S\", )"
      R"(\"SessionToken\": \"T\", \"Expiration\": \"2099-01-01T00:00:00Z\"}"')");
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ((*response)->access_key_id, "A");
  EXPECT_EQ((*response)->session_token, "T");
  EXPECT_TRUE((*response)->expires_at);
}

TEST(ProcessProviderTest, ErrorsNameTheProgramButNotItsArguments) {
  EXPECT_TRUE(Has(MessageOf("/no/such/program s3cr3t"), "'/no/such/program' cannot be started"));
  EXPECT_TRUE(Has(MessageOf("sh -c 'exit 7' s3cr3t"), "'sh' ended with status 7"));
  EXPECT_TRUE(Has(MessageOf("sh -c 'kill -9 $$' s3cr3t"), "ended by signal 9"));
  EXPECT_TRUE(Has(MessageOf("echo s3cr3t"), "not a JSON object"));
  EXPECT_TRUE(
      Has(MessageOf(R"(echo '{"Version": 2, "SecretAccessKey": "s3cr3t"}')"), "\"Version\": 1"));
  EXPECT_TRUE(Has(MessageOf("head -c 70000 /dev/zero"), "more than 64 KiB"));
  EXPECT_TRUE(Has(MessageOf("echo 's3cr3t"), "an unclosed quote"));
}

TEST(ProcessProviderTest, KillsAProgramThatDoesNotExit) {
  EXPECT_TRUE(Has(MessageOf("sleep 600", std::chrono::milliseconds(50)), "did not exit in time"));
  EXPECT_TRUE(Has(MessageOf("sh -c 'exec >&-; exec sleep 600'", std::chrono::milliseconds(50)),
                  "ended by signal 9"));
}

}  // namespace
}  // namespace penstock::auth
