// The parts put together: universe, router, auth, fail rate, front, wire, admin listener.
#include "penstock/emulator.h"

#include <utility>

#include "emulator/api/router.h"
#include "emulator/auth/auth.h"
#include "emulator/faults/fail_rate.h"
#include "emulator/http/server.h"
#include "emulator/server/admin.h"
#include "emulator/server/counters.h"
#include "emulator/server/front.h"
#include "emulator/server/identities.h"
#include "emulator/server/options.h"
#include "emulator/server/request_log.h"
#include "emulator/server/universe.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator {
namespace server {
namespace {

constexpr std::chrono::seconds kGrace{5};
// On a directory a write waits for the commit it shares with others: so many can share one.
constexpr int kThreadsOnADirectory = 16;

class RunningEmulator final : public Emulator {
 public:
  explicit RunningEmulator(EmulatorOptions options) : options_(std::move(options)) {}

  ~RunningEmulator() override { Stop(); }

  // Builds from the inside out; called once, before anybody else sees the object.
  Result<void> Open() {
    if (!options_.log_path.empty()) {
      PENSTOCK_ASSIGN(log_, RequestLog::Open(options_.log_path));
    }
    PENSTOCK_ASSIGN(universe_, Universe::Open({.directory = options_.data_directory,
                                               .durability = options_.durability == DurabilityMode::kStrict
                                                                 ? store::Durability::kStrict
                                                                 : store::Durability::kRelaxed,
                                               .clock = &clock_}));
    identities_ = std::make_unique<Identities>(options_.access_keys, *universe_);
    const api::HostRules hosts = api::HostRules::Default(options_.region);
    router_ = api::MakeRouter({.region = options_.region});
    auth_ = auth::MakeAuth({.region = options_.region, .hosts = hosts, .allow_anonymous = true}, *identities_, *router_);
    fail_rate_ = faults::MakeFailRate({.rate = options_.fail_rate, .seed = options_.fail_seed}, *auth_);
    front_ = MakeFront(hosts, *identities_, counters_, *fail_rate_);
    admin_ = MakeAdmin({.stats = [this] { return stats(); }, .reset = [this] { return Reset(); }});
    return Listen();
  }

  std::string endpoint() const override {
    return EndpointUrl(options_.tls_certificate_path.empty() ? "http" : "https", options_.host, options_.port);
  }
  std::string admin_endpoint() const override {
    return options_.admin_port < 0 ? std::string() : EndpointUrl("http", options_.host, options_.admin_port);
  }
  const EmulatorOptions& options() const override { return options_; }

  EmulatorStats stats() const override {
    EmulatorStats snapshot = counters_.Snapshot();
    snapshot.injected_failures = fail_rate_->injected();
    return snapshot;
  }

  Result<void> Reset() override {
    const MutexLock lock(universe_mutex_);
    if (!universe_) return Error::Make(ErrorKind::kInvalidArgument, "the emulator is stopped and has nothing to reset");
    PENSTOCK_TRY(universe_->Reset());
    counters_.Reset();
    fail_rate_->Reset();
    return Ok();
  }

  void Stop() override {
    if (server_) server_->Stop(kGrace);
    if (admin_server_) admin_server_->Stop(kGrace);
    // Nobody asks any more: the data directory is closed and free for another emulator.
    const MutexLock lock(universe_mutex_);
    universe_.reset();
  }

 private:
  Result<void> Listen() {
    http::ServerOptions wire{.host = options_.host, .port = options_.port};
    wire.tls_certificate_path = options_.tls_certificate_path;
    wire.tls_key_path = options_.tls_key_path;
    if (!options_.data_directory.empty()) wire.min_threads = kThreadsOnADirectory;
    wire.clock = &clock_;
    wire.on_finished = [this](const api::Exchange& exchange) { Finished(exchange); };
    PENSTOCK_ASSIGN(server_, http::Server::Start(std::move(wire), *front_));
    options_.port = server_->port();
    if (options_.admin_port < 0) return Ok();
    http::ServerOptions admin{.host = options_.host, .port = options_.admin_port};
    admin.min_threads = 1;
    admin.max_threads = 8;
    PENSTOCK_ASSIGN(admin_server_, http::Server::Start(std::move(admin), *admin_));
    options_.admin_port = admin_server_->port();
    return Ok();
  }

  void Finished(const api::Exchange& exchange) {
    if (!exchange.space) counters_.CountRequest({}, exchange.response.status);  // refused by the wire itself
    counters_.CountBytes(exchange.bytes_in, exchange.bytes_out);
    if (log_) log_->Write(exchange, clock_.Now());
  }

  // In the order in which they need each other; the listeners last, so that they go first.
  const Clock& clock_ = SystemClock();
  EmulatorOptions options_;
  Counters counters_;
  std::unique_ptr<RequestLog> log_;
  Mutex universe_mutex_;  // Reset and Stop may meet; requests need no lock, they are gone when Stop takes it
  std::unique_ptr<Universe> universe_;
  std::unique_ptr<Identities> identities_;
  std::unique_ptr<api::Handler> router_;
  std::unique_ptr<api::Handler> auth_;
  std::unique_ptr<faults::FailRate> fail_rate_;
  std::unique_ptr<api::Handler> front_;
  std::unique_ptr<api::Handler> admin_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> admin_server_;
};

}  // namespace
}  // namespace server

Result<std::unique_ptr<Emulator>> Emulator::Start(EmulatorOptions options) {
  PENSTOCK_ASSIGN(EmulatorOptions checked, server::CheckedOptions(std::move(options)));
  auto emulator = std::make_unique<server::RunningEmulator>(std::move(checked));
  PENSTOCK_TRY(emulator->Open());
  return std::unique_ptr<Emulator>(std::move(emulator));
}

}  // namespace penstock::emulator
