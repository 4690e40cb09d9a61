#include "emulator/events/delivery/file_sink.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

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
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<void> sent = sink->Send("default", Events({"22222"}));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_FALSE(sent.ok());
  EXPECT_EQ(ReadAll(path), "1\n");
  ASSERT_TRUE(sink->Send("default", Events({"22222"})).ok());
  EXPECT_EQ(ReadAll(path), "1\n22222\n");
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
