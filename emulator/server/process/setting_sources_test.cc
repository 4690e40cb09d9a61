#include "emulator/server/process/setting_sources.h"

#include <gtest/gtest.h>

#include <fstream>

#include "emulator/server/process/command_line.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

using Variables = std::map<std::string, std::string>;

class SettingSourcesTest : public ::testing::Test {
 protected:
  Result<CommandLine> Parse(std::vector<std::string> flags, const Variables& variables = {}) {
    std::vector<const char*> words{"penstock-emulator"};
    for (const std::string& flag : flags) words.push_back(flag.c_str());
    return ParseCommandLine(
        static_cast<int>(words.size()), words.data(), [&](const std::string& name) {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        });
  }

  // Returns the path of a new file.
  std::string File(const std::string& text) {
    const std::string path = folder_.path() + "/emulator.toml";
    std::ofstream(path) << text;
    return path;
  }

  std::string ErrorOf(const std::string& text) {
    const auto command = Parse({"--config", File(text)});
    return command.ok() ? "taken" : command.error().message;
  }

  std::string ErrorOf(const Variables& variables) {
    const auto command = Parse({}, variables);
    return command.ok() ? "taken" : command.error().message;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(SettingSourcesTest, EveryOptionHasAVariable) {
  const auto command = Parse({}, {{"PENSTOCK_EMULATOR_PORT", "9100"},
                                  {"PENSTOCK_EMULATOR_DATA", "d"},
                                  {"PENSTOCK_EMULATOR_DURABILITY", "strict"},
                                  {"PENSTOCK_EMULATOR_JOURNAL_SIZE", "1 MiB"},
                                  {"PENSTOCK_EMULATOR_FIRST_BYTE_DELAY", "1s"},
                                  {"PENSTOCK_EMULATOR_YIELD_TO_CLIENTS", "true"}});
  ASSERT_TRUE(command.ok()) << command.error().message;
  EXPECT_EQ(command->options.port, 9100);
  EXPECT_EQ(command->options.data_directory, "d");
  EXPECT_EQ(command->options.durability, DurabilityMode::kStrict);
  EXPECT_EQ(command->options.journal_bytes, 1u << 20);
  EXPECT_EQ(command->options.first_byte_delay_ms, 1000);
  EXPECT_TRUE(command->options.yield_to_clients);
}

TEST_F(SettingSourcesTest, TheFileHasKeysWithTomlTypes) {
  const std::string file = File(
      "port = 9100  # a comment\n"
      "fail_rate = 0.25\n"
      "relaxed_bucket_names = true\n"
      "scrub_rate = '1MB'\n"
      "access_key = ['a', 'b']\n"
      "secret_key = ['1', '2']\n");
  const auto command = Parse({"--config", file});
  ASSERT_TRUE(command.ok()) << command.error().message;
  EXPECT_EQ(command->options.port, 9100);
  EXPECT_EQ(command->options.fail_rate, 0.25);
  EXPECT_TRUE(command->options.relaxed_bucket_names);
  EXPECT_EQ(command->options.scrub_bytes_per_second, 1'000'000u);
  ASSERT_EQ(command->options.access_keys.size(), 2u);
  EXPECT_EQ(command->options.access_keys[1].id, "b");
  EXPECT_EQ(command->options.access_keys[1].secret, "2");
}

TEST_F(SettingSourcesTest, TheCommandLinePrecedesVariablesWhichPrecedeTheFile) {
  const std::string file = File("port = 1\nregion = 'eu-west-1'\nfail_seed = 7\n");
  const Variables variables{{"PENSTOCK_EMULATOR_CONFIG", file},
                            {"PENSTOCK_EMULATOR_PORT", "2"},
                            {"PENSTOCK_EMULATOR_REGION", "us-west-2"}};
  const auto command = Parse({"--port=3"}, variables);
  ASSERT_TRUE(command.ok()) << command.error().message;
  EXPECT_EQ(command->options.port, 3);
  EXPECT_EQ(command->options.region, "us-west-2");
  EXPECT_EQ(command->options.fail_seed, 7u);
}

TEST_F(SettingSourcesTest, AnOptionReplacesItsAlternativeOfALowerSource) {
  const std::string file = File("data = 'd'\nsecret_key = 'from-file'\n");
  EXPECT_EQ(Parse({"--memory", "--access-key", "a", "--secret-key", "s", "--config", file})
                ->options.data_directory,
            "");
  const auto variable = Parse(
      {"--access-key", "a"},
      {{"PENSTOCK_EMULATOR_CONFIG", file}, {"PENSTOCK_EMULATOR_SECRET_KEY", "from-variable"}});
  ASSERT_TRUE(variable.ok()) << variable.error().message;
  EXPECT_EQ(variable->options.access_keys.at(0).secret, "from-variable");
  EXPECT_FALSE(
      Parse({}, {{"PENSTOCK_EMULATOR_DATA", "d"}, {"PENSTOCK_EMULATOR_MEMORY", "true"}}).ok());
}

TEST_F(SettingSourcesTest, ErrorsNameTheVariable) {
  EXPECT_EQ(ErrorOf({{"PENSTOCK_EMULATOR_PORT", "many"}}),
            "PENSTOCK_EMULATOR_PORT: 'many' is not a number; give 0 to 65535");
  EXPECT_EQ(ErrorOf({{"PENSTOCK_EMULATOR_REGION", ""}}),
            "PENSTOCK_EMULATOR_REGION is set but empty; give it a value, or unset it");
}

TEST_F(SettingSourcesTest, ErrorsNameTheFileAndTheKey) {
  const std::string file = "configuration file '" + File("") + "', ";
  EXPECT_EQ(ErrorOf("port = 'many'"), file + "key 'port': 'many' is not a number; give 0 to 65535");
  const std::string unknown =
      " is unknown; keys are the names of options with '_' instead of '-', such as memory_limit, "
      "see --help";
  EXPECT_EQ(ErrorOf("memry_limit = 1"), file + "key 'memry_limit'" + unknown);
  EXPECT_EQ(ErrorOf("memory-limit = 1"), file + "key 'memory-limit'" + unknown);
  EXPECT_EQ(ErrorOf("config = 'other.toml'"), file + "key 'config'" + unknown);
  EXPECT_EQ(ErrorOf("region = ''"),
            file + "key 'region' is empty; give it a value, or remove the key");
  EXPECT_EQ(ErrorOf("[port]\nvalue = 1"),
            file +
                "key 'port' must be a string, a number, true or false, or a list of these for an "
                "option that can be repeated");
  EXPECT_TRUE(ErrorOf("port = 1\nregion = us").starts_with(file + "line 2: not TOML: "));
}

TEST_F(SettingSourcesTest, ErrorsNeverShowASecret) {
  for (const std::string text : {"secret_key = {hush = 1}", "secret_key = 'hush", "x = 'hush'"})
    EXPECT_EQ(ErrorOf(text).find("hush"), std::string::npos) << ErrorOf(text);
  EXPECT_EQ(ErrorOf(Variables{{"PENSTOCK_EMULATOR_SECRET_KEY", "hush"}}).find("hush"),
            std::string::npos);
}

TEST_F(SettingSourcesTest, ANamedFileMustExist) {
  EXPECT_NE(Parse({"--config", "/nowhere/emulator.toml"})
                .error()
                .message.find("configuration file '/nowhere/emulator.toml' cannot be opened"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::server
