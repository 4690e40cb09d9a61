// Assembles the emulator: namespaces and users, router, auth, fail rate, front, HTTP server, admin
// listener.
#include "penstock/emulator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/log/diagnostics.h"
#include "emulator/auth/auth.h"
#include "emulator/events/notifying_store.h"
#include "emulator/faults/actions/accept_faults.h"
#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/fail_rate.h"
#include "emulator/faults/fault_filters.h"
#include "emulator/faults/rules/connection_rules.h"
#include "emulator/http/server.h"
#include "emulator/identity/sts/sts.h"
#include "emulator/journal/journal_writer.h"
#include "emulator/s3/core/document_memory.h"
#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/dispatch/router.h"
#include "emulator/server/accept_decision_for.h"
#include "emulator/server/admin/admin.h"
#include "emulator/server/admin/metadata.h"
#include "emulator/server/control.h"
#include "emulator/server/explain.h"
#include "emulator/server/front.h"
#include "emulator/server/namespaces/controls.h"
#include "emulator/server/namespaces/data_directory.h"
#include "emulator/server/process/counters.h"
#include "emulator/server/process/options.h"
#include "emulator/server/request_log.h"
#include "emulator/store/system/held_directory.h"
#include "emulator/store/system/memory_limit.h"
#include "emulator/traffic/throttle_filter.h"
#include "penstock/base/shared_mutex.h"

namespace penstock::emulator {
namespace server {
namespace {

constexpr std::chrono::seconds kGrace{5};

auth::Mode ModeOf(AuthMode mode) {
  switch (mode) {
    case AuthMode::kVerify: return auth::Mode::kVerify;
    case AuthMode::kParse: return auth::Mode::kParse;
    case AuthMode::kOff: return auth::Mode::kOff;
  }
  return auth::Mode::kVerify;
}

// The memory of objects without a data directory; of request documents, fault scenarios and
// namespaces always. An explicit limit is an emulator's own; the default belongs to the process,
// whose memory it is.
std::shared_ptr<store::MemoryLimit> MemoryLimitOf(const EmulatorOptions& options) {
  if (options.memory_limit_bytes == 0) return store::MemoryLimit::ForProcess();
  return std::make_shared<store::MemoryLimit>(options.memory_limit_bytes);
}

std::optional<std::uint64_t> PartitionOf(const s3::Exchange& exchange) {
  traffic::RateLimiter* const limiter = LimiterOf(exchange);
  const auto throttle = limiter != nullptr ? limiter->Current() : nullptr;
  const auto cost = throttle ? traffic::CostOf(exchange) : std::nullopt;
  return cost ? throttle->PartitionOf(exchange.target.bucket.value, cost->key) : std::nullopt;
}

std::string NewRetryTestId() {
  std::array<std::byte, 8> random;
  RandomBytes(random);
  return HexEncode(random);
}

class RunningEmulator final : public Emulator {
 public:
  explicit RunningEmulator(EmulatorOptions options) : options_(std::move(options)) {}

  ~RunningEmulator() override { Stop(); }

  // Called once, before the object is shared.
  Result<void> Open() {
    if (!options_.log_path.empty()) {
      PENSTOCK_ASSIGN(log_, RequestLog::Open(options_.log_path));
    }
    const auto bucket_names = options_.relaxed_bucket_names ? s3::BucketNameRules::kRelaxed
                                                            : s3::BucketNameRules::kCurrent;
    router_options_ = {.region = options_.region,
                       .bucket_names = bucket_names,
                       .authorization = options_.authorization == AuthorizationMode::kOn
                                            ? s3::AuthorizationMode::kOn
                                            : s3::AuthorizationMode::kOff};
    router_ = s3::MakeRouter(router_options_);
    operations_ = faults::MakeDuplicateApply(*router_, memory_limit_);
    if (!options_.data_directory.empty()) {
      PENSTOCK_ASSIGN(notices_, DataDirectory::Prepare(options_.data_directory));
      PENSTOCK_ASSIGN(directory_, store::HeldDirectory::Open(options_.data_directory));
    }
    EmulatorOptions held = options_;
    held.data_directory = DirectoryPath();
    PENSTOCK_ASSIGN(control_, Control::Open(held, memory_limit_, clock_, *router_));
    const std::vector<std::string> decided = control_->notices();
    notices_.insert(notices_.end(), decided.begin(), decided.end());
    identity::Identities& identities = control_->identities();
    metadata_.emplace(identities, options_.region);
    // Clients that may not use the admin API must not request faults by a header either.
    const faults::FaultFilterOptions faults{.registry_of = RegistryOf,
                                            .partition_of = PartitionOf,
                                            .pauses = &pauses_,
                                            .by_header = options_.admin_token.empty(),
                                            .memory_limit = memory_limit_};
    MakeAdminHandlers(identities);
    auto fail_rate = faults::MakeFailRate({.rate = options_.fail_rate, .seed = options_.fail_seed});
    fail_rate_ = fail_rate.get();
    chain_.emplace(
        *operations_, journal::MakeInFlightTracker(JournalOf),
        MakeFront({.hosts = s3::HostRules::Default(options_.region),
                   .by_claim = options_.auth != AuthMode::kOff,
                   .aliases = options_.admin_port < 0 ? nullptr : aliases_.get()},
                  identities, counters_),
        faults::MakeFaults(faults),
        faults::MakeFirstByteDelay(std::chrono::milliseconds(options_.first_byte_delay_ms)),
        std::move(fail_rate),
        auth::MakeAuth(
            {.mode = ModeOf(options_.auth), .region = options_.region, .allow_anonymous = true},
            identities),
        traffic::MakeThrottle(LimiterOf, upload_paces_), faults::MakeCommitFaults(faults),
        identity::MakeSts({.policies = options_.authorization == AuthorizationMode::kOn
                                           ? identity::IdentityPolicies::kEvaluated
                                           : identity::IdentityPolicies::kIgnored},
                          identities),
        s3::MakeDocumentMemory(memory_limit_), events::MakeNotifier());
    return Listen();
  }

