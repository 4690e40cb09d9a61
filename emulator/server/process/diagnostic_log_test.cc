#include "emulator/server/process/diagnostic_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/log/diagnostics.h"
#include "base/log/log.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

TEST(DiagnosticLogTest, AppendsLinesReadableOnlyByTheOwner) {
  static constinit DiagnosticEvent event("test.diagnostic_log");
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(StartDiagnosticLog(path).ok());
  event.Report("what happened");
  SetLogSink(LogLevel::kOff, nullptr);
  const auto line = nlohmann::json::parse(ReadFile(path));
  EXPECT_EQ(line.at("event"), "test.diagnostic_log");
  EXPECT_EQ(line.at("detail"), "what happened");
  EXPECT_EQ(line.at("count"), 1);
  EXPECT_TRUE(line.contains("time"));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(DiagnosticLogTest, NamesAnUnwritableFile) {
  const auto refused = StartDiagnosticLog("/nonexistent/log");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "diagnostic log '/nonexistent/log' cannot be written: No such file or directory; "
            "choose a path this user may write");
}

}  // namespace
}  // namespace penstock::emulator::server
