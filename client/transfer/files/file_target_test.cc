#include "client/transfer/files/file_target.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "penstock/files.h"

namespace penstock::transfer {
namespace {

namespace fs = std::filesystem;

class FileTargetTest : public ::testing::Test {
 protected:
  FileTargetTest() { fs::create_directories(folder_); }
  ~FileTargetTest() override { fs::remove_all(folder_); }

  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  const fs::path folder_ = fs::path(::testing::TempDir()) / ("target" + std::to_string(::getpid()));
};

TEST_F(FileTargetTest, PublishedFileReplacesTheEarlierOne) {
  std::ofstream(folder_ / "f") << "earlier";
  FileTarget target = FileTarget::Create(OpenFolder(folder_).value(), "f").value();
  ASSERT_TRUE(target.Append(AsBytes("new ")).ok());
  ASSERT_TRUE(target.Append(AsBytes("text")).ok());
  EXPECT_EQ(Read("f"), "earlier");
  ASSERT_TRUE(target.Publish(true).ok());
  EXPECT_EQ(Read("f"), "new text");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(FileTargetTest, TheNewFileHasThePermissionsOfTheEarlierOne) {
  for (const mode_t mode : {0600, 0444, 0755}) {
    const std::string path = (folder_ / "file").string();
    std::ofstream(path) << "old";
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    auto target = FileTarget::Create(*OpenFolder(folder_), "file");
    ASSERT_TRUE(target.ok());
    ASSERT_TRUE(target->Publish(false).ok());
    struct ::stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode);
    EXPECT_EQ(status.st_size, 0);
    ASSERT_EQ(::unlink(path.c_str()), 0);
  }
}

// Symptom: a download to /dev/null replaced the device by a file.
TEST_F(FileTargetTest, WhatIsNoRegularFileIsNotReplaced) {
  const std::string path = (folder_ / "fifo").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto target = FileTarget::Create(*OpenFolder(folder_), "fifo");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(target.error().message.find("fifo' is not a regular file"), std::string::npos)
      << target.error().message;
  EXPECT_TRUE(std::filesystem::is_fifo(path));
  std::filesystem::create_symlink("/dev/null", (folder_ / "link").string());
  EXPECT_FALSE(FileTarget::Create(*OpenFolder(folder_), "link").ok());
}

// Symptom: the object was downloaded before the rename to a folder failed.
TEST_F(FileTargetTest, AFolderIsRefusedBeforeTheDownload) {
  std::filesystem::create_directory(folder_ / "d");
  const auto target = FileTarget::Create(*OpenFolder(folder_), "d");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(target.error().message.find("d' is a folder"), std::string::npos)
      << target.error().message;
  std::filesystem::create_directory_symlink(folder_ / "d", folder_ / "link");  // is replaced
  EXPECT_TRUE(FileTarget::Create(*OpenFolder(folder_), "link").ok());
}

TEST_F(FileTargetTest, AbandonedFileIsRemoved) {
  {
    FileTarget target = FileTarget::Create(OpenFolder(folder_).value(), "f").value();
    ASSERT_TRUE(target.Append(AsBytes("partial")).ok());
    EXPECT_EQ(Files(), 1u);
  }
  EXPECT_EQ(Files(), 0u);
}

// Closes the descriptor of the file, so that the next close fails. NFS and quotas report a full
// disk there.
void CloseDescriptorOf(const std::string& beginning) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (fs::read_symlink(entry.path(), error).string().starts_with(beginning)) {
      ::close(std::stoi(entry.path().filename()));
      return;
    }
  }
  ADD_FAILURE() << beginning << " is not open";
}

TEST_F(FileTargetTest, FailedCloseDoesNotPublish) {
  std::ofstream(folder_ / "f") << "earlier";
  {
    FileTarget target = FileTarget::Create(OpenFolder(folder_).value(), "f").value();
    ASSERT_TRUE(target.Append(AsBytes("new text")).ok());
    CloseDescriptorOf(
        (fs::canonical(folder_) / (".f.penstock-" + TemporaryFilesOfProcess())).string());
    const Result<void> published = target.Publish(false);
    ASSERT_FALSE(published.ok());
    EXPECT_NE(published.error().message.find(".f.penstock-"), std::string::npos)
        << published.error().message;
    EXPECT_EQ(Read("f"), "earlier");
  }
  EXPECT_EQ(Files(), 1u) << "the temporary file is left";
}

TEST_F(FileTargetTest, AnExistingNameIsKept) {
  FileTarget target = FileTarget::Create(*OpenFolder(folder_), "f", ExistingFile::kKeep).value();
  ASSERT_TRUE(target.Append(AsBytes("new text")).ok());
  std::ofstream(folder_ / "f") << "of another program";
  EXPECT_EQ(target.Publish(true).error().kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(Read("f"), "of another program");
  fs::create_symlink("nothing", folder_ / "dangling");
  for (const char* const name : {"f", "dangling"}) {
    const auto second = FileTarget::Create(*OpenFolder(folder_), name, ExistingFile::kKeep);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().kind, ErrorKind::kAlreadyExists);
    EXPECT_NE(second.error().message.find(name), std::string::npos) << second.error().message;
  }
}

TEST_F(FileTargetTest, LongestFileNameHasATemporaryName) {
  const std::string name(255, 'n');
  FileTarget target = FileTarget::Create(OpenFolder(folder_).value(), name).value();
  EXPECT_TRUE(target.Publish(false).ok());
  EXPECT_TRUE(fs::exists(folder_ / name));
}

TEST_F(FileTargetTest, FoldersAreMadeButLinksAreNotFollowed) {
  const fs::path outside = folder_.string() + "-outside";
  fs::create_directories(outside);
  fs::create_directory_symlink(outside, folder_ / "link");
  const Folder base = OpenFolder(folder_).value();
  EXPECT_TRUE(MakeFolders(base, {"a", "b"}).ok());
  EXPECT_TRUE(MakeFolders(base, {"a", "b"}).ok());
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b"));
  EXPECT_FALSE(MakeFolders(base, {"link"}).ok());
  EXPECT_FALSE(MakeFolders(base, {"link", "x"}).ok());
  EXPECT_TRUE(fs::is_empty(outside));
  std::ofstream(folder_ / "file") << "";
  EXPECT_EQ(MakeFolders(base, {"file"}).error().kind, ErrorKind::kInvalidArgument);
  fs::remove_all(outside);
}

TEST(PathOfKeyTest, SplitsKeysAndRefusesThoseThatLeaveTheFolder) {
  using Path = std::vector<std::string>;
  EXPECT_EQ(PathOfKey("f").value(), (Path{"f"}));
  EXPECT_EQ(PathOfKey("a/b.c/..d").value(), (Path{"a", "b.c", "..d"}));
  EXPECT_EQ(PathOfKey("a/").value(), (Path{"a"}));
  EXPECT_EQ(PathOfKey("back\\slash").value(), (Path{"back\\slash"}));
  for (const std::string key :
       {"..", "../x", "a/../../x", "a/..", ".", "a/./b", "/etc/passwd", "a//b", "", "a/b//"}) {
    EXPECT_EQ(PathOfKey(key).error().kind, ErrorKind::kInvalidArgument) << key;
  }
  EXPECT_FALSE(PathOfKey(std::string_view("a\0b", 3)).ok());
}

}  // namespace
}  // namespace penstock::transfer