  std::string endpoint() const override {
    return EndpointUrl(options_.tls_certificate_path.empty() ? "http" : "https", options_.host,
                       options_.port);
  }
  std::string admin_endpoint() const override {
    return options_.admin_port < 0 ? std::string()
                                   : EndpointUrl("http", options_.admin_host, options_.admin_port);
  }
  const EmulatorOptions& options() const override { return options_; }
  std::vector<std::string> notices() const override { return notices_; }

  EmulatorStats stats() const override {
    EmulatorStats snapshot = counters_.Snapshot();
    snapshot.injected_failures = fail_rate_->injected();
    snapshot.diagnostics = DiagnosticCounts();
    return snapshot;
  }

  Result<EmulatorGauges> gauges() const override {
    return WithControl([this](Control& control) -> Result<EmulatorGauges> {
      return EmulatorGauges{.started = started_,
                            .namespaces = control.Names().size(),
                            .open_connections = server_->open_connections(),
                            .memory_used_bytes = memory_limit_->used_bytes(),
                            .memory_limit_bytes = memory_limit_->limit_bytes(),
                            .journal_bytes = control.JournalMemory()};
    });
  }

  Result<void> Reset() override {
    return WithControl([this](Control& control) -> Result<void> {
      PENSTOCK_TRY(control.ResetAll());
      counters_.Reset();
      fail_rate_->Reset();
      return Ok();
    });
  }

  Result<std::vector<std::string>> Namespaces() const override {
    return WithControl(
        [](Control& control) -> Result<std::vector<std::string>> { return control.Names(); });
  }
  Result<AccessKey> CreateNamespace(const std::string& name) override {
    return WithControl([&](Control& control) { return control.CreateNamespace(name); });
  }
  Result<void> DeleteNamespace(const std::string& name) override {
    return WithControl([&](Control& control) { return control.DeleteNamespace(name); });
  }
  Result<void> ResetNamespace(const std::string& name) override {
    return WithControl([&](Control& control) { return control.ResetNamespace(name); });
  }

  Result<ClockState> GetClock(const std::string& name_space) const override {
    return WithControl([&](Control& control) { return control.GetClock(name_space); });
  }
  Result<ClockState> ChangeClock(const std::string& name_space,
                                 const ClockChange& change) override {
    return WithControl([&](Control& control) { return control.ChangeClock(name_space, change); });
  }
  Result<ClockState> RestoreClock(const std::string& name_space) override {
    return WithControl([&](Control& control) { return control.RestoreClock(name_space); });
  }

