#include "emulator/server/process/command_line.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <vector>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

using Variables = std::map<std::string, std::string>;

Result<CommandLine> Parse(std::vector<const char*> flags, const Variables& variables = {}) {
  flags.insert(flags.begin(), "penstock-emulator");
  return ParseCommandLine(
      static_cast<int>(flags.size()), flags.data(), [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      });
}

TEST(CommandLineTest, DefaultsToMemoryAndPort9000) {
  const auto command = Parse({});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->options.port, 9000);
  EXPECT_EQ(command->options.data_directory, "");
  EXPECT_EQ(command->options.access_keys.at(0).secret, "penstock-secret");
  EXPECT_FALSE(command->text.has_value());
}

TEST(CommandLineTest, AcceptsEveryFlag) {
  const auto command = Parse({"--host",
                              "0.0.0.0",
                              "--port",
                              "9000",
                              "--admin-port",
                              "-1",
                              "--data",
                              "d",
                              "--durability",
                              "strict",
                              "--access-key",
                              "a",
                              "--secret-key",
                              "1",
                              "--access-key",
                              "b",
                              "--secret-key",
                              "2",
                              "--region",
                              "eu-west-1",
                              "--fail-rate",
                              "0.05",
                              "--fail-seed",
                              "9",
                              "--first-byte-delay",
                              "25ms",
                              "--tls-cert",
                              "c",
                              "--tls-key",
                              "k",
                              "--log",
                              "-"});
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
  for (const std::vector<const char*>& flags :
       std::vector<std::vector<const char*>>{{"--port", "many"},
                                             {"--port", "70000"},
                                             {"--data", "d", "--memory"},
                                             {"--durability", "some"},
                                             {"--access-key", "a"},
                                             {"--fail-rate", "2"},
                                             {"--first-byte-delay", "61s"},
                                             {"--journal-size", "1000"},
                                             {"--tls-cert", "c"},
                                             {"serve"},
                                             {"--unknown"}}) {
    EXPECT_FALSE(Parse(flags).ok()) << flags[0];
  }
}

TEST(CommandLineTest, MemoryLimitAcceptsUnits) {
  EXPECT_EQ(Parse({"--memory-limit", "512MiB"})->options.memory_limit_bytes,
            std::uint64_t{512} << 20);
  EXPECT_EQ(Parse({"--memory-limit", "2097152"})->options.memory_limit_bytes,
            std::uint64_t{2} << 20);
  EXPECT_EQ(Parse({})->options.memory_limit_bytes, 0u);
  EXPECT_FALSE(Parse({"--memory-limit", "much"}).ok());
}

