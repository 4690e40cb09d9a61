#include "client/auth/profile.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "client/auth/environment_for_test.h"

namespace penstock::auth {
namespace {

ProfileSet Config(std::string_view text) {
  ProfileSet set;
  const Result<void> parsed = ParseProfileFile(text, "config", ProfileFileKind::kConfig, set);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return set;
}

std::string ConfigError(std::string_view text) {
  ProfileSet set;
  const Result<void> parsed = ParseProfileFile(text, "config", ProfileFileKind::kConfig, set);
  return parsed.ok() ? "" : parsed.error().message;
}

std::optional<std::string> Setting(const ProfileSet& set, std::string_view profile,
                                   std::string_view name) {
  const Section* section = set.FindProfile(profile);
  return section == nullptr ? std::nullopt : section->Find(name);
}

TEST(Profile, ReadsSettingsOfNamedAndDefaultProfiles) {
  const ProfileSet set = Config("[default]\nregion = eu-west-1\n[profile dev]\nRegion=us-west-2\n");
  EXPECT_EQ(Setting(set, "default", "region"), "eu-west-1");
  EXPECT_EQ(Setting(set, "dev", "region"), "us-west-2");
}

TEST(Profile, IgnoresAnUnprefixedSectionOfTheConfigFile) {
  const ProfileSet set = Config("[dev]\nregion = x\n");
  EXPECT_EQ(set.FindProfile("dev"), nullptr);
  EXPECT_EQ(set.warnings.size(), 1u);
}

TEST(Profile, ThePrefixedDefaultTakesPrecedenceInEitherOrder) {
  EXPECT_EQ(Setting(Config("[profile default]\nregion = a\n[default]\nregion = b\noutput = t\n"),
                    "default", "region"),
            "a");
  const ProfileSet bare_first =
      Config("[default]\nregion = b\noutput = t\n[profile default]\nregion = a\n");
  EXPECT_EQ(Setting(bare_first, "default", "region"), "a");
  EXPECT_FALSE(Setting(bare_first, "default", "output").has_value());
}

TEST(Profile, ACommentInAValueNeedsABlankBeforeIt) {
  const ProfileSet set =
      Config("# c\n; c\n[default] ; c\na = x ;c\nb = x;c\nc = x #c\nd = #c\ne = ; # c\n");
  EXPECT_EQ(Setting(set, "default", "a"), "x");
  EXPECT_EQ(Setting(set, "default", "b"), "x;c");
  EXPECT_EQ(Setting(set, "default", "c"), "x");
  EXPECT_EQ(Setting(set, "default", "d"), "");
  EXPECT_EQ(Setting(set, "default", "e"), "");
}

TEST(Profile, OnlyTheFirstEqualsSignSeparates) {
  EXPECT_EQ(Setting(Config("[default]\nk = a=b=\n"), "default", "k"), "a=b=");
}

TEST(Profile, AnIndentedLineContinuesANonEmptyValue) {
  const ProfileSet set = Config("[default]\nk = one\n\n  two ; kept\nl = 3\n");
  EXPECT_EQ(Setting(set, "default", "k"), "one\ntwo ; kept");
  EXPECT_EQ(Setting(set, "default", "l"), "3");
}

TEST(Profile, IndentedLinesUnderAnEmptyValueAreSubProperties) {
  const ProfileSet set = Config(
      "[default]\ns3 =\n  addressing_style = path\n  # note\n\tMAX_queue = 2 ; c\nregion = r\n");
  EXPECT_EQ(Setting(set, "default", "s3.addressing_style"), "path");
  EXPECT_EQ(Setting(set, "default", "s3.max_queue"), "2");
  EXPECT_EQ(Setting(set, "default", "region"), "r");
}

// The expected results are those of botocore 1.x (`botocore.configloader.load_config`).
TEST(Profile, SettingsMayBeIndented) {
  const ProfileSet set = Config("[default]\n  # c\n  a = 1\n  b = 2\n c = 3\n\n   more\n");
  EXPECT_EQ(Setting(set, "default", "a"), "1");
  EXPECT_EQ(Setting(set, "default", "b"), "2");
  EXPECT_EQ(Setting(set, "default", "c"), "3\nmore");
}

TEST(Profile, LinesIndentedDeeperThanASettingBelongToIt) {
  const ProfileSet set = Config("[default]\na = 1\n  [profile p]\nb!d = 1\n  c = 2\n");
  EXPECT_EQ(Setting(set, "default", "a"), "1\n[profile p]");
  EXPECT_EQ(set.FindProfile("default")->settings.size(), 1u);
}

TEST(Profile, SectionsMayBeIndentedLikeSettings) {
  const ProfileSet set = Config("  [default]\n  a = 1\n  [profile p]\n  b = 2\n");
  EXPECT_EQ(Setting(set, "default", "a"), "1");
  EXPECT_EQ(Setting(set, "p", "b"), "2");
}

TEST(Profile, SubPropertiesOfAnIndentedSettingAreIndentedDeeper) {
  const ProfileSet set =
      Config("[default]\n  s3 =\n    k = v\n   l = w\n  region = r\n  s4 =\n  m = 1\n");
  EXPECT_EQ(Setting(set, "default", "s3.k"), "v");
  EXPECT_EQ(Setting(set, "default", "s3.l"), "w");
  EXPECT_EQ(Setting(set, "default", "region"), "r");
  EXPECT_EQ(Setting(set, "default", "s4"), "");
  EXPECT_EQ(Setting(set, "default", "m"), "1");
}

TEST(Profile, ReadsIndentedKeysOfTheCredentialsFile) {
  ProfileSet set;
  ASSERT_TRUE(
      ParseProfileFile("[default]\n  aws_access_key_id = A\n  # c\n  aws_secret_access_key = S\n",
                       "c", ProfileFileKind::kCredentials, set)
          .ok());
  EXPECT_EQ(Setting(set, "default", "aws_access_key_id"), "A");
  EXPECT_EQ(Setting(set, "default", "aws_secret_access_key"), "S");
  EXPECT_EQ(set.FindProfile("default")->from_credentials_file.size(), 2u);
}

TEST(Profile, CommentLinesAreNotPartOfAValue) {
  EXPECT_EQ(Setting(Config("[default]\nk = one\n  # c\n  two\n"), "default", "k"), "one\ntwo");
}

TEST(Profile, NamesInTheConfigFileMayBeQuotedAsInAShell) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"\"a b\"", "a b"},         {"'a b'", "a b"},           {"\"x\"", "x"},
      {"a\\ b", "a b"},           {"a\"b c\"d", "ab cd"},     {"\"a]b\"", "a]b"},
      {"'a'\"'\"'b'", "a'b"},     {"\"a\\\"b\"", "a\"b"},     {"'a\\b'", "a\\b"},
      {"\"a\\b\\\\\"", "a\\b\\"}, {"\"default\"", "default"}, {"\xC3\xA9", "\xC3\xA9"}};
  for (const auto& [quoted, name] : names) {
    EXPECT_EQ(Setting(Config("[profile " + quoted + "] # c\nk = v\n"), name, "k"), "v") << quoted;
  }
  const ProfileSet other = Config("[sso-session 'a b']\nk = v\n[services \"a b\"]\nk = v\n");
  EXPECT_TRUE(other.sso_sessions.contains("a b"));
  EXPECT_TRUE(other.services.contains("a b"));
}