  Result<JournalReading> ReadJournal(const std::string& name_space) const override {
    return WithControl([&](Control& control) { return control.ReadJournal(name_space); });
  }
  Result<JournalReading> AwaitJournal(const std::string& name_space, std::uint64_t after,
                                      std::chrono::milliseconds wait) const override {
    return WithControl(
        [&](Control& control) { return control.AwaitJournal(name_space, after, wait); });
  }
  Result<void> ClearJournal(const std::string& name_space) override {
    return WithControl([&](Control& control) { return control.ClearJournal(name_space); });
  }
  Result<std::optional<WallTime>> CaptureHeaders(const std::string& name_space,
                                                 std::chrono::seconds duration) override {
    return WithControl(
        [&](Control& control) { return control.CaptureHeaders(name_space, duration); });
  }
  Result<std::optional<WallTime>> HeaderCapture(const std::string& name_space) const override {
    return WithControl([&](Control& control) { return control.HeaderCapture(name_space); });
  }
  Result<void> SetLimits(const std::string& name_space, const std::string& json) override {
    return WithControl([&](Control& control) { return control.SetLimits(name_space, json); });
  }
  Result<std::string> LimitsReport(const std::string& name_space) const override {
    return WithControl([&](Control& control) { return control.LimitsReport(name_space); });
  }
  Result<std::string> Explain(const std::string& name_space,
                              const std::string& question) const override {
    PENSTOCK_ASSIGN(const ExplainQuestion asked, ParseExplainQuestion(question));
    if (!asked.request_id.empty()) {
      PENSTOCK_ASSIGN(const JournalReading reading, ReadJournal(name_space));
      return ExplainRecorded(reading, asked.request_id);
    }
    return WithControl([&](Control& control) -> Result<std::string> {
      PENSTOCK_ASSIGN(const std::shared_ptr<s3::Namespace> space, control.SpaceOf(name_space));
      return ExplainAsked(control.identities(), space, router_options_, asked);
    });
  }
  Result<void> SetFaults(const std::string& name_space, const std::string& json) override {
    PENSTOCK_ASSIGN(faults::Scenario scenario, faults::ParseScenario(json, memory_limit_));
    if (name_space != identity::kDefaultNamespace) {
      PENSTOCK_TRY(faults::RefuseConnectionRules(
          scenario, "no access key, and therefore no namespace, is known yet"));
    }
    if (options_.tls_certificate_path.empty()) PENSTOCK_TRY(faults::RefuseTlsRules(scenario));
    return WithFaults(name_space, [&](faults::FaultRegistry& registry) {
      return registry.Start(std::move(scenario));
    });
  }
  Result<std::string> FaultAccount(const std::string& name_space) const override {
    return WithFaults(name_space, [&](faults::FaultRegistry& registry) -> Result<std::string> {
      if (const auto account = registry.Account()) return faults::AccountJson(*account);
      return Error::Make(ErrorKind::kNotFound, "no scenario of faults runs in namespace '" +
                                                   name_space + "'; set one first");
    });
  }
  Result<void> CheckFaults(const std::string& name_space) const override {
    return WithFaults(name_space, [](faults::FaultRegistry& registry) { return registry.Check(); });
  }
  Result<void> ClearFaults(const std::string& name_space) override {
    return WithFaults(name_space, [](faults::FaultRegistry& registry) -> Result<void> {
      registry.Stop();
      return Ok();
    });
  }
  Result<void> ForgetFaults(const std::string& name_space) override {
    return WithFaults(name_space, [](faults::FaultRegistry& registry) -> Result<void> {
      registry.Forget();
      return Ok();
    });
  }
  Result<void> RestoreFaults(const std::string& name_space) override {
    return WithFaults(name_space,
                      [](faults::FaultRegistry& registry) { return registry.Restore(); });
  }
  Result<std::string> CreateRetryTest(const std::string& name_space,
                                      const std::string& json) override {
    PENSTOCK_ASSIGN(faults::Scenario scenario, faults::ParseRetryTest(json, memory_limit_));
    return WithFaults(name_space, [&](faults::FaultRegistry& registry) -> Result<std::string> {
      std::string id = NewRetryTestId();
      PENSTOCK_TRY(registry.AddRetryTest(id, std::move(scenario)));
      return id;
    });
  }
  Result<std::vector<std::string>> RetryTests(const std::string& name_space) const override {
    return WithFaults(name_space,
                      [](faults::FaultRegistry& registry) -> Result<std::vector<std::string>> {
                        return registry.RetryTests();
                      });
  }
  Result<std::string> RetryTestAccount(const std::string& name_space,
                                       const std::string& id) const override {
    return WithFaults(name_space, [&](faults::FaultRegistry& registry) -> Result<std::string> {
      PENSTOCK_ASSIGN(const faults::ScenarioAccount account, registry.RetryTestAccount(id));
      return faults::AccountJson(account);
    });
  }
  Result<void> DeleteRetryTest(const std::string& name_space, const std::string& id) override {
    return WithFaults(
        name_space, [&](faults::FaultRegistry& registry) { return registry.RemoveRetryTest(id); });
  }

