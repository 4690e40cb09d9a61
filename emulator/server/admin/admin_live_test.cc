#include <gtest/gtest.h>

#include <list>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

class AdminLiveTest : public testing::Test {
 protected:
  static std::string Request(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  HttpResponse Get(const std::string& target) const {
    return Plain(emulator_->admin_endpoint(), "GET", target);
  }
  // Receives until `text` has arrived; all bytes so far.
  static std::string Until(const Wire& wire, const std::string& text, int times = 1) {
    std::string got;
    for (;;) {
      int found = 0;
      for (std::size_t at = got.find(text); at != std::string::npos; at = got.find(text, at + 1))
        ++found;
      if (found >= times) return got;
      const std::string more = wire.ReceiveSome();
      EXPECT_FALSE(more.empty()) << "ended after: " << got;
      if (more.empty()) return got;
      got += more;
    }
  }

  const std::unique_ptr<Emulator> emulator_ = Emulator::Start({}).value();
};

TEST_F(AdminLiveTest, SendsEventsWhileTheClientIsConnected) {
  const Wire wire(emulator_->admin_endpoint());
  wire.Send(Request("/_penstock/live?interval_ms=100"));
  const std::string got = Until(wire, "data: {", 3);
  EXPECT_NE(got.find("Content-Type: text/event-stream\r\n"), std::string::npos) << got;
  EXPECT_NE(got.find("Cache-Control: no-store\r\n"), std::string::npos) << got;
  EXPECT_NE(got.find("\"faults_active\":false"), std::string::npos) << got;
}

TEST_F(AdminLiveTest, ShowsFaultsAndLimitsOfTheNamespace) {
  ASSERT_TRUE(emulator_->CreateNamespace("suite").ok());
  ASSERT_TRUE(emulator_->SetLimits("suite", "aws-standard").ok());
  ASSERT_TRUE(emulator_->CreateRetryTest("suite", R"({"GetObject": ["slow_down"]})").ok());
  const Wire suite(emulator_->admin_endpoint());
  suite.Send(Request("/_penstock/live/suite"));
  const std::string got = Until(suite, "\n\n");
  EXPECT_NE(got.find("\"limits_active\":true,\"faults_active\":true"), std::string::npos) << got;
  const Wire other(emulator_->admin_endpoint());
  other.Send(Request("/_penstock/live"));
  EXPECT_NE(Until(other, "\n\n").find("\"limits_active\":false,\"faults_active\":false"),
            std::string::npos);
}

TEST_F(AdminLiveTest, RefusesWrongParameters) {
  for (const char* interval : {"99", "10001", "-1", "1e3", "100ms", "0x100"}) {
    const HttpResponse response = Get(std::string("/_penstock/live?interval_ms=") + interval);
    EXPECT_EQ(response.status, 400) << interval;
    EXPECT_NE(response.text.find("an integer from 100 to 10000, not '" + std::string(interval)),
              std::string::npos)
        << response.text;
  }
  EXPECT_EQ(Get("/_penstock/live?interval=100").status, 400);
  EXPECT_EQ(Get("/_penstock/live/nobody").status, 404);
  EXPECT_EQ(Plain(emulator_->admin_endpoint(), "POST", "/_penstock/live").status, 405);
}

TEST_F(AdminLiveTest, LimitsTheStreamsButServesOtherRequests) {
  std::list<Wire> wires;
  for (int i = 0; i < 16; ++i) {
    wires.emplace_back(emulator_->admin_endpoint());
    wires.back().Send(Request("/_penstock/live?interval_ms=10000"));
    Until(wires.back(), "data: {");
  }
  const HttpResponse refused = Get("/_penstock/live");
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.text.find("16 clients already receive events"), std::string::npos);
  EXPECT_NE(refused.text.find("Retry-After: 1"), std::string::npos);
  EXPECT_EQ(Get("/_penstock/stats").status, 200);
  wires.pop_front();
  // The place is free once the server has noticed that the client has left.
  for (int status = 503; status != 200;) {
    const Wire next(emulator_->admin_endpoint());
    next.Send(Request("/_penstock/live"));
    const std::string head = Until(next, "\r\n\r\n");
    status = std::atoi(head.c_str() + 9);
    ASSERT_TRUE(status == 200 || status == 503) << head;
  }
}

TEST_F(AdminLiveTest, StreamsEndWhenTheEmulatorStops) {
  const Wire wire(emulator_->admin_endpoint());
  wire.Send(Request("/_penstock/live?interval_ms=10000"));
  Until(wire, "data: {");
  const auto begin = std::chrono::steady_clock::now();
  emulator_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_TRUE(wire.Receive(std::string::npos).ends_with("0\r\n\r\n")) << "the body is complete";
}

}  // namespace
}  // namespace penstock::emulator::server
