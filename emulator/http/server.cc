#include "emulator/http/server.h"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "emulator/http/connection/request_ids.h"
#include "emulator/http/engine.h"
#include "emulator/http/listener.h"
#include "emulator/http/socket/tls.h"

namespace penstock::emulator::http {
namespace {

Result<void> Check(const ServerOptions& options) {
  const auto invalid = [](std::string message) {
    return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
  };
  if (options.port < 0 || options.port > 65'535) {
    return invalid("port must be 0 (any free port) to 65535, not " + std::to_string(options.port));
  }
  if (options.tls_certificate_path.empty() != options.tls_key_path.empty()) {
    return invalid("TLS needs both a certificate and a key file; only one was given");
  }
  if (options.min_threads < 0 || options.max_threads < std::max(options.min_threads, 1)) {
    return invalid(
        "0 <= min_threads <= max_threads and 1 <= max_threads must hold, but min_threads is " +
        std::to_string(options.min_threads) + " and max_threads is " +
        std::to_string(options.max_threads));
  }
  if (options.max_head_bytes < 1024 || options.max_head_bytes > 16 << 20) {
    return invalid("max_head_bytes must be 1024 to 16777216, not " +
                   std::to_string(options.max_head_bytes));
  }
  if (options.idle_timeout.count() <= 0 || options.progress_timeout.count() <= 0) {
    return invalid("idle_timeout and progress_timeout must be above zero");
  }
  return Ok();
}

// Each waiting thread costs a context switch per request: on 2 processors, 4 threads reach half of
// the throughput of 2.
int ThreadsForProcessors() {
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 2);
}

class WireServer final : public Server {
 public:
  WireServer() : ids_(RandomSeed()), pid_(::getpid()) {}

  ~WireServer() override {
    if (::getpid() == pid_) {
      Stop(std::chrono::milliseconds(0));
      return;
    }
    // In a forked child the threads, the epoll set and the connections belong to the parent. The
    // child leaks its copies so that it does not disturb them.
    static_cast<void>(listener_.release());
    static_cast<void>(engine_.release());
  }

  Result<void> Open(ServerOptions options, message::Handler& handler) {
    EngineOptions engine;
    if (!options.tls_certificate_path.empty()) {
      PENSTOCK_ASSIGN(engine.tls,
                      TlsContext::Create(options.tls_certificate_path, options.tls_key_path));
    }
    engine.min_threads =
        std::min(options.min_threads > 0 ? options.min_threads : ThreadsForProcessors(),
                 options.max_threads);
    engine.max_threads = options.max_threads;
    engine.retire_after = options.retire_after;
    engine.yield_to_clients = options.yield_to_clients;
    engine.response_bytes = options.response_bytes;
    engine.body_directory = std::move(options.body_directory);
    engine.connection.handler = &handler;
    engine.connection.clock = options.clock != nullptr ? options.clock : &SystemClock();
    engine.connection.ids = &ids_;
    engine.connection.limits.max_head_bytes = options.max_head_bytes;
    engine.connection.idle_timeout = options.idle_timeout;
    engine.connection.progress_timeout = options.progress_timeout;
    engine.on_accept = std::move(options.on_accept);
    engine.connection.on_ending = std::move(options.on_ending);
    engine.connection.on_finished = std::move(options.on_finished);
    PENSTOCK_ASSIGN(engine_, Engine::Start(std::move(engine)));
    PENSTOCK_ASSIGN(listener_, Listener::Start(options.host, options.port,
                                               [this](int fd) { engine_->Add(fd); }));
    return Ok();
  }

  int port() const override { return listener_->port(); }
  std::size_t open_connections() const override { return engine_->connections(); }

  void Stop(std::chrono::milliseconds grace) override {
    if (::getpid() != pid_) return;
    if (listener_ != nullptr) listener_->Stop();
    if (engine_ != nullptr) engine_->Stop(grace);
  }

 private:
  static std::uint64_t RandomSeed() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }

  RequestIdSource ids_;
  const pid_t pid_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, message::Handler& handler) {
  PENSTOCK_TRY(Check(options));
  auto server = std::make_unique<WireServer>();
  PENSTOCK_TRY(server->Open(std::move(options), handler));
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace penstock::emulator::http
