#include "emulator/server/process/health_command.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/io/descriptor.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

std::string PortOf(const std::string& endpoint) { return endpoint.substr(endpoint.rfind(':') + 1); }

TEST(HealthCommandTest, EveryPortOfAnEmulatorIsHealthyUntilItStops) {
  for (const int admin_port : {0, -1}) {
    EmulatorOptions options;
    options.admin_port = admin_port;
    options.fail_rate = 1;
    auto emulator = Emulator::Start(std::move(options));
    ASSERT_TRUE(emulator.ok());
    std::vector<std::string> endpoints{(*emulator)->endpoint()};
    if (admin_port == 0) endpoints.push_back((*emulator)->admin_endpoint());
    for (const std::string& endpoint : endpoints) {
      const HealthOutcome health = RunHealth({"--port", PortOf(endpoint)});
      EXPECT_EQ(health.status, 0) << endpoint << ": " << health.error;
      EXPECT_EQ(health.out, "healthy\n");
      const HealthOutcome json = RunHealth({"--json", "--port", PortOf(endpoint)});
      EXPECT_EQ(json.out,
                R"({"healthy":true,"host":"127.0.0.1","port":)" + PortOf(endpoint) + "}\n");
      ::setenv("PENSTOCK_EMULATOR_PORT", PortOf(endpoint).c_str(), 1);
      EXPECT_EQ(RunHealth({}).status, 0);
      ::unsetenv("PENSTOCK_EMULATOR_PORT");
    }
    (*emulator)->Stop();
    const HealthOutcome health = RunHealth({"--json", "--port", PortOf(endpoints.front())});
    EXPECT_EQ(health.status, 1);
    EXPECT_NE(health.error.find("refuses connections"), std::string::npos);
    const auto document = nlohmann::json::parse(health.out);
    EXPECT_EQ(document.at("healthy"), false);
    EXPECT_EQ(document.at("problem"), health.error);
  }
}

// Asks a server that sends `response` to any request.
HealthOutcome HealthOf(std::string_view response) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  auto health = std::async(
      std::launch::async, RunHealth,
      std::vector<std::string>{"--json", "--port", std::to_string(ntohs(address.sin_port))});
  const Descriptor peer(::accept(listener.get(), nullptr, nullptr));
  EXPECT_EQ(::send(peer.get(), response.data(), response.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(response.size()));
  ::shutdown(peer.get(), SHUT_WR);
  return health.get();
}

TEST(HealthCommandTest, OtherServersAreNotHealthy) {
  for (const std::string_view response :
       {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0\xff\r\n", ""}) {
    const HealthOutcome health = HealthOf(response);
    EXPECT_EQ(health.status, 1) << response;
    EXPECT_EQ(nlohmann::json::parse(health.out).at("healthy"), false);
    const char* const problem = response.empty() ? "does not respond" : "not a healthy emulator";
    EXPECT_NE(health.error.find(problem), std::string::npos) << health.error;
  }
}

TEST(HealthCommandTest, RefusesWrongUsage) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--port", "0"}, {"--prot", "9000"}, {"9000"}}) {
    const HealthOutcome health = RunHealth(arguments);
    EXPECT_EQ(health.status, 2);
    EXPECT_FALSE(health.error.empty());
  }
}

}  // namespace
}  // namespace penstock::emulator::server
