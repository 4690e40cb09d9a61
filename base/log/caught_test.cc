#include "base/log/caught.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/log/diagnostics.h"
#include "base/log/log.h"

namespace penstock {
namespace {

TEST(Caught, ExceptionBecomesAnErrorWithWhereAndWhat) {
  const Result<int> result =
      Caught("the callback", []() -> Result<int> { throw std::runtime_error("broken"); });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(result.error().message, "exception in the callback: broken");
}

TEST(Caught, OutOfMemoryIsResourceExhausted) {
  const auto ask = [](std::size_t bytes) {
    return Caught("the callback", [bytes] { std::vector<std::byte>().resize(bytes); });
  };
  EXPECT_EQ(ask(std::numeric_limits<std::size_t>::max()).error().kind,
            ErrorKind::kResourceExhausted);
  const Result<void> none = Caught("the callback", [] { throw std::bad_alloc(); });
  EXPECT_EQ(none.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(none.error().message, "out of memory in the callback");
}

TEST(Caught, CatchesObjectsThatAreNotStdExceptions) {
  EXPECT_EQ(Caught("the callback", [] { throw 7; }).error().kind, ErrorKind::kInternal);
}

TEST(Caught, PassesResultsThrough) {
  EXPECT_EQ(Caught("the callback", []() -> Result<int> { return 3; }).value(), 3);
  EXPECT_TRUE(Caught("the callback", [] {}).ok());
}

TEST(Caught, ExceptionsAreCountedAndLogged) {
  std::string logged;
  SetLogSink(LogLevel::kWarning, [&logged](LogLevel, const std::string& line) { logged = line; });
  const std::uint64_t before = CaughtExceptions();
  Contain("the observer", [] { throw std::runtime_error("broken"); });
  SetLogSink(LogLevel::kOff, nullptr);
  EXPECT_EQ(CaughtExceptions(), before + 1);
  EXPECT_EQ(DiagnosticCounts().at("exception"), CaughtExceptions());
  EXPECT_NE(
      logged.find(R"("event":"exception","detail":"exception in the observer: broken","count":)"),
      std::string::npos)
      << logged;
}

}  // namespace
}  // namespace penstock
