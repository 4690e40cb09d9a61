// penstock-emulator: serves until SIGTERM, SIGINT or SIGHUP. When it is ready, it prints one line
// of JSON to standard output, and notifies the service manager. `penstock-emulator fsck DIR` checks
// a data directory instead, and `penstock-emulator health` a running emulator.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/server/process/command_line.h"
#include "emulator/server/process/diagnostic_log.h"
#include "emulator/server/process/fsck_command.h"
#include "emulator/server/process/health_command.h"
#include "emulator/server/process/service_manager.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

constexpr int kEnvironmentFailure = 1;
constexpr int kUsageFailure = 2;

void Say(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "penstock-emulator: %s\n", message.c_str());
}

int Fail(int status, std::string message) {
  Say(std::move(message));
  return status;
}

// Connections, files and threads need descriptors. Raises the limit to this user's maximum.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void PrintReady(const Emulator& emulator) {
  nlohmann::ordered_json line;
  line["event"] = "ready";
  line["endpoint"] = emulator.endpoint();
  line["admin"] = emulator.admin_endpoint();
  line["pid"] = getpid();
  line["version"] = PENSTOCK_VERSION;
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

int CheckDirectory(const std::vector<std::string>& arguments) {
  const FsckOutcome outcome = RunFsck(arguments);
  std::fputs(outcome.out.c_str(), stdout);
  return outcome.error.empty() ? outcome.status : Fail(outcome.status, outcome.error);
}

int CheckHealth(const std::vector<std::string>& arguments) {
  const HealthOutcome outcome = RunHealth(arguments);
  std::fputs(outcome.out.c_str(), stdout);
  return outcome.error.empty() ? outcome.status : Fail(outcome.status, outcome.error);
}

int Main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "fsck")
    return CheckDirectory({argv + 2, argv + argc});
  if (argc > 1 && std::string_view(argv[1]) == "health")
    return CheckHealth({argv + 2, argv + argc});
  auto command = ParseCommandLine(argc, argv, [](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  });
  if (!command.ok()) return Fail(kUsageFailure, command.error().message);
  if (command->text) {
    std::fputs(command->text->c_str(), stdout);
    return 0;
  }
  // Blocked before the first thread starts: all threads inherit the mask, and only sigwait below
  // receives the signals.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&stop_signals, SIGHUP);  // nohup ignores it
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed peer only fails the write
  RaiseDescriptorLimit();

  if (const auto opened = StartDiagnosticLog(command->diagnostic_log); !opened.ok())
    return Fail(kUsageFailure, opened.error().message);
  auto emulator = Emulator::Start(std::move(command->options));
  if (!emulator.ok()) return Fail(kEnvironmentFailure, emulator.error().message);
  for (std::string& notice : (*emulator)->notices()) Say(std::move(notice));
  PrintReady(**emulator);
  if (const char* const manager = std::getenv("NOTIFY_SOCKET"); manager != nullptr) {
    if (const auto notified = NotifyReady(manager); !notified.ok()) Say(notified.error().message);
  }
  int received = 0;
  while (sigwait(&stop_signals, &received) != 0) {
  }
  (*emulator)->Stop();
  return 0;
}

}  // namespace
}  // namespace penstock::emulator::server

int main(int argc, char** argv) {
  try {
    return penstock::emulator::server::Main(argc, argv);
  } catch (const std::exception& failure) {  // only libraries throw, when memory runs out
    return penstock::emulator::server::Fail(penstock::emulator::server::kEnvironmentFailure,
                                            failure.what());
  }
}