  Result<std::string> RunLifecycle(const LifecycleRequest& request) override {
    return WithControl([&](Control& control) { return control.RunLifecycle(request); });
  }
  Result<std::string> PreviewLifecycle(const LifecycleRequest& request) const override {
    return WithControl([&](Control& control) { return control.PreviewLifecycle(request); });
  }

  Result<std::string> ReadEvents(const std::string& name_space, std::uint64_t after,
                                 std::chrono::milliseconds wait,
                                 std::optional<std::uint64_t> newest) const override {
    return WithControl(
        [&](Control& control) { return control.ReadEvents(name_space, after, wait, newest); });
  }
  Result<void> RemoveEvents(const std::string& name_space, std::uint64_t last) override {
    return WithControl([&](Control& control) { return control.RemoveEvents(name_space, last); });
  }

  Result<std::string> Simulate(const SimulateRequest& request) const override {
    return WithControl([&](Control& control) { return control.Simulate(request); });
  }

  Result<SeedReport> Seed(const SeedRequest& request) override {
    return WithControl([&](Control& control) { return control.Seed(request); });
  }
  Result<void> AddUsers(const std::string& json) override {
    return WithControl([&](Control& control) { return control.AddUsers(json); });
  }
  Result<std::string> ListUsers() const override {
    return WithControl([](Control& control) -> Result<std::string> {
      return identity::UsersJson(control.identities().List());
    });
  }
  Result<void> ChangeAccessKey(const std::string& id, const AccessKeyChange& change) override {
    return WithControl([&](Control& control) { return control.ChangeKey(id, change); });
  }
  Result<void> RemoveAccessKey(const std::string& id) override {
    return WithControl([&](Control& control) { return control.RemoveKey(id); });
  }

  void Stop() override {
    {
      const ReaderLock lock(control_mutex_);
      if (control_) control_->StopWaits();
    }
    pauses_.End();
    upload_paces_.End();
    // One grace period for both ports.
    const auto end = std::chrono::steady_clock::now() + kGrace;
    const auto left = [end] {
      return std::max(
          std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()),
          std::chrono::milliseconds(0));
    };
    if (server_) server_->Stop(left());
    if (admin_server_) admin_server_->Stop(left());
    // No request is left: closes the data directory, so that another emulator can use it. Setting
    // closed_ first stops new readers, which could otherwise starve the writer lock.
    closed_ = true;
    const WriterLock lock(control_mutex_);
    control_.reset();
  }

 private:
  // Empty in memory mode.
  std::string DirectoryPath() const { return directory_ ? directory_->path() : std::string(); }

  // Calls `function` with the Control, which stays alive during the call.
  template <class Function>
  std::invoke_result_t<Function, Control&> WithControl(Function function) const {
    const auto stopped = [] {
      return Error::Make(ErrorKind::kInvalidArgument, "the emulator is stopped; start another one");
    };
    if (closed_) return stopped();
    const ReaderLock lock(control_mutex_);
    if (!control_) return stopped();
    return function(*control_);
  }

  template <class Function>
  std::invoke_result_t<Function, faults::FaultRegistry&> WithFaults(const std::string& name_space,
                                                                    Function function) const {
    return WithControl(
        [&](Control& control) -> std::invoke_result_t<Function, faults::FaultRegistry&> {
          PENSTOCK_ASSIGN(const auto controls, control.ControlsOf(name_space));
          return function(controls->faults());
        });
  }

  void MakeAdminHandlers(identity::Identities& identities) {
    const auto space_of = [this](const std::string& name) {
      return WithControl([&](Control& control) { return control.SpaceOf(name); });
    };
    unsigned_s3_.emplace(
        *router_, identities,
        UnsignedS3::Options{.space_of = space_of, .document_memory = memory_limit_});
    admin_ = MakeAdmin(*this, {.token = options_.admin_token,
                               .hosts = {options_.admin_host, options_.admin_allowed_hosts},
                               .console = options_.console,
                               .metadata = &*metadata_,
                               .unsigned_s3 = &*unsigned_s3_,
                               .hooks = {.activity_of = ActivityOfNamespaces(),
                                         .space_of = space_of,
                                         .identities = &identities},
                               .document_memory = memory_limit_});
    const bool private_memory = options_.data_directory.empty() && IsLoopbackHost(options_.host);
    aliases_ = MakeAdmin(*this, {.token = options_.admin_token,
                                 .hosts = {options_.host, options_.admin_allowed_hosts},
                                 .moto_reset = options_.moto_reset.value_or(private_memory),
                                 .document_memory = memory_limit_});
  }

