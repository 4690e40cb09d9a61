#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"
#include "penstock/simulate.h"

namespace penstock::emulator::server {
namespace {

constexpr std::size_t kPlaces = 2;
constexpr char kShortJob[] = R"({"ranks": 4, "file_bytes": 1})";
// 4.6 million requests, most of them refused several times.
constexpr char kLongJob[] =
    R"({"ranks": 65536, "rounds": 70, "file_bytes": 1, "limits": "aws-strict", "client": "crt"})";

class AdminSimulateTest : public testing::Test {
 protected:
  static std::string Request(const std::string& job) {
    return "POST /_penstock/simulate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
           "Content-Length: " +
           std::to_string(job.size()) + "\r\n\r\n" + job;
  }
  HttpResponse Simulate(const std::string& job) const {
    return Exchange(emulator_->admin_endpoint(), Request(job));
  }
  static nlohmann::json BodyOf(const HttpResponse& response) {
    return nlohmann::json::parse(response.text.substr(response.text.find("\r\n\r\n") + 4));
  }
  void Begin() {
    running_.push_back(std::make_unique<Wire>(emulator_->admin_endpoint()));
    running_.back()->Send(Request(kLongJob));
  }
  bool StatusBecomes(int wanted) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < end) {
      if (Simulate(kShortJob).status == wanted) return true;
    }
    return false;
  }

  const std::unique_ptr<Emulator> emulator_ = Emulator::Start({}).value();
  std::vector<std::unique_ptr<Wire>> running_;
};

TEST_F(AdminSimulateTest, ReturnsTheReport) {
  const HttpResponse response = Simulate(kShortJob);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(BodyOf(response), nlohmann::json::parse(SimulateJson(kShortJob).value()));
}

TEST_F(AdminSimulateTest, NamesInvalidMembersAndLimits) {
  const auto error = [&](const std::string& job) {
    const HttpResponse response = Simulate(job);
    EXPECT_EQ(response.status, 400) << job;
    return BodyOf(response).at("error").get<std::string>();
  };
  EXPECT_EQ(error(R"({"ranks": 0})"), "ranks must be 1 to 65536, not 0");
  EXPECT_EQ(error(R"({"ranks": 50000, "rounds": 100, "file_bytes": 1})"),
            "the job has 5000100 requests, and the limit is 5000000: use fewer ranks, files or "
            "rounds");
  EXPECT_EQ(error(R"({"ranks": 1001, "connections_per_rank": 1000, "file_bytes": 1})"),
            "the job has 1001000 connections (ranks times connections_per_rank), and the limit is "
            "1000000: use fewer");
}

TEST_F(AdminSimulateTest, AtMostTwoRunAndAClientThatLeavesEndsItsOwn) {
  while (running_.size() < kPlaces) Begin();
  // A request of StatusBecomes may have taken the place of a long one, which was then refused.
  bool full = StatusBecomes(503);
  for (; !full && running_.size() < 2 * kPlaces; full = StatusBecomes(503)) Begin();
  ASSERT_TRUE(full);
  const HttpResponse refused = Simulate(kShortJob);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.text.find("Retry-After: 1"), std::string::npos);
  EXPECT_EQ(BodyOf(refused).at("error"),
            "2 simulations already run, which is the limit; retry later");
  const auto left = std::chrono::steady_clock::now();
  running_.clear();
  EXPECT_TRUE(StatusBecomes(200));
  EXPECT_LT(std::chrono::steady_clock::now() - left, std::chrono::seconds(10))
      << "a long job takes 14 s of CPU time";
}

TEST_F(AdminSimulateTest, EndsWithTheEmulator) {
  while (running_.size() < kPlaces) Begin();
  bool full = StatusBecomes(503);
  for (; !full && running_.size() < 2 * kPlaces; full = StatusBecomes(503)) Begin();
  ASSERT_TRUE(full);
  emulator_->Stop();  // without a response if the simulation outlasts the grace period of 5 s
  const HttpResponse response = running_.back()->Finish();
  ASSERT_EQ(response.status, 503);
  EXPECT_EQ(BodyOf(response).at("error"),
            "the emulator is stopping and has cancelled the simulation");
}

}  // namespace
}  // namespace penstock::emulator::server
