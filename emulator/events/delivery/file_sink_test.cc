#include "emulator/events/delivery/file_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/io/descriptor.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::events {
namespace {

using store::testing::TemporaryDirectory;

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<store::StoredEvent> Events(const std::vector<std::string>& messages) {
  std::vector<store::StoredEvent> events;
  for (const std::string& message : messages)
    events.push_back({events.size() + 1, false, {"arn:q", message}});
  return events;
}

// Writes beyond `bytes` of a file fail meanwhile, as on a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~SmallFiles() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    ::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_{};
};

TEST(FileSinkTest, AppendsALinePerEvent) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/events";
  const auto sink = OpenFileSink(path, store::Durability::kStrict).value();
  ASSERT_TRUE(sink->Send("default", Events({"{\"a\":1}", "{\"b\":2}"})).ok());
  ASSERT_TRUE(sink->Send("default", Events({"{\"c\":3}"})).ok());
  EXPECT_EQ(ReadAll(path), "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
  struct stat state {};
  ASSERT_EQ(::stat(path.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0600u);
}

TEST(FileSinkTest, APartOfALineIsEnded) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/events";
  std::ofstream(path) << "{\"cut";
  const auto sink = OpenFileSink(path, store::Durability::kRelaxed).value();
  ASSERT_TRUE(sink->Send("default", Events({"{}"})).ok());
  EXPECT_EQ(ReadAll(path), "{\"cut\n{}\n");
}

TEST(FileSinkTest, AMovedFileIsCreatedAnew) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/events";
  const auto sink = OpenFileSink(path, store::Durability::kRelaxed).value();
  ASSERT_TRUE(sink->Send("default", Events({"1"})).ok());
  ASSERT_EQ(std::rename(path.c_str(), (path + ".1").c_str()), 0);
  ASSERT_TRUE(sink->Send("default", Events({"2"})).ok());
  EXPECT_EQ(ReadAll(path + ".1"), "1\n");
  EXPECT_EQ(ReadAll(path), "2\n");
}

TEST(FileSinkTest, AFailedWriteLeavesNoPartOfALine) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/events";
  const auto sink = OpenFileSink(path, store::Durability::kRelaxed).value();
  ASSERT_TRUE(sink->Send("default", Events({"1"})).ok());
  const Result<void> sent = [&] {
    const SmallFiles small(4);
    return sink->Send("default", Events({"22222"}));
  }();
  EXPECT_FALSE(sent.ok());
  EXPECT_EQ(ReadAll(path), "1\n");
  ASSERT_TRUE(sink->Send("default", Events({"22222"})).ok());
  EXPECT_EQ(ReadAll(path), "1\n22222\n");
}

// Two routes may name one file, also by different names.
TEST(FileSinkTest, AFailedWriteKeepsTheLinesOfOtherSinks) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/events";
  const auto failing = OpenFileSink(path, store::Durability::kRelaxed).value();
  ASSERT_EQ(::symlink(path.c_str(), (path + ".link").c_str()), 0);
  const auto other = OpenFileSink(path + ".link", store::Durability::kRelaxed).value();
  const auto too_long = Events({std::string(4 << 20, 'x')});
  std::string acknowledged;
  {
    const SmallFiles small(2 << 20);
    std::atomic<bool> ended{false};
    std::thread thread([&] {
      for (int i = 0; i < 50; ++i) EXPECT_FALSE(failing->Send("default", too_long).ok());
      ended = true;
    });
    for (int i = 0; !ended || acknowledged.empty(); ++i) {
      const std::string line = std::to_string(i);
      if (other->Send("default", Events({line})).ok()) acknowledged += line + "\n";
    }
    thread.join();
  }
  EXPECT_TRUE(ReadAll(path) == acknowledged) << "a line is missing";
}

TEST(FileSinkTest, AFileThatAnotherProgramLocksIsNotWritten) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/events";
  const auto sink = OpenFileSink(path, store::Durability::kRelaxed).value();
  const Descriptor other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  sink->Cancel();  // so that it does not wait
  const Result<void> sent = sink->Send("default", Events({"1"}));
  ASSERT_FALSE(sent.ok());
  EXPECT_NE(sent.error().message.find("'" + path + "' is locked by another program"),
            std::string::npos)
      << sent.error().message;
  EXPECT_EQ(ReadAll(path), "");
}

TEST(FileSinkTest, OnAFullDiskBatchesShrinkToALine) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/events";
  const auto sink = OpenFileSink(path, store::Durability::kRelaxed).value();
  const auto send = [&] {
    return sink->Send("default", Events(std::vector<std::string>(sink->most(), "1")));
  };
  {
    const SmallFiles small(2);
    std::vector<std::size_t> sizes;
    while (sizes.size() < 10 && !send().ok()) sizes.push_back(sink->most());
    EXPECT_EQ(sizes, (std::vector<std::size_t>{50, 25, 12, 6, 3, 1}));
  }
  EXPECT_EQ(ReadAll(path), "1\n");
  while (sink->most() < 100) ASSERT_TRUE(send().ok());
  EXPECT_EQ(sink->most(), 100u);
}

TEST(FileSinkTest, ErrorsNameTheFile) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, directory.path(), directory.path() + "/absent/events"}) {
    const auto sink = OpenFileSink(path, store::Durability::kRelaxed);
    ASSERT_FALSE(sink.ok()) << path;
    EXPECT_NE(sink.error().message.find("events file '" + path + "'"), std::string::npos)
        << sink.error().message;
  }
}

}  // namespace
}  // namespace penstock::emulator::events
