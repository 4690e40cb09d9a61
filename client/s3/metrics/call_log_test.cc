#include "client/s3/metrics/call_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/log/log.h"
#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

class CallLogTest : public ::testing::Test {
 protected:
  ~CallLogTest() override { SetLogSink(LogLevel::kOff, nullptr); }

  void Collect(LogLevel least) {
    SetLogSink(least, [this](LogLevel, const std::string& line) { lines_.push_back(line); });
  }

  int CountOf(const std::string& text) const {
    int count = 0;
    for (const std::string& line : lines_) count += line.find(text) != std::string::npos ? 1 : 0;
    return count;
  }

  static auth::Environment With(const std::string& level) {
    auth::Environment environment = EmptyEnvironment();
    environment.variable = [level](const std::string& name) {
      return name == "PENSTOCK_LOG" ? std::optional(level) : std::nullopt;
    };
    return environment;
  }

  std::vector<std::string> lines_;
};

TEST_F(CallLogTest, TheVariableSetsTheLogLevelOfTheProcess) {
  ASSERT_TRUE(ApplyLogLevel(With("Warn")).ok());
  EXPECT_TRUE(LogEnabled(LogLevel::kWarning));
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  ASSERT_TRUE(ApplyLogLevel(With("off")).ok());
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
}

TEST_F(CallLogTest, TheVariableKeepsTheSinkOfTheProgram) {
  Collect(LogLevel::kWarning);
  ASSERT_TRUE(ApplyLogLevel(With("debug")).ok());
  EXPECT_TRUE(LogEnabled(LogLevel::kDebug));
  Log({LogLevel::kDebug, "kept", {}});
  EXPECT_EQ(CountOf("kept"), 1);
  ASSERT_TRUE(ApplyLogLevel(With("off")).ok());
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
}

TEST_F(CallLogTest, WithoutTheVariableNothingChanges) {
  Collect(LogLevel::kDebug);
  ASSERT_TRUE(ApplyLogLevel(EmptyEnvironment()).ok());
  ASSERT_TRUE(ApplyLogLevel(With("")).ok());
  EXPECT_TRUE(LogEnabled(LogLevel::kDebug));
}

TEST_F(CallLogTest, TheValueLoggingLeavesSinkAndLevelToPython) {
  Collect(LogLevel::kWarning);
  ASSERT_TRUE(ApplyLogLevel(With("Logging")).ok());
  EXPECT_TRUE(LogEnabled(LogLevel::kWarning));
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
}

TEST_F(CallLogTest, RejectsOtherValuesByName) {
  const auto applied = ApplyLogLevel(With("loud"));
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(applied.error().message,
            "PENSTOCK_LOG must be off, error, warn, info, debug or logging, not `loud`");
}

TEST_F(CallLogTest, RejectsTrace) {
  const auto applied = ApplyLogLevel(With("trace"));
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().message,
            "PENSTOCK_LOG must be off, error, warn, info, debug or logging, not `trace`");
}

TEST_F(CallLogTest, FailedAttemptsAreWarningsAndEveryAttemptIsDebug) {
  ClientUnderTest test;
  Collect(LogLevel::kDebug);
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "reset by peer")));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(
      CountOf("{\"level\":\"warning\",\"event\":\"request.throttled\",\"operation\":\"GetObject\""),
      1);
  EXPECT_EQ(CountOf("\"event\":\"request.retry\""), 1);
  EXPECT_EQ(CountOf("reset by peer"), 1);
  EXPECT_EQ(CountOf("{\"level\":\"debug\",\"event\":\"request\""), 3);
  EXPECT_EQ(CountOf("\"attempt\":3,\"status\":200"), 1);
}

TEST_F(CallLogTest, AFailedCallIsOneErrorButNotFoundIsInfo) {
  ClientUnderTest test;
  Collect(LogLevel::kInfo);
  test.transport.Expect(Refuse(403, "AccessDenied"));
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  ASSERT_FALSE(test.Get().ok());
  ASSERT_FALSE(test.Get().ok());
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_TRUE(lines_[0].starts_with("{\"level\":\"error\",\"event\":\"request.failed\""))
      << lines_[0];
  EXPECT_TRUE(lines_[1].starts_with("{\"level\":\"info\",\"event\":\"request.failed\""))
      << lines_[1];
}

// A whole signed request is logged here, and a message may repeat what a server echoes.
TEST_F(CallLogTest, LogsNoSecret) {
  ClientConfig config;
  config.credentials =
      auth::MakeStaticProvider({"AKIDEXAMPLE", "topsecretkey", "token-of-a-session", {}});
  config.endpoint_url = "http://user:password@127.0.0.1:9000";
  ClientConfig plain = config;
  plain.endpoint_url = "http://127.0.0.1:9000";
  Collect(LogLevel::kTrace);
  ClientUnderTest test(plain);
  ResolvedConfig resolved;
  resolved.client = config;
  LogClientMade(resolved.client);
  test.transport.Expect(Refuse(403, "SignatureDoesNotMatch"));
  Error echo =
      Error::Make(ErrorKind::kUnavailable,
                  "refused: X-Amz-Signature=0123abcd&X-Amz-Security-Token=token-of-a-session");
  test.transport.Expect(FakeReply::Fail(echo));
  test.transport.Expect(Object("abc"));
  ASSERT_FALSE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  ASSERT_GE(lines_.size(), 6u);
  for (const char* secret : {"topsecretkey", "token-of-a-session", "0123abcd", "user:password"}) {
    EXPECT_EQ(CountOf(secret), 0) << secret;
  }
}

}  // namespace
}  // namespace penstock::s3
