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
      const auto health = RunHealth({"--port", PortOf(endpoint)});
      ASSERT_TRUE(health.ok()) << endpoint << ": " << health.error().message;
      EXPECT_EQ(*health, "healthy\n");
      ::setenv("PENSTOCK_EMULATOR_PORT", PortOf(endpoint).c_str(), 1);
      EXPECT_TRUE(RunHealth({}).ok());
      ::unsetenv("PENSTOCK_EMULATOR_PORT");
    }
    (*emulator)->Stop();
    const auto health = RunHealth({"--port", PortOf(endpoints.front())});
    ASSERT_FALSE(health.ok());
    EXPECT_EQ(health.error().kind, ErrorKind::kUnavailable);
    EXPECT_NE(health.error().message.find("refuses connections"), std::string::npos);
  }
}

// Asks a server that sends `response` to any request.
Result<std::string> HealthOf(std::string_view response) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  auto health =
      std::async(std::launch::async, RunHealth,
                 std::vector<std::string>{"--port", std::to_string(ntohs(address.sin_port))});
  const Descriptor peer(::accept(listener.get(), nullptr, nullptr));
  EXPECT_EQ(::send(peer.get(), response.data(), response.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(response.size()));
  ::shutdown(peer.get(), SHUT_WR);
  return health.get();
}

TEST(HealthCommandTest, OtherServersAreNotHealthy) {
  for (const std::string_view response :
       {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0\r\n", ""}) {
    const auto health = HealthOf(response);
    ASSERT_FALSE(health.ok()) << response;
    EXPECT_EQ(health.error().kind, ErrorKind::kUnavailable);
    const char* const problem = response.empty() ? "does not respond" : "not a healthy emulator";
    EXPECT_NE(health.error().message.find(problem), std::string::npos) << health.error().message;
  }
}

TEST(HealthCommandTest, RefusesWrongUsage) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--port", "0"}, {"--prot", "9000"}, {"9000"}}) {
    const auto health = RunHealth(arguments);
    ASSERT_FALSE(health.ok());
    EXPECT_EQ(health.error().kind, ErrorKind::kInvalidArgument);
  }
}

}  // namespace
}  // namespace penstock::emulator::server
