// Bandwidth faults over real sockets: they limit all bodies, small ones too, and end with the
// scenario or request that set them.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/log/diagnostics.h"
#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::milliseconds;

class FaultPacesTest : public FaultsTest {
 protected:
  FaultPacesTest() { SendRequest("PUT", "/bucket/40k", std::string(40'000, 'x')); }

  // Time of a response of 40,000 bytes on `wire`, from the request to the last byte.
  static std::chrono::steady_clock::duration Time(const Wire& wire,
                                                  const std::string& headers = {}) {
    const auto begin = std::chrono::steady_clock::now();
    wire.Send("GET /bucket/40k HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
      const std::string byte = wire.Receive(1);
      if (byte.empty()) break;
      head += byte;
    }
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
    EXPECT_EQ(wire.Receive(40'000), std::string(40'000, 'x'));
    return std::chrono::steady_clock::now() - begin;
  }
};

constexpr milliseconds kPaced{200};  // 40,000 bytes at 200,000 bytes/s
constexpr milliseconds kQuick{150};

TEST_F(FaultPacesTest, ApplyToSmallBodiesInEveryScope) {
  for (const std::string scope : {"request", "connection", "client", "bucket", "server"}) {
    SetAction(R"({"bandwidth": {"bytes_per_second": 200000, "scope": ")" + scope + "\"}}");
    const Wire wire(emulator_->endpoint());
    EXPECT_GE(Time(wire), kPaced) << scope;
  }
}

TEST_F(FaultPacesTest, ApplyToAConnectionWhileTheScenarioRuns) {
  SetAction(R"({"bandwidth": {"bytes_per_second": 200000, "scope": "connection"}})");
  const Wire wire(emulator_->endpoint());
  EXPECT_GE(Time(wire), kPaced);
  EXPECT_GE(Time(wire), kPaced);
  ASSERT_TRUE(emulator_->ClearFaults("default").ok());
  EXPECT_LT(Time(wire), kQuick) << "the scenario has ended";
  SetAction(R"({"bandwidth": {"bytes_per_second": 200000, "scope": "connection"}})");
  EXPECT_GE(Time(wire), kPaced);
  SetAction(R"({"header_lie": {"set": {"a": "b"}}})");
  EXPECT_LT(Time(wire), kQuick) << "another scenario has replaced it";
}

TEST_F(FaultPacesTest, EndWithTheRequestThatSetThem) {
  const Wire wire(emulator_->endpoint());
  for (const std::string scope : {"request", "connection"}) {
    EXPECT_GE(
        Time(wire, R"(x-penstock-fault: {"bandwidth": {"bytes_per_second": 200000, "scope": ")" +
                       scope + "\"}}\r\n"),
        kPaced)
        << scope;
    EXPECT_LT(Time(wire), kQuick) << scope;
  }
}

TEST_F(FaultPacesTest, ApplyToUploads) {
  SetAction(R"({"bandwidth": {"bytes_per_second": 200000}, "at": "body_in"})");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(SendRequest("PUT", "/bucket/new", std::string(40'000, 'x')).status(), 200);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kPaced);
}

// More uploads than the server has threads (http::ServerOptions::max_threads).
TEST_F(FaultPacesTest, ApplyToThreeHundredConcurrentUploads) {
  SetAction(R"({"bandwidth": {"bytes_per_second": 200000}, "at": "body_in"})");
  constexpr int kUploads = 300;
  std::array<std::chrono::steady_clock::duration, kUploads> taken{};
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kUploads; ++i) {
      clients.emplace_back([&, i] {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(
            SendRequest("PUT", "/bucket/" + std::to_string(i), std::string(40'000, 'x')).status(),
            200);
        taken[i] = std::chrono::steady_clock::now() - begin;
      });
    }
  }
  EXPECT_GE(*std::min_element(taken.begin(), taken.end()), kPaced);
}

// The server stores further bodies before it calls a handler (http::ConnectionQuotas).
TEST_F(FaultPacesTest, StoredBodiesAreReportedAsNotPaced) {
  SetAction(R"({"bandwidth": {"bytes_per_second": 10000000}, "at": "body_in"})");
  const std::string body(1 << 20, 'x');
  const auto reported = [] { return DiagnosticCounts()["wire.body_not_paced"]; };
  const std::uint64_t before = reported();
  EXPECT_EQ(SendRequest("PUT", "/bucket/paced", body).status(), 200);
  EXPECT_EQ(reported(), before);
  std::vector<std::unique_ptr<Wire>> slow;
  for (int i = 0; i < 128; ++i) {  // half of the server's threads
    slow.push_back(std::make_unique<Wire>(emulator_->endpoint()));
    slow.back()->Send("PUT /bucket/" + std::to_string(i) +
                      " HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                      "Content-Length: 1\r\n\r\n");
    EXPECT_EQ(slow.back()->Receive(25), "HTTP/1.1 100 Continue\r\n\r\n") << "a handler reads";
  }
  EXPECT_EQ(SendRequest("PUT", "/bucket/stored", body).status(), 200);
  EXPECT_EQ(reported(), before + 1);
}

}  // namespace
}  // namespace penstock::emulator::server
