#include "penstock/emulator_gtest.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace penstock::emulator {
namespace {

// Sends a request with access key `key` and a wrong signature. Returns the first line of the
// response.
std::string FirstLine(const std::string& endpoint, const std::string& key,
                      const std::string& target) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const std::string request =
      "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: AWS " +
      key + ":c2lnbmF0dXJl\r\n\r\n";
  EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string response;
  std::array<char, 512> buffer{};
  for (ssize_t count = 0; (count = ::recv(client, buffer.data(), buffer.size(), 0)) > 0;) {
    response.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(client);
  return response.substr(0, response.find("\r\n"));
}

class FixtureTest : public EmulatorTest {
 protected:
  static void SetUpTestSuite() { SharedOptions().journal_bytes = 128 << 10; }
  std::string SendRequest(const std::string& target) {
    return FirstLine(endpoint(), access_key().id, target);
  }
};

constexpr char kOnce[] =
    R"([{"id": "once", "when": {"operation": "ListObjects"}, "do": {"slow_down": {}}, "limit": {"times": 1}}])";

// Calls the fixture's methods as GoogleTest does.
class ManualFixture final : public FixtureTest {
 public:
  using EmulatorTest::name_space;
  using EmulatorTest::Report;
  using EmulatorTest::SetUp;
  using EmulatorTest::StartFaults;
  using EmulatorTest::StartServerFaults;
  using EmulatorTest::TearDown;
  using FixtureTest::SendRequest;
  void TestBody() override {}
};

TEST_F(FixtureTest, EveryTestHasItsOwnNamespace) {
  ManualFixture other;
  other.SetUp();
  EXPECT_NE(other.name_space(), name_space());
  EXPECT_EQ(other.SendRequest("/").substr(0, 12), "HTTP/1.1 403");
  EXPECT_EQ(Journal().size(), 0u) << "the request went to the other namespace";
  other.TearDown();
  const auto names = emulator().Namespaces();
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->size(), 2u) << "the default one and that of this test";
}

TEST_F(FixtureTest, PlannedFaultHappensAndIsInTheJournal) {
  StartFaults(kOnce);
  EXPECT_EQ(SendRequest("/bucket"), "HTTP/1.1 503 Slow Down");
  EXPECT_EQ(SendRequest("/bucket").substr(0, 12), "HTTP/1.1 403");
  EXPECT_EQ(Journal().Count({.status = 503}), 1u);
  EXPECT_EQ(Journal().Count({.fault = "once"}), 1u);
}

TEST_F(FixtureTest, FailsIfAPlannedFaultNeverHappens) {
  EXPECT_NONFATAL_FAILURE(
      {
        ManualFixture unmet;
        unmet.SetUp();
        unmet.StartFaults(kOnce);
        unmet.TearDown();
      },
      "'once' fired for 0 of the 0 requests that matched");
}

constexpr char kNeverAccepted[] =
    R"([{"id": "never", "do": {"fin": {}, "at": "accept"}, "when": {"nth": 99}, "limit": {"times": 1}}])";

TEST_F(FixtureTest, FailsIfAServerFaultNeverHappensAndRemovesIt) {
  EXPECT_NONFATAL_FAILURE(
      {
        ManualFixture unmet;
        unmet.SetUp();
        unmet.StartServerFaults(kNeverAccepted);
        unmet.TearDown();
      },
      "'never' fired for 0 of the 0 requests that matched");
  EXPECT_FALSE(emulator().FaultAccount("default").ok());
  EXPECT_TRUE(emulator().CheckFaults("default").ok());
}

// Returns the failures that `body` causes under the fixture.
template <class Body>
std::vector<std::string> FailuresOf(Body body) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
    body();
  }
  std::vector<std::string> messages;
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed())
      messages.emplace_back(results.GetTestPartResult(i).message());
  }
  return messages;
}

// Runs itself in a separate process, where it is skipped.
TEST_F(FixtureTest, TestSkippedAfterStartFaultsStaysSkipped) {
  constexpr char kSkips[] = "PENSTOCK_TEST_SKIPS";
  if (std::getenv(kSkips) != nullptr) {
    StartFaults(kOnce);
    GTEST_SKIP() << "like a test with a missing requirement";
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = std::string(kSkips) + "=1 '" + program +
                              "' --gtest_filter='FixtureTest.TestSkippedAfterStartFaults*' 2>&1";
  std::FILE* const output = ::popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::string said;
  for (int c = 0; (c = std::fgetc(output)) != EOF;) said += static_cast<char>(c);
  EXPECT_EQ(::pclose(output), 0) << said;
  EXPECT_NE(said.find("[  SKIPPED ] 1 test"), std::string::npos) << said;
}

TEST_F(FixtureTest, StartsAScenarioByName) {
  StartFaults("hot-prefix");
  const auto account = emulator().FaultAccount(name_space());
  ASSERT_TRUE(account.ok());
  EXPECT_NE(account->find("hot-prefix"), std::string::npos) << *account;
  EXPECT_TRUE(emulator().ForgetFaults(name_space()).ok());
  const std::vector<std::string> failures = FailuresOf([this] { StartFaults("hot-prefixes"); });
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures[0].find("list-stampede"), std::string::npos)
      << "it must name the known scenarios: " << failures[0];
}

TEST_F(FixtureTest, ReportHasSeedFaultsAndLastRequests) {
  testing::internal::CaptureStderr();
  FailuresOf([] {
    ManualFixture unmet;
    unmet.SetUp();
    unmet.StartFaults(
        R"({"seed": 4711, "rules": [{"id": "never", "when": {"operation": "PutObject"}, "do": {"slow_down": {}}}]})");
    unmet.SendRequest("/bucket");
    unmet.Report();
    unmet.TearDown();
  });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("4711"), std::string::npos) << report;
  EXPECT_NE(report.find("never"), std::string::npos) << report;
  EXPECT_NE(report.find("GET /bucket"), std::string::npos) << report;
}

TEST_F(FixtureTest, DroppedJournalEntriesFailTheTest) {
  constexpr int kTooMany = 800;  // for a journal of 128 KiB
  for (int i = 0; i < kTooMany; ++i) SendRequest("/bucket");
  const auto reading = emulator().ReadJournal(name_space());
  ASSERT_TRUE(reading.ok());
  ASSERT_GT(reading->dropped(), 0u);
  const std::vector<std::string> failures = FailuresOf([this] { Journal(); });
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures[0].find(std::to_string(reading->dropped()) + " of the requests were dropped"),
            std::string::npos)
      << failures[0];
  EXPECT_NE(failures[0].find("journal_bytes"), std::string::npos) << failures[0];
  EXPECT_EQ(FailuresOf([&] { Journal(reading->dropped()); }).size(), 0u);
}

TEST_F(FixtureTest, EveryTestHasItsOwnClock) {
  AdvanceClock(std::chrono::hours(1));
  const auto clock = emulator().GetClock(name_space());
  ASSERT_TRUE(clock.ok());
  EXPECT_EQ(clock->offset, std::chrono::hours(1));
}

}  // namespace
}  // namespace penstock::emulator
