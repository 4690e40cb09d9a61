#include "emulator/server/process/log_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

constinit DiagnosticEvent lost("test.log_file_line_lost");

std::string Numbered(int number) {
  std::string line = std::to_string(number);
  line.resize(999, ' ');
  return line + '\n';
}

// A log whose lines go to a FIFO.
class LogFileTest : public testing::Test {
 protected:
  LogFileTest() {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    reader_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    auto opened = LogFile::Open("log file", path_, lost);
    EXPECT_TRUE(opened.ok());
    log_ = std::move(*opened);
  }
  ~LogFileTest() override { ::close(reader_); }

  // Writes lines to a pipe that is not read. Returns the number of accepted ones.
  int Fill(int lines) {
    int accepted = 0;
    for (int i = 0; i < lines; ++i) accepted += log_->Write(Numbered(i)) == 0 ? 1 : 0;
    return accepted;
  }
  // Reads `size` bytes, or what has arrived after 10 s.
  std::string Read(std::size_t size) {
    std::string text(size, '\0');
    std::size_t have = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (have < size && std::chrono::steady_clock::now() < until) {
      const ssize_t count = ::read(reader_, text.data() + have, size - have);
      count > 0 ? void(have += static_cast<std::size_t>(count)) : void(::usleep(1000));
    }
    text.resize(have);
    return text;
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/fifo";
  int reader_ = -1;
  std::unique_ptr<LogFile> log_;
};

TEST(LogFileModeTest, OnlyTheOwnerReadsANewFileAndAnExistingOneKeepsItsMode) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  for (const mode_t mode : {0600, 0644}) {
    ASSERT_TRUE(LogFile::Open("log file", path, lost).ok());
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  }
}

TEST_F(LogFileTest, KeepsWholeLinesInOrderForASlowReader) {
  const int accepted = Fill(500);
  EXPECT_EQ(accepted, 500) << "a pipe holds 64 KiB";
  const std::string text = Read(500 * 1000);
  ASSERT_EQ(text.size(), 500u * 1000);
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(text.substr(static_cast<std::size_t>(i) * 1000, 1000), Numbered(i));
}

TEST_F(LogFileTest, DropsLinesAboveTheBoundAndContinuesWhenTheReaderDoes) {
  const int accepted = Fill(5000);
  EXPECT_GE(accepted, static_cast<int>(LogFile::kMaxQueued / 1000));
  EXPECT_LE(accepted, static_cast<int>((LogFile::kMaxQueued + (128 << 10)) / 1000));
  EXPECT_EQ(log_->Write(Numbered(0)), EAGAIN);
  const std::string text = Read(static_cast<std::size_t>(accepted) * 1000);
  EXPECT_EQ(text.substr(text.size() - 1000), Numbered(accepted - 1));
  EXPECT_EQ(log_->Write("again\n"), 0);
  EXPECT_EQ(Read(6), "again\n");
}

TEST_F(LogFileTest, ClosesWithoutAReaderInTime) {
  const int accepted = Fill(5000);
  const std::uint64_t before = lost.count();
  const auto begun = std::chrono::steady_clock::now();
  log_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
  const std::uint64_t dropped = lost.count() - before;
  EXPECT_GE(dropped, static_cast<std::uint64_t>(accepted) - 70) << "the pipe has the others";
  EXPECT_LE(dropped, static_cast<std::uint64_t>(accepted));
}

TEST_F(LogFileTest, DropsTheQueueWhenTheReaderLeaves) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::uint64_t before = lost.count();
  const int accepted = Fill(300);
  EXPECT_EQ(accepted, 300);
  ::close(reader_);
  for (int i = 0; i < 1000 && lost.count() == before; ++i) ::usleep(10'000);
  EXPECT_GE(lost.count() - before, 200u);
  EXPECT_EQ(log_->Write("no reader\n"), EPIPE);
  reader_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(log_->Write("another reader\n"), 0);
  std::string text;  // begins with what the FIFO still had
  do text += Read(1);
  while (text.size() < 200'000 && !text.ends_with("another reader\n"));
  EXPECT_TRUE(text.ends_with("another reader\n")) << text.size();
}

TEST_F(LogFileTest, RefusesAFifoWithoutAReaderAtOnce) {
  const std::string path = folder_.path() + "/unread";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto refused = LogFile::Open("log file", path, lost);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "log file '" + path +
                "' has no reader; start the program that reads the FIFO first, or name a regular "
                "file");
}

TEST_F(LogFileTest, ReportsAFullDevice) {
  const auto full = LogFile::Open("log file", "/dev/full", lost);
  ASSERT_TRUE(full.ok());
  EXPECT_EQ((*full)->Write("line\n"), ENOSPC);
}

// Standard error as a pipe, or as a socket, which cannot be opened again; other processes share it.
class LogFileStandardErrorTest : public testing::TestWithParam<bool> {};

TEST_P(LogFileStandardErrorTest, NeverWaitsAndDoesNotChangeTheSharedDescription) {
  int ends[2];
  const bool socket = GetParam();
  ASSERT_EQ(socket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
                   : ::pipe2(ends, O_CLOEXEC),
            0);
  const int kept = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  ASSERT_EQ(::dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
  auto log = LogFile::Open("log file", "-", lost);
  ASSERT_TRUE(log.ok());
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) accepted += (*log)->Write(Numbered(i)) == 0 ? 1 : 0;
  const int flags = ::fcntl(STDERR_FILENO, F_GETFL);
  log->reset();
  ::dup2(kept, STDERR_FILENO);
  for (const int end : {kept, ends[0], ends[1]}) ::close(end);
  EXPECT_LT(accepted, 5000);
  EXPECT_EQ(flags & O_NONBLOCK, 0);
}

INSTANTIATE_TEST_SUITE_P(PipeAndSocket, LogFileStandardErrorTest, testing::Bool());

}  // namespace
}  // namespace penstock::emulator::server
