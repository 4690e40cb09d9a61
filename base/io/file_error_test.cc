#include "base/io/file_error.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

namespace penstock {
namespace {

TEST(FileErrorTest, NamesActionPathAndCause) {
  const Error error = FileError("open", "/no/such", ENOENT);
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_EQ(error.message, "cannot open '/no/such': No such file or directory");
  EXPECT_EQ(FileError("open", "x", EACCES).kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(FileError("create", "x", EEXIST).kind, ErrorKind::kAlreadyExists);
  EXPECT_EQ(FileError("write", "x", ENOSPC).kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(FileError("open", "x", EISDIR).kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(FileError("read", "x", EIO).kind, ErrorKind::kInternal);
}

TEST(WriteAtTest, WritesAllBytesAtTheOffset) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const int fd = ::fileno(file);
  EXPECT_TRUE(WriteAt(fd, AsBytes("world"), 5, "x").ok());
  EXPECT_TRUE(WriteAt(fd, AsBytes("hello"), 0, "x").ok());
  char text[11] = {};
  EXPECT_EQ(::pread(fd, text, 10, 0), 10);
  EXPECT_STREQ(text, "helloworld");
  std::fclose(file);
  const int read_only = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(WriteAt(read_only, AsBytes("x"), 0, "x").ok());
  ::close(read_only);
}

}  // namespace
}  // namespace penstock
