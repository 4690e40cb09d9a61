#include "base/io/rename.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/io/descriptor.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

class RenameTest : public ::testing::Test {
 protected:
  RenameTest() {
    fs::create_directories(folder_);
    fd_ = Descriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Write("new", "new");
  }
  ~RenameTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t Files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  const fs::path folder_ = fs::path(::testing::TempDir()) / ("rename" + std::to_string(::getpid()));
  Descriptor fd_;
};

TEST_F(RenameTest, ReplacesAFile) {
  Write("f", "earlier");
  ASSERT_TRUE(RenameFile(fd_.get(), "new", "f", ExistingFile::kReplace, "x/f").ok());
  EXPECT_EQ(Read("f"), "new");
  EXPECT_EQ(Files(), 1);
}

TEST_F(RenameTest, BothWaysKeepWhatHasTheName) {
  const auto rename = [&](const std::string& to) {
    return RenameFile(fd_.get(), "new", to, ExistingFile::kKeep, "x/" + to);
  };
  const auto link = [&](const std::string& to) {
    return RenameByLink(fd_.get(), "new", to, "x/" + to);
  };
  Write("f", "earlier");
  fs::create_directory(folder_ / "d");
  fs::create_symlink("nothing", folder_ / "dangling");
  for (const std::string name : {"f", "d", "dangling"}) {
    for (const Error& error : {rename(name).error(), link(name).error()}) {
      EXPECT_EQ(error.kind, ErrorKind::kAlreadyExists) << error.message;
      EXPECT_NE(error.message.find("'x/" + name + "': File exists"), std::string::npos)
          << error.message;
    }
  }
  EXPECT_EQ(Read("f"), "earlier");
  EXPECT_EQ(Read("new"), "new");
  ASSERT_TRUE(rename("a").ok());
  ASSERT_TRUE(RenameByLink(fd_.get(), "a", "b", "x/b").ok());
  EXPECT_EQ(Read("b"), "new");
  EXPECT_EQ(Files(), 4) << "the old name is left";
}

TEST_F(RenameTest, ErrorsNameThePath) {
  for (const ExistingFile existing : {ExistingFile::kReplace, ExistingFile::kKeep}) {
    const Error error = RenameFile(fd_.get(), "missing", "f", existing, "x/f").error();
    EXPECT_EQ(error.kind, ErrorKind::kNotFound);
    EXPECT_NE(error.message.find("x/f"), std::string::npos) << error.message;
  }
}

// sysfs has neither RENAME_NOREPLACE nor hard links.
TEST_F(RenameTest, AFileSystemWithoutBothIsAnError) {
  if (::access("/sys/kernel", W_OK) != 0) GTEST_SKIP() << "/sys/kernel needs root";
  const Descriptor sys(::open("/sys/kernel", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Error error =
      RenameFile(sys.get(), "uevent_seqnum", "penstock-new", ExistingFile::kKeep, "x/penstock-new")
          .error();
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported) << error.message;
  EXPECT_NE(error.message.find("x/penstock-new"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace penstock
