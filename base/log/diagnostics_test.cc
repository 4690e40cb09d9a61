#include "base/log/diagnostics.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/log/log.h"

namespace penstock {
namespace {

class DiagnosticsTest : public testing::Test {
 protected:
  void SetUp() override {
    SetLogSink(LogLevel::kWarning,
               [this](LogLevel, const std::string& line) { lines_.push_back(line); });
  }
  void TearDown() override { SetLogSink(LogLevel::kOff, nullptr); }

  std::vector<std::string> lines_;
};

template <class Thrown>
Error ErrorOf(Thrown thrown, std::string_view where = {}) {
  try {
    throw std::move(thrown);
  } catch (...) {
    return CurrentExceptionError(where);
  }
}

TEST_F(DiagnosticsTest, ReportsAreCountedAndLoggedOncePerSecond) {
  static constinit DiagnosticEvent event("test.counted");
  EXPECT_FALSE(DiagnosticCounts().contains("test.counted"));
  for (int i = 0; i < 100; ++i) event.Report("the first of many");
  EXPECT_EQ(DiagnosticCounts().at("test.counted"), 100U);
  ASSERT_GE(lines_.size(), 1U);
  EXPECT_LE(lines_.size(), 3U);
  EXPECT_EQ(
      lines_[0],
      R"({"level":"warning","event":"test.counted","detail":"the first of many","count":1,"suppressed":0})");
}

TEST_F(DiagnosticsTest, SecretsAreNotLogged) {
  static constinit DiagnosticEvent event("test.secret");
  event.Report("Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=abcdef");
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_[0].find("abcdef"), std::string::npos) << lines_[0];
}

TEST_F(DiagnosticsTest, CountsWithoutALog) {
  SetLogSink(LogLevel::kOff, nullptr);
  static constinit DiagnosticEvent event("test.unlogged");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 1'000; ++j) event.ReportSystemError("read x", 5);
    });
  }
  threads.clear();
  EXPECT_EQ(DiagnosticCounts().at("test.unlogged"), 4'000U);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(DiagnosticsTest, CurrentExceptionErrorNamesTheException) {
  EXPECT_EQ(ErrorOf(std::bad_alloc()).kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(ErrorOf(std::bad_alloc()).message, "out of memory");
  EXPECT_EQ(ErrorOf(std::runtime_error("no such thing")).kind, ErrorKind::kInternal);
  EXPECT_EQ(ErrorOf(std::runtime_error("no such thing")).message,
            "unexpected exception: no such thing");
  EXPECT_EQ(ErrorOf(7).message, "unexpected exception of an unknown type");
  EXPECT_EQ(ErrorOf(std::length_error("too long")).kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(ErrorOf(std::runtime_error("broken"), "the callback").message,
            "exception in the callback: broken");
  EXPECT_EQ(ErrorOf(std::bad_alloc(), "the callback").message, "out of memory in the callback");
}

}  // namespace
}  // namespace penstock
