#include "base/log/log.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/log/diagnostics.h"

namespace penstock {
namespace {

// Collects lines. Turns logging off at the end.
class LogTest : public testing::Test {
 protected:
  ~LogTest() override { SetLogSink(LogLevel::kOff, nullptr); }

  void Collect(LogLevel least) {
    SetLogSink(least, [this](LogLevel, const std::string& line) { lines_.push_back(line); });
  }

  std::vector<std::string> lines_;
};

TEST_F(LogTest, RendersOneJsonLineInOrder) {
  Collect(LogLevel::kInfo);
  Log({.level = LogLevel::kWarning,
       .event = "request.retry",
       .fields = {{"bucket", "b"}, {"key", "a\"b\n"}}});
  EXPECT_EQ(lines_,
            std::vector<std::string>{
                R"({"level":"warning","event":"request.retry","bucket":"b","key":"a\"b\n"})"});
}

TEST_F(LogTest, WritesNumbersWithoutQuotes) {
  Collect(LogLevel::kInfo);
  const std::string text = "7";
  Log({.event = "x",
       .fields = {{"n", LogValue::Number(std::to_string(-12))},
                  {"t", text},
                  {"ms", LogValue::Number("0.125")}}});
  EXPECT_EQ(lines_,
            std::vector<std::string>{R"({"level":"info","event":"x","n":-12,"t":"7","ms":0.125})"});
}

TEST_F(LogTest, DropsLevelsBelowTheMinimum) {
  Collect(LogLevel::kWarning);
  Log({.level = LogLevel::kInfo, .event = "quiet"});
  Log({.level = LogLevel::kError, .event = "loud"});
  EXPECT_EQ(lines_, std::vector<std::string>{R"({"level":"error","event":"loud"})"});
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  EXPECT_TRUE(LogEnabled(LogLevel::kWarning));
  EXPECT_FALSE(LogEnabled(LogLevel::kOff));
}

TEST_F(LogTest, OffDropsEverything) {
  Collect(LogLevel::kOff);
  Log({.level = LogLevel::kError, .event = "x"});
  EXPECT_TRUE(lines_.empty());
}

TEST_F(LogTest, RedactsSecretsByValueAndByFieldName) {
  Collect(LogLevel::kTrace);
  Log({.event = "x",
       .fields = {{"head", "Authorization: SECRET"}, {"secret_access_key", "SECRET"}}});
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(
      lines_[0],
      R"({"level":"info","event":"x","head":"Authorization: ***","secret_access_key":"***"})");
}

TEST_F(LogTest, SinkThatLogsDoesNotDeadlock) {
  SetLogSink(LogLevel::kInfo, [this](LogLevel, const std::string& line) {
    lines_.push_back(line);
    Log({.event = "inner"});
  });
  Log({.event = "outer"});
  Log({.event = "next"});
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(LogTest, SinksAreCalledOneAtATime) {
  Collect(LogLevel::kInfo);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 100; ++i) Log({.event = "x"});
      });
    }
  }
  EXPECT_EQ(lines_.size(), 400U);
}

TEST_F(LogTest, TheDefaultSinkWritesOneLineToStandardError) {
  SetLogSink(LogLevel::kInfo, nullptr);
  testing::internal::CaptureStderr();
  Log({.event = "x"});
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(line.starts_with("{\"time\":\"20")) << line;
  EXPECT_TRUE(line.ends_with("Z\",\"pid\":" + std::to_string(getpid()) +
                             ",\"level\":\"info\",\"event\":\"x\"}\n"))
      << line;
}

TEST_F(LogTest, SinkThatThrowsLosesOnlyItsLine) {
  const std::uint64_t lost = DiagnosticCounts()["log.line_lost"];
  SetLogSink(LogLevel::kInfo, [](LogLevel, const std::string&) { throw 7; });
  EXPECT_NO_THROW(Log({.event = "x"}));
  Collect(LogLevel::kInfo);
  Log({.event = "y"});
  EXPECT_EQ(DiagnosticCounts()["log.line_lost"], lost + 1);
  EXPECT_EQ(lines_, std::vector<std::string>{R"({"level":"info","event":"y"})"});
}

// A DataLoader worker is forked while another thread of its parent is in the sink.
TEST_F(LogTest, ChildForkedDuringACallCanLog) {
  int child_status = -1;
  SetLogSink(LogLevel::kInfo, [&child_status](LogLevel, const std::string&) {
    const pid_t child = fork();
    if (child == 0) {
      SetLogSink(LogLevel::kInfo, [](LogLevel, const std::string&) { _exit(7); });
      Log({.event = "child"});
      _exit(1);
    }
    waitpid(child, &child_status, 0);
  });
  Log({.event = "parent"});
  EXPECT_TRUE(WIFEXITED(child_status));
  EXPECT_EQ(WEXITSTATUS(child_status), 7);
}

TEST(ParseLogLevelTest, AcceptsOnlyTheLevelNames) {
  EXPECT_EQ(ParseLogLevel("trace"), LogLevel::kTrace);
  EXPECT_EQ(ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("info"), LogLevel::kInfo);
  EXPECT_EQ(ParseLogLevel("warning"), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("warn"), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("error"), LogLevel::kError);
  EXPECT_EQ(ParseLogLevel("off"), LogLevel::kOff);
  EXPECT_EQ(ParseLogLevel("INFO"), LogLevel::kOff);
  EXPECT_EQ(ParseLogLevel(""), LogLevel::kOff);
}

}  // namespace
}  // namespace penstock
