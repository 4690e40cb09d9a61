#include "emulator/store/system/held_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;

TEST(HeldDirectoryTest, StaysTheSameDirectoryAfterARename) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  fs::create_directory(path);
  const auto held = HeldDirectory::Open(path).value();
  EXPECT_TRUE(HeldDirectory::IsHeldPath(held->path().c_str()));
  EXPECT_FALSE(HeldDirectory::IsHeldPath(path.c_str()));
  fs::rename(path, directory.path() + "/moved");
  fs::create_directory(path);
  std::ofstream(held->path() + "/file") << "x";
  EXPECT_TRUE(fs::exists(directory.path() + "/moved/file"));
  EXPECT_FALSE(fs::exists(path + "/file"));
  EXPECT_NE(UnreadableFile(held->path() + "/file", EIO).message.find(path + "/file"),
            std::string::npos);
}

TEST(HeldDirectoryTest, MissingDirectoryIsAnError) {
  EXPECT_EQ(HeldDirectory::Open("/nowhere/data").error().kind, ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::emulator::store