  ActivityOf ActivityOfNamespaces() const {
    return [this](const std::string& name) {
      return WithControl([&](Control& control) -> Result<NamespaceActivity> {
        PENSTOCK_ASSIGN(const auto controls, control.ControlsOf(name));
        return NamespaceActivity{.limits = controls->limiter().Current() != nullptr,
                                 .faults = !controls->faults().idle()};
      });
    };
  }

  Result<void> Listen() {
    http::ServerOptions wire{.host = options_.host, .port = options_.port};
    wire.tls_certificate_path = options_.tls_certificate_path;
    wire.tls_key_path = options_.tls_key_path;
    wire.body_directory = DirectoryPath();  // large bodies are stored there anyway
    wire.clock = &clock_;
    wire.yield_to_clients = options_.yield_to_clients;
    wire.on_accept = [this](const http::Arrival& arrival) { return Receive(arrival); };
    // The chain creates the exchanges of this server.
    wire.on_ending = [](message::Exchange& ending) {
      auto& exchange = static_cast<s3::Exchange&>(ending);
      if (journal::Journal* const journal = JournalOf(exchange))
        journal::RecordEntry(*journal, exchange);
    };
    wire.on_finished = [this](const message::Exchange& finished) {
      Finished(static_cast<const s3::Exchange&>(finished));
    };
    PENSTOCK_ASSIGN(server_, http::Server::Start(std::move(wire), *chain_));
    options_.port = server_->port();
    if (options_.admin_port < 0) return Ok();
    http::ServerOptions admin{.host = options_.admin_host, .port = options_.admin_port};
    admin.min_threads = 1;
    // Requests that wait for journal entries use at most 24 of these (admin_routes.h), and
    // incomplete bodies half. The rest serves all other requests.
    admin.max_threads = 64;
    PENSTOCK_ASSIGN(admin_server_, http::Server::Start(std::move(admin), *admin_));
    options_.admin_port = admin_server_->port();
    return Ok();
  }

  // Uses the default namespace's faults, because no access key is known yet.
  http::AcceptDecision Receive(const http::Arrival& arrival) {
    const auto controls = control_->ControlsOf(std::string(identity::kDefaultNamespace));
    if (!controls.ok()) return {};
    return ToAcceptDecision(faults::FaultOfAccept(
        (*controls)->faults(),
        {.connection = {.id = arrival.id, .peer = arrival.peer, .tls = arrival.tls},
         .others = arrival.others,
         .certificate_may_sign = arrival.certificate_may_sign}));
  }

  void Finished(const s3::Exchange& exchange) {
    // Refused by the HTTP layer.
    if (!exchange.space) counters_.CountRequest({}, exchange.response.status);
    counters_.CountBytes(exchange.bytes_in, exchange.bytes_out);
    if (exchange.space)
      counters_.CountDuration(s3::TraitsOf(exchange).access, exchange.ended - exchange.began);
    faults::NoteEnd(exchange);
    if (journal::Journal* const journal = JournalOf(exchange))
      journal::WriteEnd(*journal, exchange);
    if (log_) log_->Write(exchange, clock_.Now());
  }

  // In the order of their dependencies. The listeners are last, so that they are destroyed first.
  const Clock& clock_ = SystemClock();
  const WallTime started_ = clock_.Now();
  EmulatorOptions options_;
  const std::shared_ptr<store::MemoryLimit> memory_limit_ = MemoryLimitOf(options_);
  // The data directory; null in memory mode. Every path that the process uses is below it.
  std::unique_ptr<store::HeldDirectory> directory_;
  std::vector<std::string> notices_;
  Counters counters_;
  std::unique_ptr<RequestLog> log_;
  s3::RouterOptions router_options_;  // constant after Open
  std::unique_ptr<s3::Handler> router_;
  std::unique_ptr<s3::Handler> operations_;  // the router with duplicate applies
  // Requests need no lock: they have ended before Stop takes it.
  mutable SharedMutex control_mutex_;
  std::unique_ptr<Control> control_;
  std::atomic<bool> closed_{false};
  traffic::Pauses pauses_;
  traffic::Pauses upload_paces_;  // separate from pauses_, so that neither delays the other
  std::optional<Metadata> metadata_;
  std::optional<UnsignedS3> unsigned_s3_;
  std::unique_ptr<message::Handler> admin_;
  std::unique_ptr<message::Handler>
      aliases_;  // admin handler on the S3 port, for IsAdminAlias requests
  faults::FailRate* fail_rate_ = nullptr;  // a filter of chain_
  std::optional<s3::FilterChain> chain_;
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
