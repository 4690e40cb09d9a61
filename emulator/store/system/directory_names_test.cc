#include "emulator/store/system/directory_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

TEST(DirectoryNamesTest, ReturnsAllNames) {
  const testing::TemporaryDirectory directory;
  std::error_code error = std::make_error_code(std::errc::io_error);
  EXPECT_TRUE(NamesIn(directory.path(), error).empty());
  EXPECT_FALSE(error);
  std::ofstream(directory.path() + "/file");
  std::ofstream(directory.path() + "/.hidden");
  std::filesystem::create_directories(directory.path() + "/directory/below");
  EXPECT_THAT(NamesIn(directory.path(), error),
              ::testing::UnorderedElementsAre("file", ".hidden", "directory"));
  EXPECT_FALSE(error);
}

TEST(DirectoryNamesTest, ReportsADirectoryThatCannotBeRead) {
  const testing::TemporaryDirectory directory;
  std::error_code error;
  EXPECT_TRUE(NamesIn(directory.path() + "/missing", error).empty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  std::ofstream(directory.path() + "/file");
  EXPECT_TRUE(NamesIn(directory.path() + "/file", error).empty());
  EXPECT_EQ(error, std::errc::not_a_directory);
}

}  // namespace
}  // namespace penstock::emulator::store
