#include "emulator/server/process/config_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace penstock::emulator::server {
namespace {

class ConfigFileTest : public testing::Test {
 protected:
  ConfigFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "given-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~ConfigFileTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return (directory_ / name).string();
  }
  static std::string Problem(const std::string& path) {
    const auto text =
        ReadConfigFile({.what = "faults file", .path = path, .fix = "name a JSON file"});
    return text.ok() ? "" : text.error().message;
  }

  std::filesystem::path directory_;
};

TEST_F(ConfigFileTest, ReturnsTheWholeText) {
  const std::string text = std::string(200'000, 'x') + "end";
  EXPECT_EQ(ReadConfigFile({.what = "file", .path = Write("long", text), .fix = ""}).value(), text);
  EXPECT_EQ(ReadConfigFile({.what = "file", .path = Write("empty", ""), .fix = ""}).value(), "");
}

TEST_F(ConfigFileTest, AcceptsUpTo8MiB) {
  EXPECT_EQ(Problem(Write("most", std::string(kMaxConfigFileBytes, 'x'))), "");
  const std::string path = Write("more", std::string(kMaxConfigFileBytes + 1, 'x'));
  EXPECT_EQ(Problem(path), "faults file '" + path + "' is longer than 8 MiB; name a JSON file");
}

TEST_F(ConfigFileTest, RefusesOtherThanRegularFiles) {
  const std::string pipe = (directory_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {directory_.string(), pipe, std::string("/dev/zero")}) {
    EXPECT_EQ(Problem(path), "faults file '" + path + "' is not a regular file; name a JSON file");
  }
  const std::string missing = (directory_ / "none").string();
  EXPECT_EQ(Problem(missing),
            "faults file '" + missing +
                "' cannot be opened: No such file or directory; name a JSON file");
}

}  // namespace
}  // namespace penstock::emulator::server
