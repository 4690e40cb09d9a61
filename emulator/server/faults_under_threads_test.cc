// Faults with many threads: limits are exact, and only the seed decides.
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

using std::string;

constexpr int kThreads = 8;

class FaultsUnderThreadsTest : public FaultsTest {
 protected:
  template <class Work>
  static void InThreads(Work work) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&work, i] { work(i); });
  }
};

// Every action once, at its default stage unless specified.
const std::vector<std::pair<string, string>>& Actions() {
  static const std::vector<std::pair<string, string>> actions{
      {"error", "{}"},
      {"slow_down", "{}"},
      {"late_error", R"({"after_ms": 2, "every_ms": 1})"},
      {"reset", "{}"},
      {"fin", "{}"},
      {"half_close", "{}"},
      {"black_hole", R"({"ms": 2})"},
      {"stall", R"({"ms": 2})"},
      {"drip", R"({"bytes": 5, "every_ms": 1})"},
      {"bandwidth", R"({"bytes_per_second": 100000})"},
      {"latency", R"({"ms": 2})"},
      {"corrupt", "{}"},
      {"truncate", "{}"},
      {"header_lie", R"({"drop": ["ETag"]})"},
      {"redirect", "{}"},
      {"expect_100", R"({"mode": "refuse"})"},
      {"credentials", "{}"},
      {"clock_skew", R"({"ahead_s": 86400})"}};
  return actions;
}

TEST_F(FaultsUnderThreadsTest, RuleLimitedToTwiceFiresExactlyTwice) {
  for (const auto& [name, fields] : Actions()) {
    Set(R"([{"do": {")" + name + "\": " + fields + R"(}, "limit": {"times": 2}}])");
    const string headers = name == "expect_100" ? "Expect: 100-continue\r\n" : "";
    std::atomic<int> spared{0};
    InThreads([&](int) {
      for (int i = 0; i < 5; ++i)
        spared += Get(headers).text.ends_with("\r\n\r\n0123456789") ? 1 : 0;
    });
    const auto account = Account();
    EXPECT_EQ(account.at("fired"), 2) << name;
    EXPECT_EQ(account.at("complete"), true) << name;
    EXPECT_EQ(account.at("rules")[0].at("request_ids").size(), 2U) << name;
    EXPECT_GE(spared, kThreads * 5 - 2) << name;
  }
}

TEST_F(FaultsUnderThreadsTest, PartialFailureLimitedToTwiceFiresExactlyTwice) {
  Set(R"([{"do": {"partial_failure": {"entries": "2-3"}}, "limit": {"times": 2}}])");
  std::atomic<int> entries{0};
  InThreads([&](int) {
    for (int i = 0; i < 5; ++i) {
      const string response = DeleteThree().text;
      for (std::size_t at = 0; (at = response.find("<Error>", at)) != string::npos; ++at) ++entries;
    }
  });
  EXPECT_EQ(entries, 4);
  EXPECT_EQ(Account().at("fired"), 2);
  EXPECT_EQ(Account().at("complete"), true);
}

TEST_F(FaultsUnderThreadsTest, CommitFaultLimitedToTwiceFiresExactlyTwice) {
  ASSERT_TRUE(emulator_->ChangeClock("default", {.frozen = true}).ok());
  for (const string action :
       {R"({"duplicate_apply": {}})", R"({"commit_partial": {"bytes": 3, "unlike_s3": true}})",
        R"({"delay_visibility": {"ms": 1000, "unlike_s3": true}})"}) {
    Set(R"([{"do": )" + action + R"(, "limit": {"times": 2}}])");
    InThreads([&](int thread) {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(SendRequest("PUT", "/bucket/" + std::to_string(thread) + "-" + std::to_string(i),
                              "0123456789")
                      .status(),
                  200)
            << action;
      }
    });
    EXPECT_EQ(Account().at("fired"), 2) << action;
    EXPECT_EQ(Account().at("complete"), true) << action;
    ASSERT_TRUE(emulator_->ClearFaults("default").ok());
  }
}

TEST_F(FaultsUnderThreadsTest, StaleReadLimitedToTwiceFiresExactlyTwice) {
  Set(R"([{"do": {"corrupt": {"mode": "stale-version"}}, "limit": {"times": 2}}])");
  ASSERT_EQ(SendRequest("PUT", "/bucket/key", "abcdefghij").status(), 200);
  std::atomic<int> stale{0};
  InThreads([&](int) {
    for (int i = 0; i < 5; ++i) stale += Get().text.ends_with("\r\n\r\n0123456789") ? 1 : 0;
  });
  EXPECT_EQ(stale, 2);
  EXPECT_EQ(Account().at("fired"), 2);
}

TEST_F(FaultsUnderThreadsTest, OnlyTheSeedSelectsTheRequests) {
  std::vector<std::set<string>> failed;
  for (const int seed : {7, 7, 8}) {
    Set(R"({"seed": )" + std::to_string(seed) +
        R"(, "rules": [{"do": {"slow_down": {}}, "when": {"probability": 0.3}}]})");
    std::vector<std::set<string>> each(kThreads);
    InThreads([&](int thread) {
      for (int i = 0; i < 25; ++i) {
        const string target = "/bucket/" + std::to_string(thread) + "-" + std::to_string(i);
        for (int attempt = 1; attempt <= 2; ++attempt) {
          if (SendRequest("GET", target).status() == 503)
            each[static_cast<std::size_t>(thread)].insert(target + " " + std::to_string(attempt));
        }
      }
    });
    failed.emplace_back();
    for (std::set<string>& some : each) failed.back().merge(some);
    EXPECT_EQ(Account().at("fired"), failed.back().size());
  }
  EXPECT_EQ(failed[0], failed[1]);
  EXPECT_NE(failed[0], failed[2]);
  EXPECT_GT(failed[0].size(), 60U);
  EXPECT_LT(failed[0].size(), 180U);
}

TEST_F(FaultsUnderThreadsTest, RetryDuringAPauseCountsAsAFailedAttempt) {
  for (const char* at : {"headers", "before_commit", "after_commit", "status"}) {
    Set(R"([{"do": {"stall": {"ms": 3600000}, "at": ")" + std::string(at) +
        R"("}, "when": {"unless_failed": 1}}])");
    const Wire wire(emulator_->endpoint());
    wire.Send("GET /bucket/key HTTP/1.1\r\nHost: localhost\r\namz-sdk-invocation-id: i\r\n\r\n");
    while (Fired() == 0) std::this_thread::yield();
    EXPECT_EQ(Get("amz-sdk-invocation-id: i\r\n").status(), 200) << at;
  }
}

TEST_F(FaultsUnderThreadsTest, StopEndsPausesBeforeAnOperation) {
  for (const string at : {"headers", "before_commit"}) {
    const auto emulator = Emulator::Start({.auth = AuthMode::kOff}).value();
    Plain(emulator->endpoint(), "PUT", "/bucket");
    ASSERT_TRUE(
        emulator
            ->SetFaults("default", R"([{"do": {"stall": {"ms": 3600000}, "at": ")" + at + "\"}}]")
            .ok());
    const Wire wire(emulator->endpoint());
    wire.Send("GET /bucket HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (nlohmann::json::parse(emulator->FaultAccount("default").value()).at("fired") != 1)
      std::this_thread::yield();
    const auto began = std::chrono::steady_clock::now();
    emulator->Stop();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(4)) << at;
  }
}

}  // namespace
}  // namespace penstock::emulator::server
