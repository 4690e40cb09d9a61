#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

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

TEST(Environment, RejectsAnEndlessFile) {
  EXPECT_EQ(Environment::PerProcess().read_file("/dev/zero").error().kind,
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::auth
