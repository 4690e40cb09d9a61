// The retry mode and number of attempts of a client (config.h), by the place where they are set.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "client/s3/config/config.h"

namespace penstock::s3 {
namespace {

using Variables = std::map<std::string, std::string>;

Result<ResolvedConfig> Resolve(ClientConfig config, Variables variables = {},
                               const std::string& profile = "") {
  config.region = "r";
  variables.emplace("AWS_CONFIG_FILE", "config");
  variables.emplace("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const auth::Environment outside{
      [variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      },
      [profile](const std::string& path) -> Result<std::string> {
        if (path == "config" && !profile.empty()) return "[default]\n" + profile;
        return Error::Make(ErrorKind::kNotFound, path);
      }};
  return ResolveConfig(std::move(config), outside);
}

ClientConfig Mode(RetryMode mode, std::optional<int> max_attempts = {}) {
  ClientConfig config;
  config.retry_mode = mode;
  config.max_attempts = max_attempts;
  return config;
}

TEST(RetryModeTest, TunedIsTheDefault) {
  EXPECT_EQ(Resolve({})->client.retry_mode, RetryMode::kTuned);
  EXPECT_EQ(Resolve({})->client.max_attempts, 10);
}

TEST(RetryModeTest, PrecedenceIsCodeEnvironmentProfile) {
  const std::string profile = "retry_mode = legacy\n";
  EXPECT_EQ(Resolve(Mode(RetryMode::kAdaptive), {{"AWS_RETRY_MODE", "standard"}}, profile)
                ->client.retry_mode,
            RetryMode::kAdaptive);
  EXPECT_EQ(Resolve({}, {{"AWS_RETRY_MODE", "Standard"}}, profile)->client.retry_mode,
            RetryMode::kStandard);
  EXPECT_EQ(Resolve({}, {}, profile)->client.retry_mode, RetryMode::kLegacy);
  EXPECT_EQ(Resolve({}, {{"AWS_RETRY_MODE", "tuned"}}, profile)->client.retry_mode,
            RetryMode::kTuned);
}

TEST(RetryModeTest, TheRulesOf2026MakeStandardTheDefault) {
  const auto resolved = Resolve({}, {{"AWS_NEW_RETRIES_2026", "true"}});
  EXPECT_EQ(resolved->client.retry_mode, RetryMode::kStandard);
  EXPECT_TRUE(resolved->retry_rules->has_2026_rules);
  EXPECT_TRUE(Resolve({}, {{"AWS_NEW_RETRIES_2026", "true"}, {"AWS_RETRY_MODE", "adaptive"}})
                  ->retry_rules->has_2026_rules);
  EXPECT_FALSE(Resolve({}, {{"AWS_NEW_RETRIES_2026", "false"}, {"AWS_RETRY_MODE", "adaptive"}})
                   ->retry_rules->has_2026_rules);
  EXPECT_EQ(Resolve({}, {{"AWS_NEW_RETRIES_2026", "true"}, {"AWS_RETRY_MODE", "legacy"}})
                ->client.retry_mode,
            RetryMode::kLegacy);
}

TEST(RetryModeTest, AttemptsDefaultToTheModesNumber) {
  EXPECT_EQ(Resolve(Mode(RetryMode::kLegacy))->client.max_attempts, 5);
  EXPECT_EQ(Resolve(Mode(RetryMode::kStandard))->client.max_attempts, 3);
  EXPECT_EQ(Resolve(Mode(RetryMode::kAdaptive))->client.max_attempts, 3);
  EXPECT_EQ(Resolve(Mode(RetryMode::kStandard, 7))->client.max_attempts, 7);
  EXPECT_EQ(Resolve(Mode(RetryMode::kStandard, 10))->client.max_attempts, 10);
  EXPECT_EQ(Resolve(Mode(RetryMode::kStandard), {{"AWS_MAX_ATTEMPTS", "2"}})->client.max_attempts,
            2);
  EXPECT_EQ(Resolve(Mode(RetryMode::kStandard), {}, "max_attempts = 4\n")->client.max_attempts, 4);
}

TEST(RetryModeTest, RejectsOtherNames) {
  const auto refused = Resolve({}, {{"AWS_RETRY_MODE", "fast"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "AWS_RETRY_MODE must be tuned, legacy, standard or adaptive, not `fast`");
  EXPECT_FALSE(Resolve({}, {{"AWS_NEW_RETRIES_2026", "1"}}).ok());
}

TEST(RetryModeTest, ReadsAreHedgedByDefault) {
  EXPECT_TRUE(Resolve({})->hedge_reads);
  EXPECT_FALSE(Resolve({}, {{"PENSTOCK_HEDGE_READS", "false"}})->hedge_reads);
  ClientConfig config;
  config.hedge_reads = true;
  EXPECT_TRUE(Resolve(config, {{"PENSTOCK_HEDGE_READS", "false"}})->hedge_reads);
  EXPECT_EQ(Resolve({}, {{"PENSTOCK_HEDGE_READS", "off"}}).error().message,
            "PENSTOCK_HEDGE_READS must be true or false, not `off`");
}

TEST(RetryModeTest, LimitsAreNotNegative) {
  ClientConfig config;
  config.attempt_timeout = std::chrono::milliseconds(-1);
  const auto refused = Resolve(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "attempt_timeout must be 0 (no limit) to 1000000000000 ms (31 years), not -1 ms");
}

}  // namespace
}  // namespace penstock::s3