TEST(CommandLineTest, SizesHaveBinaryAndDecimalUnits) {
  const auto bytes = [](const char* text) {
    return Parse({"--memory-limit", text})->options.memory_limit_bytes;
  };
  EXPECT_EQ(bytes("2 gb"), 2'000'000'000u);
  EXPECT_EQ(bytes("2GiB"), std::uint64_t{2} << 30);
  EXPECT_EQ(bytes("3145728B"), 3145728u);
  EXPECT_EQ(bytes("9223372036854775807"), std::uint64_t{INT64_MAX});
  EXPECT_EQ(bytes("1.5GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(bytes("0"), 0u);
  for (const char* bad : {"9223372036854775808", "16777216TiB", "1.5.5GiB", "GiB", "1X", "1MiBs",
                          "64m", "0x10", "1e9", "+1", "-1"}) {
    EXPECT_EQ(Parse({"--memory-limit", bad}).error().message,
              "--memory-limit: '" + std::string(bad) +
                  "' is not 0, or 1048576 (1MiB) to 9223372036854775807 bytes "
                  "with or without a unit (KiB, MiB, GiB, TiB, kB, MB, GB, TB), for example 64MiB");
  }
}

TEST(CommandLineTest, DurationsHaveAUnit) {
  EXPECT_EQ(Parse({"--first-byte-delay", "2 s"})->options.first_byte_delay_ms, 2000);
  EXPECT_EQ(Parse({"--first-byte-delay", "1.5s"})->options.first_byte_delay_ms, 1500);
  EXPECT_EQ(Parse({"--first-byte-delay", "0"})->options.first_byte_delay_ms, 0);
  for (const char* bad : {"25", "1,5s", "1h", "ms"}) {
    EXPECT_EQ(
        Parse({"--first-byte-delay", bad}).error().message,
        "--first-byte-delay: '" + std::string(bad) + "' is not 0, or 1ms to 60s, for example 25ms");
  }
}

TEST(CommandLineTest, ErrorsOfNumbersHaveTheValueAndTheFix) {
  const auto message = [](const char* flag, const char* value) {
    const auto command = Parse({flag, value});
    return command.ok() ? std::string("taken") : command.error().message;
  };
  EXPECT_EQ(message("--port", "9000x"), "--port: '9000x' is not a number; give 0 to 65535");
  EXPECT_EQ(message("--port", "99999999999"),
            "--port: '99999999999' is too large; give 0 to 65535");
  EXPECT_EQ(message("--admin-port", "none"),
            "--admin-port: 'none' is not a number; give -1 to 65535");
  EXPECT_EQ(message("--fail-rate", "0,5"),
            "--fail-rate: '0,5' is not a number; give 0 to 1, for example 0.05");
  EXPECT_EQ(message("--fail-seed", "99999999999999999999"),
            "--fail-seed: '99999999999999999999' is too large; give a whole number up to "
            "18446744073709551615");
}

TEST(CommandLineTest, RefusesNegativeNumbers) {
  EXPECT_EQ(Parse({"--fail-seed=-9"}).error().message,
            "--fail-seed: -9 is negative; give 0 or more");
  EXPECT_NE(Parse({"--help"})->text->find("128KiB"), std::string::npos) << "the minimum";
}

TEST(CommandLineTest, NamesAnInvalidLimitsFile) {
  EXPECT_NE(Parse({"--limits", "/nowhere/limits.json"})
                .error()
                .message.find("limits file '/nowhere/limits.json' cannot be opened"),
            std::string::npos);
}

TEST(CommandLineTest, UnknownFlagErrorHidesItsValue) {
  const auto command = Parse({"--access-key", "a", "--secret-ky", "hush"});
  ASSERT_FALSE(command.ok());
  EXPECT_EQ(command.error().message, "unknown flag: --secret-ky; see --help");
  EXPECT_EQ(Parse({"--secret-ky=hush"}).error().message, "unknown flag: --secret-ky; see --help");
}

std::string Written(const TemporaryFolder& folder, const std::string& name,
                    const std::string& text) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(CommandLineTest, ReadsSecretsFromFiles) {
  const TemporaryFolder folder;
  const std::string first = Written(folder, "first", "one\n");
  const std::string second = Written(folder, "second", "two words\r\n");
  const std::string token = Written(folder, "token", "letmein");
  const auto command =
      Parse({"--access-key", "a", "--secret-key-file", first.c_str(), "--access-key", "b",
             "--secret-key-file", second.c_str(), "--admin-token-file", token.c_str()});
  ASSERT_TRUE(command.ok()) << command.error().message;
  EXPECT_EQ(command->options.access_keys[0].secret, "one");
  EXPECT_EQ(command->options.access_keys[1].secret, "two words");
  EXPECT_EQ(command->options.admin_token, "letmein");
}

TEST(CommandLineTest, ReadsSecretsFromTheEnvironment) {
  const Variables variables{{"PENSTOCK_EMULATOR_SECRET_KEY", "one"},
                            {"PENSTOCK_EMULATOR_ADMIN_TOKEN", "letmein"}};
  const auto command = Parse({"--access-key", "a"}, variables);
  ASSERT_TRUE(command.ok()) << command.error().message;
  EXPECT_EQ(command->options.access_keys.at(0).secret, "one");
  EXPECT_EQ(command->options.admin_token, "letmein");
  const auto by_flags =
      Parse({"--access-key", "a", "--secret-key", "flag", "--admin-token", "shown"}, variables);
  EXPECT_EQ(by_flags->options.access_keys.at(0).secret, "flag");
  EXPECT_EQ(by_flags->options.admin_token, "shown");
}

TEST(CommandLineTest, RefusesSecretsWithoutAKey) {
  const TemporaryFolder folder;
  const std::string one = Written(folder, "one", "one");
  const std::string empty = Written(folder, "empty", "\n");
  const std::string lines = Written(folder, "lines", "hush\nhush\n");
  const auto message = [](const Result<CommandLine>& command) {
    return command.ok() ? std::string("taken") : command.error().message;
  };
  EXPECT_NE(
      message(Parse({"--access-key", "a", "--secret-key", "x", "--secret-key-file", one.c_str()}))
          .find("use one of the two"),
      std::string::npos);
  EXPECT_NE(message(Parse({"--admin-token", "x", "--admin-token-file", one.c_str()}))
                .find("use one of the two"),
            std::string::npos);
  EXPECT_NE(message(Parse({"--secret-key-file", one.c_str()}))
                .find("0 --access-key but 1 --secret-key-file"),
            std::string::npos);
  for (const std::string& bad : {empty, lines}) {
    const std::string said =
        message(Parse({"--access-key", "a", "--secret-key-file", bad.c_str()}));
    EXPECT_NE(said.find("must have exactly one line"), std::string::npos) << said;
    EXPECT_EQ(said.find("hush"), std::string::npos);
  }
  const Variables variables{{"PENSTOCK_EMULATOR_SECRET_KEY", "hush"}};
  EXPECT_NE(message(Parse({}, variables)).find("0 --access-key but 1 --secret-key"),
            std::string::npos)
      << "the well-known default secret must not be used silently";
  EXPECT_NE(message(Parse({"--access-key", "a", "--access-key", "b"}, variables))
                .find("2 --access-key but 1 --secret-key"),
            std::string::npos);
}

// An empty value usually means that a script failed to set it: `--admin-token ""` must not open the
// admin API.
TEST(CommandLineTest, EveryOptionRefusesAnEmptyValue) {
  const std::string help = *Parse({"--help"})->text;
  const std::regex option("\\n +(--[a-z-]+) (TEXT|INT|UINT|FLOAT)");
  int options = 0;
  for (auto at = std::sregex_iterator(help.begin(), help.end(), option);
       at != std::sregex_iterator(); ++at, ++options) {
    const std::string name = (*at)[1];
    const std::string with_equals = name + "=";
    for (const std::vector<const char*>& flags : std::vector<std::vector<const char*>>{
             {name.c_str(), ""}, {with_equals.c_str()}, {with_equals.c_str(), "x"}}) {
      const auto command = Parse(flags);
      ASSERT_FALSE(command.ok()) << name;
      EXPECT_NE(command.error().message.find(name), std::string::npos) << command.error().message;
    }
  }
  EXPECT_GT(options, 25);
  EXPECT_EQ(Parse({"--admin-token", ""}).error().message,
            "--admin-token is empty; give it a value, or leave the option out");
  EXPECT_EQ(Parse({"--tls-cert", "", "--tls-key", ""}).error().message,
            "--tls-cert is empty; give it a value, or leave the option out");
  EXPECT_FALSE(Parse({"--access-key", "a", "--secret-key", "s", "--access-key", ""}).ok());
}

TEST(CommandLineTest, RefusesAnEmptyVariableUnlessAFlagIsGiven) {
  const Variables no_token{{"PENSTOCK_EMULATOR_ADMIN_TOKEN", ""}};
  const Variables no_secret{{"PENSTOCK_EMULATOR_SECRET_KEY", ""}};
  const auto without_token = Parse({}, no_token);
  const auto without_secret = Parse({"--access-key", "a"}, no_secret);
  ASSERT_FALSE(without_token.ok());
  ASSERT_FALSE(without_secret.ok());
  EXPECT_EQ(without_token.error().message,
            "PENSTOCK_EMULATOR_ADMIN_TOKEN is set but empty; give it a value, or unset it");
  EXPECT_EQ(without_secret.error().message,
            "PENSTOCK_EMULATOR_SECRET_KEY is set but empty; give it a value, or unset it");
  EXPECT_TRUE(Parse({"--admin-token", "t"}, no_token).ok());
  EXPECT_TRUE(Parse({"--access-key", "a", "--secret-key", "s"}, no_secret).ok());
}

TEST(CommandLineTest, MotoResetDefaultDependsOnTheAddress) {
  EXPECT_EQ(Parse({})->options.moto_reset, std::nullopt);
  EXPECT_EQ(Parse({"--moto-reset", "on"})->options.moto_reset, true);
  EXPECT_EQ(Parse({"--moto-reset", "off"})->options.moto_reset, false);
  EXPECT_FALSE(Parse({"--moto-reset", "maybe"}).ok());
  EXPECT_EQ(
      Parse({"--event-sink", "arn:a=file:/a", "--event-sink", "*=file:/b"})->options.event_sinks,
      (std::vector<std::string>{"arn:a=file:/a", "*=file:/b"}));
  EXPECT_EQ(Parse({"--admin-allow-host", "a", "--admin-allow-host", "b"})
                ->options.admin_allowed_hosts.size(),
            2u);
}

TEST(CommandLineTest, ConsoleIsOnUnlessSwitchedOff) {
  EXPECT_TRUE(Parse({})->options.console);
  EXPECT_TRUE(Parse({"--console", "on"})->options.console);
  EXPECT_FALSE(Parse({"--console", "off"})->options.console);
  const auto refused = Parse({"--console", "maybe"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("--console"), std::string::npos)
      << refused.error().message;
}

TEST(CommandLineTest, AuthorizationIsOnByDefault) {
  EXPECT_EQ(Parse({})->options.authorization, AuthorizationMode::kOn);
  EXPECT_EQ(Parse({"--authorization", "off"})->options.authorization, AuthorizationMode::kOff);
  EXPECT_FALSE(Parse({"--authorization", "maybe"}).ok());
}

TEST(CommandLineTest, PrintsHelpAndVersion) {
  EXPECT_NE(Parse({"--help"})->text->find("--fail-rate"), std::string::npos);
  EXPECT_NE(Parse({"--help"})->text->find("clock skew"), std::string::npos)
      << "the checks of --auth parse";
  EXPECT_TRUE(Parse({"--version"})->text->starts_with("penstock-emulator "));
}

}  // namespace
}  // namespace penstock::emulator::server
