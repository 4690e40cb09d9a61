#include "emulator/server/command_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::emulator::server {
namespace {

Result<CommandLine> Parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "penstock-emulator");
  return ParseCommandLine(static_cast<int>(flags.size()), flags.data());
}

TEST(CommandLineTest, DefaultsToMemoryAndAnyPort) {
  const auto command = Parse({});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->options.port, 0);
  EXPECT_EQ(command->options.data_directory, "");
  EXPECT_EQ(command->options.access_keys.at(0).secret, "penstock-secret");
  EXPECT_FALSE(command->text.has_value());
}

TEST(CommandLineTest, TakesEveryFlag) {
  const auto command = Parse({"--host", "0.0.0.0", "--port", "9000", "--admin-port", "-1", "--data", "d", "--durability",
                              "strict", "--access-key", "a", "--secret-key", "1", "--access-key", "b", "--secret-key", "2",
                              "--region", "eu-west-1", "--fail-rate", "0.05", "--fail-seed", "9", "--first-byte-delay-ms", "25", "--tls-cert", "c",
                              "--tls-key", "k", "--log", "-"});
  ASSERT_TRUE(command.ok()) << command.error().message;
  const EmulatorOptions& options = command->options;
  EXPECT_EQ(options.host, "0.0.0.0");
  EXPECT_EQ(options.port, 9000);
  EXPECT_EQ(options.admin_port, -1);
  EXPECT_EQ(options.data_directory, "d");
  EXPECT_EQ(options.durability, DurabilityMode::kStrict);
  ASSERT_EQ(options.access_keys.size(), 2u);
  EXPECT_EQ(options.access_keys[1].id, "b");
  EXPECT_EQ(options.access_keys[1].secret, "2");
  EXPECT_EQ(options.region, "eu-west-1");
  EXPECT_EQ(options.fail_rate, 0.05);
  EXPECT_EQ(options.fail_seed, 9u);
  EXPECT_EQ(options.first_byte_delay_ms, 25);
  EXPECT_EQ(options.tls_certificate_path, "c");
  EXPECT_EQ(options.tls_key_path, "k");
  EXPECT_EQ(options.log_path, "-");
}

TEST(CommandLineTest, RefusesWrongUsage) {
  for (const std::vector<const char*>& flags : std::vector<std::vector<const char*>>{
           {"--port", "many"}, {"--port", "70000"}, {"--data", "d", "--memory"}, {"--durability", "some"},
           {"--access-key", "a"}, {"--fail-rate", "2"}, {"--first-byte-delay-ms", "-1"}, {"--journal-bytes", "1000"}, {"--tls-cert", "c"}, {"serve"}, {"--unknown"}}) {
    EXPECT_FALSE(Parse(flags).ok()) << flags[0];
  }
}

TEST(CommandLineTest, AMemoryLimitTakesUnits) {
  EXPECT_EQ(Parse({"--memory-limit", "512MiB"})->options.memory_limit_bytes, std::uint64_t{512} << 20);
  EXPECT_EQ(Parse({"--memory-limit", "2097152"})->options.memory_limit_bytes, std::uint64_t{2} << 20);
  EXPECT_EQ(Parse({})->options.memory_limit_bytes, 0u);
  EXPECT_EQ(Parse({"--memory-limit", "-1"}).error().message, "--memory-limit: -1 is negative; give 0 or more");
  EXPECT_FALSE(Parse({"--memory-limit", "much"}).ok());
}

TEST(CommandLineTest, ANegativeNumberIsNotTakenForAGreatOne) {
  EXPECT_EQ(Parse({"--journal-bytes", "-1"}).error().message, "--journal-bytes: -1 is negative; give 0 or more");
  EXPECT_EQ(Parse({"--fail-seed=-9"}).error().message, "--fail-seed: -9 is negative; give 0 or more");
  EXPECT_NE(Parse({"--help"})->text->find("131072"), std::string::npos) << "the least";
}

TEST(CommandLineTest, ALimitsFileThatIsNoneIsNamed) {
  EXPECT_NE(Parse({"--limits", "/nowhere/limits.json"}).error().message.find("limits file '/nowhere/limits.json' cannot be opened"), std::string::npos);
}

TEST(CommandLineTest, AMistypedFlagDoesNotShowItsValue) {
  const auto command = Parse({"--access-key", "a", "--secret-ky", "hush"});
  ASSERT_FALSE(command.ok());
  EXPECT_EQ(command.error().message, "unknown flag: --secret-ky; see --help");
  EXPECT_EQ(Parse({"--secret-ky=hush"}).error().message, "unknown flag: --secret-ky; see --help");
}

TEST(CommandLineTest, OffersHelpAndVersion) {
  EXPECT_NE(Parse({"--help"})->text->find("--fail-rate"), std::string::npos);
  EXPECT_NE(Parse({"--help"})->text->find("clock skew"), std::string::npos) << "what --auth parse checks";
  EXPECT_TRUE(Parse({"--version"})->text->starts_with("penstock-emulator "));
}

}  // namespace
}  // namespace penstock::emulator::server