TEST(Profile, NamesInTheCredentialsFileAreLiteral) {
  ProfileSet set;
  ASSERT_TRUE(ParseProfileFile("[a b]\nk = 1\n[\"q\"]\nk = 2\n[profile x]\nk = 3\n", "c",
                               ProfileFileKind::kCredentials, set)
                  .ok());
  EXPECT_EQ(Setting(set, "a b", "k"), "1");
  EXPECT_EQ(Setting(set, "\"q\"", "k"), "2");
  EXPECT_EQ(Setting(set, "profile x", "k"), "3");
  EXPECT_EQ(set.FindProfile("x"), nullptr);
}

TEST(Profile, SkipsSectionsWithoutExactlyOneName) {
  for (const std::string name :
       {"profile a b", "profile \"\"", "profile", "", "\"\"", "profile joe's"}) {
    const ProfileSet set = Config("[" + name + "]\nk = v\n");
    EXPECT_TRUE(set.profiles.empty()) << name;
    EXPECT_EQ(set.warnings.size(), 1u) << name;
  }
}

TEST(Profile, MergesRepeatedSectionsAndUsesTheLaterSetting) {
  const ProfileSet set =
      Config("[profile a]\nx = 1\ny = 1\n[profile b]\nx = 9\n[profile a]\nX = 2\n");
  EXPECT_EQ(Setting(set, "a", "x"), "2");
  EXPECT_EQ(Setting(set, "a", "y"), "1");
}

