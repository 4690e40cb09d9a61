#include "emulator/server/process/health_command.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/io/descriptor.h"
#include "emulator/server/process/command_line.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {
namespace {

struct Flags {
  std::string host = "127.0.0.1";
  int port = kDefaultPort;
  bool json = false;
};

// The S3 port and the admin port serve this path without a signature. With `--admin-port -1` the S3
// port responds with an error of S3.
constexpr std::string_view kRequest =
    "GET /_localstack/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
constexpr timeval kTimeout{.tv_sec = 5, .tv_usec = 0};  // of the connection, and of each read
constexpr std::size_t kMaxResponseBytes = 64 << 10;

Error Unhealthy(const Flags& flags, const std::string& problem) {
  return Error::Make(ErrorKind::kUnavailable,
                     "port " + std::to_string(flags.port) + " of '" + flags.host + "' " + problem);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> Resolve(const Flags& flags) {
  const addrinfo hints{.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int status =
      getaddrinfo(flags.host.c_str(), std::to_string(flags.port).c_str(), &hints, &found);
  if (status != 0) return Unhealthy(flags, std::string("has no address: ") + gai_strerror(status));
  return Addresses(found, &freeaddrinfo);
}

Result<Descriptor> Connect(const Flags& flags) {
  PENSTOCK_ASSIGN(const Addresses addresses, Resolve(flags));
  int reason = 0;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    Descriptor socket(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kTimeout, sizeof kTimeout);
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof kTimeout);
    if (connect(socket.get(), address->ai_addr, address->ai_addrlen) == 0) return socket;
    reason = errno;
  }
  return Unhealthy(flags, std::string("refuses connections: ") + std::strerror(reason) +
                              "; check that the emulator runs, and --host and --port");
}

// Returns what the server sends until it closes the connection, or an incomplete response.
std::string Ask(const Descriptor& socket) {
  std::string response;
  if (send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(kRequest.size()))
    return response;
  char buffer[4096];
  for (ssize_t count; response.size() < kMaxResponseBytes &&
                      (count = read(socket.get(), buffer, sizeof buffer)) > 0;)
    response.append(buffer, static_cast<std::size_t>(count));
  return response;
}

Result<void> Check(const Flags& flags) {
  PENSTOCK_ASSIGN(const Descriptor socket, Connect(flags));
  const std::string response = Ask(socket);
  const std::string status = response.substr(0, response.find("\r\n"));
  const bool serves_health = status.starts_with("HTTP/1.1 200 ");
  const bool serves_s3 = response.find("\r\nx-amz-request-id: ") != std::string::npos;
  if (serves_health || serves_s3) return Ok();
  if (response.empty())
    return Unhealthy(flags,
                     "accepts connections but does not respond to HTTP; with --tls-cert, name the "
                     "port of the admin API");
  return Unhealthy(flags, "responds with '" + status + "', which is not a healthy emulator");
}

HealthOutcome Outcome(const Flags& flags) {
  const Result<void> checked = Check(flags);
  HealthOutcome outcome{.status = checked.ok() ? 0 : 1,
                        .out = checked.ok() ? "healthy\n" : "",
                        .error = checked.ok() ? "" : checked.error().message};
  if (!flags.json) return outcome;
  nlohmann::ordered_json document{
      {"healthy", checked.ok()}, {"host", flags.host}, {"port", flags.port}};
  if (!checked.ok()) document["problem"] = outcome.error;
  // The server's status line may have bytes that are not UTF-8.
  using Json = nlohmann::ordered_json;
  outcome.out = document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return outcome;
}

}  // namespace

HealthOutcome RunHealth(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Asks a running emulator whether it serves. Exit status: 0 healthy, 1 not healthy, 2 wrong "
      "usage.",
      "penstock-emulator health");
  Flags flags;
  app.add_option("--host", flags.host, "address of the emulator")
      ->envname(VariableOf("host"))
      ->capture_default_str();
  app.add_option("--port", flags.port,
                 "port for S3 without TLS, or port of the admin API; 1 to 65535")
      ->check(CLI::Range(1, 65535))
      ->envname(VariableOf("port"))
      ->capture_default_str();
  app.add_flag("--json", flags.json, "print one JSON object");
  try {
    // CLI11 expects the arguments in reverse order.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return {.out = app.help()};
  } catch (const CLI::ParseError& error) {
    return {.status = 2, .error = error.what()};
  }
  return Outcome(flags);
}

}  // namespace penstock::emulator::server
