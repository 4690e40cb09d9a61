#include "base/message_filter.h"

#include <gtest/gtest.h>

#include "base/log/log.h"
#include "penstock/base/error.h"

namespace penstock::internal {
namespace {

TEST(MessageFilterTest, ChangesErrorsAndLogRecords) {
  SetMessageFilter([](std::string text) { return text + " filtered"; });
  std::string line;
  SetLogSink(LogLevel::kInfo, [&](LogLevel, const std::string& json_line) { line = json_line; });
  Log({LogLevel::kInfo, "event", {{"text", "one"}}});
  SetLogSink(LogLevel::kOff, nullptr);
  EXPECT_NE(line.find(R"("text":"one filtered")"), std::string::npos) << line;
  EXPECT_EQ(Error::Make(ErrorKind::kInternal, "two").message, "two filtered");
  SetMessageFilter(nullptr);
  EXPECT_EQ(Error::Make(ErrorKind::kInternal, "two").message, "two");
}

}  // namespace
}  // namespace penstock::internal