TEST(Profile, ReadsServiceSettings) {
  const ProfileSet set = Config(
      "[profile p]\nservices = dev\n[services dev]\ns3 =\n  endpoint_url = "
      "http://localhost:9000\n");
  const Section* profile = set.FindProfile("p");
  ASSERT_NE(profile, nullptr);
  EXPECT_EQ(set.FindServiceSetting(*profile, "s3", "endpoint_url"), "http://localhost:9000");
  EXPECT_FALSE(set.FindServiceSetting(*profile, "sts", "endpoint_url").has_value());
}

TEST(Profile, AcceptsByteOrderMarkAndWindowsLineEnds) {
  EXPECT_EQ(Setting(Config("\xEF\xBB\xBF[default]\r\nregion = r\r\n"), "default", "region"), "r");
}

TEST(Profile, SkipsInvalidNamesWithAWarning) {
  const ProfileSet set = Config("[profile a b]\nx = 1\n[default]\nb!d = 1\n  sub\ngood = 2\n");
  EXPECT_EQ(set.profiles.size(), 1u);
  EXPECT_EQ(Setting(set, "default", "good"), "2");
  EXPECT_GE(set.warnings.size(), 2u);
}

TEST(Profile, ErrorsNameFileAndLineButNoValue) {
  EXPECT_EQ(ConfigError("[default\n"), "config line 1: ']' is missing after the section name");
  EXPECT_EQ(ConfigError("\nsecret = s3cr3t\n"),
            "config line 2: a setting precedes the first section");
  EXPECT_EQ(ConfigError("[default]\ns3cr3t\n"), "config line 2: expected 'name = value'");
  EXPECT_EQ(ConfigError("[default] x\n"), "config line 1: only a comment may follow ']'");
  EXPECT_EQ(ConfigError("[profile \"a\n"), "config line 1: ']' is missing after the section name");
  EXPECT_EQ(ConfigError("[default]\n  s3cr3t\n"), "config line 2: expected 'name = value'");
}

TEST(Profile, CredentialsFileOverridesConfigFilePerSetting) {
  const Environment environment = FakeEnvironment(
      {}, {{"/home/u/.aws/config", "[profile p]\nregion = r\naws_access_key_id = OLD\n"},
           {"/home/u/.aws/credentials", "[p]\naws_access_key_id = NEW\n[profile q]\nx = 1\n"}});
  const Result<ProfileSet> set = LoadProfiles(environment);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(Setting(*set, "p", "aws_access_key_id"), "NEW");
  EXPECT_EQ(Setting(*set, "p", "region"), "r");
  EXPECT_EQ(set->FindProfile("p")->from_credentials_file.size(), 1u);
  EXPECT_EQ(set->FindProfile("q"), nullptr);
}

TEST(Profile, VariablesChangeThePathsOfTheFiles) {
  const Environment environment = FakeEnvironment(
      {{"AWS_CONFIG_FILE", "~/c"}, {"AWS_SHARED_CREDENTIALS_FILE", "/etc/k"}},
      {{"/home/u/c", "[default]\nregion = r\n"}, {"/etc/k", "[default]\naws_access_key_id = K\n"}});
  const Result<ProfileSet> set = LoadProfiles(environment);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(Setting(*set, "default", "region"), "r");
  EXPECT_EQ(Setting(*set, "default", "aws_access_key_id"), "K");
}

TEST(Profile, MissingFilesAreEmptyAndListed) {
  const Result<ProfileSet> set = LoadProfiles(FakeEnvironment({}));
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->profiles.empty());
  EXPECT_EQ(set->files_missing.size(), 2u);
}

TEST(Profile, ANulIsAnErrorWithoutTheValue) {
  ProfileSet set;
  const auto parsed =
      ParseProfileFile(std::string_view("[default]\naws_secret_access_key = s3cr3t\0\n", 42),
                       "/the/file", ProfileFileKind::kCredentials, set);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "/the/file line 2: it has a NUL");
}

TEST(Profile, TheNameComesFromTheArgumentThenTheEnvironment) {
  const TextMap both = {{"AWS_PROFILE", "a"}, {"AWS_DEFAULT_PROFILE", "b"}};
  EXPECT_EQ(SelectProfileName(FakeEnvironment(both), "x"), "x");
  EXPECT_EQ(SelectProfileName(FakeEnvironment(both), ""), "a");
  EXPECT_EQ(SelectProfileName(FakeEnvironment({{"AWS_DEFAULT_PROFILE", "b"}}), ""), "b");
  EXPECT_EQ(SelectProfileName(FakeEnvironment({{"AWS_PROFILE", ""}}), ""), "default");
}

}  // namespace
}  // namespace penstock::auth
