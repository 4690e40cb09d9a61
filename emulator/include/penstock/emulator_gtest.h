// A GoogleTest fixture with S3 for each test, in this process and without a network.
//
//   class UploadTest : public penstock::emulator::EmulatorTest {};
//
//   TEST_F(UploadTest, RetriesAfterSlowDown) {
//     StartFaults(R"([{"when": {"operation": "PutObject"},
//                      "do": {"slow_down": {}}, "limit": {"times": 2}}])");
//     Upload(endpoint(), access_key());  // the code under test
//     EXPECT_EQ(Journal().Count({.operations = {"PutObject"}}), 3u);
//   }  // fails if a planned fault has not happened
//
// Header only. Link penstock::emulator and GTest::gtest.
#ifndef PENSTOCK_EMULATOR_GTEST_H_
#define PENSTOCK_EMULATOR_GTEST_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/export.h"
#include "penstock/emulator.h"
#include "penstock/journal.h"

namespace PENSTOCK_EXPORT penstock {
namespace emulator {

// Each test has its own namespace: buckets, clock, faults, limits and journal are not shared, even
// if tests run concurrently on several threads. The first test starts the emulator, which all tests
// of the program share.
//
// Overrides of SetUp or TearDown must call these.
class EmulatorTest : public ::testing::Test {
 protected:
  // Options of the program's emulator. Change them before the first test.
  static EmulatorOptions& SharedOptions() {
    static EmulatorOptions options;
    return options;
  }
  // The program's emulator; null if it cannot start, which fails the first test that uses it.
  static Emulator* Shared() {
    static const std::unique_ptr<Emulator> emulator = [] {
      auto started = Emulator::Start(SharedOptions());
      if (!started.ok())
        ADD_FAILURE() << "the emulator cannot start: " << started.error().ToString();
      return started.ok() ? std::move(started).value() : nullptr;
    }();
    return emulator.get();
  }

  void SetUp() override {
    ASSERT_NE(Shared(), nullptr);
    static std::atomic<std::size_t> number{0};
    const std::string name = "test-" + std::to_string(number.fetch_add(1) + 1);
    auto key = Shared()->CreateNamespace(name);
    ASSERT_TRUE(key.ok()) << key.error().ToString();
    access_key_ = std::move(key).value();
    name_space_ = name;
  }

  void TearDown() override {
    if (name_space_.empty()) return;
    if (!HasFailure() && !IsSkipped()) {
      ExpectFaultsHappened(name_space_);
      if (has_server_faults_) ExpectFaultsHappened(kServer);
    }
    if (HasFailure()) Report();
    if (has_server_faults_) {
      const auto restored = Shared()->RestoreFaults(kServer);
      EXPECT_TRUE(restored.ok()) << restored.error().ToString();
    }
    const auto deleted = Shared()->DeleteNamespace(name_space_);
    EXPECT_TRUE(deleted.ok()) << deleted.error().ToString();
  }

  Emulator& emulator() const { return *Shared(); }
  std::string endpoint() const { return Shared()->endpoint(); }  // "http://127.0.0.1:43121"
  const AccessKey& access_key() const { return access_key_; }    // selects this test's namespace
  const std::string& name_space() const { return name_space_; }

  // Starts a scenario of faults in this namespace: a document, or the name of a built-in scenario
  // (docs/reference/faults.md).
  void StartFaults(const std::string& scenario) {
    const auto started = Shared()->SetFaults(name_space_, DocumentOf(scenario));
    ASSERT_TRUE(started.ok()) << started.error().message;
  }

  // Like StartFaults, for the connections of all namespaces, before a request has selected one:
  // rules at `accept`. TearDown checks these too, and restores the server's initial scenario.
  // Concurrent tests share these faults.
  void StartServerFaults(const std::string& scenario) {
    const auto started = Shared()->SetFaults(kServer, DocumentOf(scenario));
    ASSERT_TRUE(started.ok()) << started.error().message;
    has_server_faults_ = true;
  }

  // Returns the requests of the test's clients. To see only later requests, pass the last() of an
  // earlier reading as `after`. Fails the test if one of the requested entries was dropped, because
  // the result would be incomplete.
  JournalReading Journal(std::uint64_t after = 0) const {
    auto reading = Shared()->ReadJournal(name_space_);
    if (!reading.ok()) {
      ADD_FAILURE() << reading.error().ToString();
      return {};
    }
    if (const std::uint64_t dropped = reading->DroppedOf({.after = after}); dropped > 0) {
      ADD_FAILURE() << dropped
                    << " of the requests were dropped to stay within the journal's memory: raise "
                    << "SharedOptions().journal_bytes (" << SharedOptions().journal_bytes
                    << "), call ClearJournal first, or pass the number of a later request to "
                    << "Journal";
    }
    return std::move(reading).value();
  }

  // Advances this namespace's clock: dates, expiry, limits.
  void AdvanceClock(std::chrono::nanoseconds duration) {
    const auto changed = Shared()->ChangeClock(name_space_, {.advance = duration});
    EXPECT_TRUE(changed.ok()) << changed.error().ToString();
  }

  // Logs the planned faults and the last requests. TearDown calls it after a failure.
  void Report() const {
    const auto reading = Shared()->ReadJournal(name_space_);
    if (!reading.ok()) return;
    const std::uint64_t last = reading->last();
    // Includes the seed and how often each rule fired.
    const auto account = Shared()->FaultAccount(name_space_);
    std::string text =
        "S3 emulator, " +
        (account.ok() ? "faults: " + *account : std::string("no faults were planned")) + "\n";
    text += last == 0 ? "no requests\n" : "the last requests:\n";
    for (const JournalEntry& entry :
         reading->Entries({.after = last > kReported ? last - kReported : 0})) {
      text += "  " + std::to_string(entry.status) + " " + entry.method + " " + entry.target;
      text += (entry.error_code.empty() ? "" : " " + entry.error_code) +
              (entry.faults.empty() ? "" : " [" + entry.faults + "]") + "\n";
    }
    GTEST_LOG_(INFO) << text;
  }

 private:
  static constexpr std::size_t kReported = 20;
  static constexpr char kServer[] = "default";  // its rules decide about connections

  static void ExpectFaultsHappened(const std::string& name_space) {
    const auto happened = Shared()->CheckFaults(name_space);
    EXPECT_TRUE(happened.ok()) << happened.error().message;
  }

  static std::string DocumentOf(const std::string& scenario) {
    const std::size_t first = scenario.find_first_not_of(" \t\r\n");
    const bool document =
        first == std::string::npos || scenario[first] == '{' || scenario[first] == '[';
    const bool name = scenario.find_first_of("\"\\\n") == std::string::npos;
    return document || !name ? scenario : R"({"scenario": ")" + scenario + "\"}";
  }

  AccessKey access_key_;
  std::string name_space_;
  bool has_server_faults_ = false;
};

}  // namespace emulator
}  // namespace penstock

#endif  // PENSTOCK_EMULATOR_GTEST_H_
