#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "client/auth/profile.h"

namespace penstock::auth {
namespace {

TEST(Environment, ReadsTheVariablesOfTheProcess) {
  ::setenv("PENSTOCK_ENVIRONMENT_TEST", "v", 1);
  EXPECT_EQ(Environment::PerProcess().Get("PENSTOCK_ENVIRONMENT_TEST"), "v");
  ::unsetenv("PENSTOCK_ENVIRONMENT_TEST");
  EXPECT_FALSE(Environment::PerProcess().Get("PENSTOCK_ENVIRONMENT_TEST").has_value());
}

TEST(Environment, AnEmptyVariableCountsAsUnset) {
  ::setenv("PENSTOCK_ENVIRONMENT_TEST", "", 1);
  EXPECT_FALSE(Environment::PerProcess().Get("PENSTOCK_ENVIRONMENT_TEST").has_value());
  ::unsetenv("PENSTOCK_ENVIRONMENT_TEST");
}

TEST(Environment, ReadsWholeFiles) {
  std::string path = ::testing::TempDir() + "penstock_environment_XXXXXX";
  const int file = ::mkstemp(path.data());
  ASSERT_GE(file, 0);
  std::ofstream(path) << "[default]\nregion = r\n";
  EXPECT_EQ(*Environment::PerProcess().read_file(path), "[default]\nregion = r\n");
  std::filesystem::remove(path);
}

TEST(Environment, AMissingFileIsNotFoundAndADirectoryIsAnError) {
  const Environment environment = Environment::PerProcess();
  EXPECT_EQ(environment.read_file("/nonexistent/file").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(environment.read_file("/").error().kind, ErrorKind::kInvalidArgument);
}

class EnvironmentFifo : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/fifo";
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_ = ::testing::TempDir() + "penstock_fifo_XXXXXX";
  std::string path_;
};

// Symptom: the process waited for a writer for ever.
TEST_F(EnvironmentFifo, WithoutAWriterIsAnError) {
  const auto text = Environment::PerProcess().read_file(path_);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("its writer has not finished within 5 s"), std::string::npos)
      << text.error().message;
}

TEST_F(EnvironmentFifo, IsReadUntilItsWriterClosesIt) {
  const std::string written(300'000, 'x');  // more than a pipe holds
  std::thread writer([this, &written] {
    std::ofstream file(path_);
    file << written.substr(0, 5) << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    file << written.substr(5);
  });
  const auto text = Environment::PerProcess().read_file(path_);
  writer.join();
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->size(), written.size());
}

TEST(Environment, RejectsAnEndlessFile) {
  EXPECT_EQ(Environment::PerProcess().read_file("/dev/zero").error().kind,
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::auth
