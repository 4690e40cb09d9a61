#include "emulator/server/control.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/events/message.h"
#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/rules/connection_rules.h"
#include "emulator/identity/root_accounts.h"
#include "emulator/json/json_fields.h"
#include "emulator/lifecycle/run.h"
#include "emulator/server/namespaces/seeder.h"
#include "emulator/server/process/config_file.h"
#include "emulator/store/tables/event_rows.h"
#include "emulator/traffic/limits_report.h"
#include "penstock/simulate.h"

namespace penstock::emulator::server {
namespace {

// Returns "PSTK" and 16 characters of the alphabet of AWS's key ids.
std::string NewAccessKeyId() {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::array<std::byte, 16> random;
  RandomBytes(random);
  std::string id = "PSTK";
  for (const std::byte byte : random)
    id += kAlphabet[std::to_integer<std::size_t>(byte) % kAlphabet.size()];
  return id;
}

std::string NewSecret() {
  std::array<std::byte, 30> random;
  RandomBytes(random);
  return Base64Encode(random);
}

// Time limit for responses that are being sent.
constexpr std::chrono::milliseconds kSendingResponsesLimit{200};

constexpr int kMostEventsOfReading = 1000;

constexpr std::chrono::seconds kLongestCapture{3600};

// So that a request can use neither a processor nor the memory for long.
constexpr std::uint64_t kMostSimulatedRequests = 5'000'000;
constexpr std::uint64_t kMostSimulatedConnections = 1'000'000;
constexpr std::chrono::seconds kLongestSimulation{60};

Result<std::shared_ptr<identity::KeyNamespace>> AsKeyNamespace(
    Result<std::shared_ptr<NamespaceStore>> found) {
  if (!found.ok()) return std::move(found).error();
  return std::shared_ptr<identity::KeyNamespace>(std::move(found).value());
}

Result<journal::Journal*> RequireJournal(TestControls& controls) {
  journal::Journal* const journal = controls.journal();
  if (journal == nullptr)
    return Error::Make(ErrorKind::kInvalidArgument,
                       "there is no journal because its size is 0 (--journal-size, journal_size, "
                       "in C++ journal_bytes); start with a larger value");
  return journal;
}

// Returns the owners without duplicates, ordered by their oldest bucket.
Result<std::vector<std::string>> OwnersOfBuckets(NamespaceStore& namespace_store) {
  PENSTOCK_ASSIGN(const std::shared_ptr<s3::Namespace> space, namespace_store.Enter());
  PENSTOCK_ASSIGN(std::vector<store::BucketPtr> buckets, space->store->ListBuckets());
  std::sort(buckets.begin(), buckets.end(), [](const auto& left, const auto& right) {
    return std::tie(left->created, left->name.value) < std::tie(right->created, right->name.value);
  });
  std::vector<std::string> owners;
  for (const store::BucketPtr& bucket : buckets) {
    if (std::find(owners.begin(), owners.end(), bucket->owner_id) == owners.end())
      owners.push_back(bucket->owner_id);
  }
  return owners;
}

// Null: none.
Result<std::shared_ptr<const faults::Scenario>> InitialFaults(
    const EmulatorOptions& options, const std::shared_ptr<store::MemoryLimit>& memory_limit) {
  if (options.faults_path.empty() && options.faults_json.empty())
    return std::shared_ptr<const faults::Scenario>();
  std::string text = options.faults_json;
  std::string source = "faults";
  if (!options.faults_path.empty()) {
    source = "faults file '" + options.faults_path + "'";
    PENSTOCK_ASSIGN(text, ReadConfigFile({.what = "faults file",
                                          .path = options.faults_path,
                                          .fix = "name a JSON file (docs/reference/faults.md)"}));
  }
  auto scenario = faults::ParseScenario(text, memory_limit);
  if (!scenario.ok()) return FieldError(scenario.error().kind, source, scenario.error().message);
  if (options.tls_certificate_path.empty()) {
    if (const auto checked = faults::RefuseTlsRules(*scenario); !checked.ok())
      return FieldError(source, checked.error().message);
  }
  return std::make_shared<const faults::Scenario>(std::move(scenario).value());
}

// Charges the memory of the settings and of one set of their partitions, while a copy of them
// exists. Returns MemoryLimit::Exceeded.
Result<void> ChargeLimits(traffic::ThrottleSettings& settings,
                          const std::shared_ptr<store::MemoryLimit>& memory_limit) {
  if (settings.idle()) return Ok();  // limits can be lifted while the memory is full
  const auto charge = std::make_shared<store::LastingCharge>(memory_limit);
  PENSTOCK_TRY(charge->GrowTo(settings.SettingsBytes() + settings.PartitionBytes()));
  settings.charge = charge;
  return Ok();
}

store::Durability DurabilityOf(const EmulatorOptions& options) {
  return options.durability == DurabilityMode::kStrict ? store::Durability::kStrict
                                                       : store::Durability::kRelaxed;
}

Result<std::vector<events::Route>> RoutesOf(const EmulatorOptions& options) {
  PENSTOCK_ASSIGN(const std::vector<events::SinkAddress> sinks,
                  events::ParseSinks(options.event_sinks));
  return events::OpenRoutes(sinks, DurabilityOf(options), options.event_sink_ca_path);
}

// Adds the users of earlier runs, and then removes the rests of deleted namespaces. Returns
// notices.
Result<std::vector<std::string>> RestoreUsers(identity::Identities& identities,
                                              std::unique_ptr<identity::UserDatabase> kept,
                                              Namespaces& spaces) {
  PENSTOCK_ASSIGN(std::vector<std::string> notices, identities.Restore(std::move(kept)));
  notices.insert(notices.end(), spaces.notices().begin(), spaces.notices().end());
  spaces.RemoveLeftovers();
  return notices;
}

}  // namespace

// Users that were given at the start, with their source for messages.
struct Control::GivenUsers {
  std::string source;
  identity::UsersDocument users;
};

Result<std::unique_ptr<Control>> Control::Open(const EmulatorOptions& options,
                                               std::shared_ptr<store::MemoryLimit> memory_limit,
                                               const Clock& machine, s3::Handler& router) {
  // Read before anything is opened, so that an error in a file has no effect.
  TestControlOptions controls{
      .journal_bytes = options.journal_bytes, .scenario = {}, .throttle = {}};
  PENSTOCK_ASSIGN(controls.scenario, InitialFaults(options, memory_limit));
  if (!options.limits_json.empty()) {
    auto settings = traffic::ParseThrottleSettings(options.limits_json);
    if (!settings.ok()) return FieldError("limits", settings.error().message);
    if (const auto charged = ChargeLimits(*settings, memory_limit); !charged.ok())
      return FieldError(charged.error().kind, "limits", charged.error().message);
    controls.throttle =
        std::make_shared<const traffic::ThrottleSettings>(std::move(settings).value());
  }
  const store::Durability durability = DurabilityOf(options);
  PENSTOCK_ASSIGN(std::vector<events::Route> routes, RoutesOf(options));
  std::vector<GivenUsers> given;
  given.push_back({"--access-key", identity::UsersOfPairs(options.access_keys)});
  if (!options.users_path.empty()) {
    PENSTOCK_ASSIGN(const std::string text,
                    ReadConfigFile({.what = "users file",
                                    .path = options.users_path,
                                    .fix = "name a JSON file "
                                           "(docs/reference/admin-api.md)"}));
    const std::string source = "users file '" + options.users_path + "'";
    auto users = identity::ParseUsers(text);
    if (!users.ok()) return FieldError(source, users.error().message);
    given.push_back({source, std::move(users).value()});
  }
  if (!options.users_json.empty()) {
    auto users = identity::ParseUsers(options.users_json);
    if (!users.ok()) return FieldError("users", users.error().message);
    given.push_back({"users", std::move(users).value()});
  }

  std::unique_ptr<Control> control(new Control(machine, router, options.region, memory_limit));
  PENSTOCK_ASSIGN(control->spaces_,
                  Namespaces::Open({.directory = options.data_directory,
                                    .durability = durability,
                                    .memory_limit = std::move(memory_limit),
                                    .scrub_bytes_per_second = options.scrub_bytes_per_second,
                                    .clock = &machine,
                                    .owners = &control->identities_,
                                    .controls = std::move(controls),
                                    .on_open =
                                        [self = control.get()] {
                                          if (self->lifecycle_) self->lifecycle_->Wake();
                                          self->event_signal_->Notify();
                                        },
                                    .event_signal = control->event_signal_}));
  std::unique_ptr<identity::UserDatabase> kept;
  std::optional<std::vector<identity::RootAccount>> roots;
  if (!options.data_directory.empty()) {
    PENSTOCK_ASSIGN(kept, identity::UserDatabase::Open(options.data_directory, durability));
    PENSTOCK_ASSIGN(roots, control->FindRoots(options.access_keys, given, *kept));
  }
  s3::Identity first = identity::MakeIdentity("penstock");
  for (auto from = given.rbegin(); from != given.rend(); ++from) {
    if (!from->users.keys.empty()) first = from->users.keys.front().user.identity;
  }
  Namespaces* const spaces = control->spaces_.get();
  control->identities_.Attach(
      spaces->Default(),
      {.find = [spaces](std::string_view name) { return AsKeyNamespace(spaces->Find(name)); },
       .find_or_create =
           [spaces](std::string_view name) { return AsKeyNamespace(spaces->FindOrCreate(name)); },
       .at_start = [spaces](std::string_view name) { return spaces->AtStart(name); }},
      std::move(first));
  for (GivenUsers& from : given) {
    const auto added = control->identities_.Add(std::move(from.users));
    if (!added.ok()) return FieldError(added.error().kind, from.source, added.error().message);
  }
  // Only after all options were accepted: a failed start must not change the directory.
  if (roots) PENSTOCK_TRY(kept->SetRoots(*roots));
  if (kept) {
    PENSTOCK_ASSIGN(std::vector<std::string> notices,
                    RestoreUsers(control->identities_, std::move(kept), *spaces));
    std::move(notices.begin(), notices.end(), std::back_inserter(control->notices_));
  }
  PENSTOCK_TRY(control->StartLifecycle());
  PENSTOCK_TRY(control->StartDelivery(std::move(routes)));
  return control;
}

// Assigns accounts to the access key pairs, the first of `given`. Returns the roots to store;
// nullopt if they are already stored.
Result<std::optional<std::vector<identity::RootAccount>>> Control::FindRoots(
    const std::vector<AccessKey>& pairs, std::vector<GivenUsers>& given,
    identity::UserDatabase& kept) {
  PENSTOCK_ASSIGN(std::optional<std::vector<identity::RootAccount>> known, kept.ReadRoots());
  identity::PreviousRoots previous{.roots = known.value_or(std::vector<identity::RootAccount>()),
                                   .owners_may_be_roots = !known};
  const auto same = [](const AccessKey& pair, const identity::RootAccount& root) {
    return pair.id == root.access_key_id;
  };
  if (!std::equal(pairs.begin(), pairs.end(), previous.roots.begin(), previous.roots.end(), same)) {
    PENSTOCK_ASSIGN(previous.bucket_owners, OwnersOfBuckets(*spaces_->Default()));
  }
  for (std::size_t i = 1; i < given.size(); ++i) {
    for (const s3::Owner& account : given[i].users.accounts)
      previous.documented_accounts.insert(account.id);
  }
  identity::RootPlan plan = identity::AssignRootAccounts(pairs, previous);
  given.front().users = identity::UsersOfPairs(pairs, std::move(plan.identities));
  notices_ = std::move(plan.notices);
  const auto equal = [](const identity::RootAccount& left, const identity::RootAccount& right) {
    return left.access_key_id == right.access_key_id && left.account.id == right.account.id;
  };
  if (known && std::equal(plan.roots.begin(), plan.roots.end(), previous.roots.begin(),
                          previous.roots.end(), equal)) {
    return std::optional<std::vector<identity::RootAccount>>();
  }
  return std::optional(std::move(plan.roots));
}

Result<void> Control::ResetNamespace(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  return namespace_store->Reset();
}

// A namespace without a key gets a new key of its account. Its keys may have been removed, or an
// earlier version did not store them.
Result<AccessKey> Control::CreateNamespace(const std::string& name) {
  const MutexLock one_at_a_time(namespaces_mutex_);
  const bool kept =
      name != identity::kDefaultNamespace && !identities_.OwnerOf(name) && spaces_->Find(name).ok();
  if (!kept) PENSTOCK_TRY(spaces_->Create(name));
  const AccessKey pair{NewAccessKeyId(), NewSecret()};
  auto added = identities_.Add(identity::UsersOfNamespace(name, pair));
  if (!added.ok() && !kept) static_cast<void>(spaces_->Delete(name));
  PENSTOCK_TRY(std::move(added));
  return pair;
}

Result<void> Control::DeleteNamespace(const std::string& name) {
  const MutexLock one_at_a_time(namespaces_mutex_);
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  // Before the name can be used again.
  if (name != identity::kDefaultNamespace)
    PENSTOCK_TRY(identities_.RemoveNamespace(*namespace_store));
  PENSTOCK_TRY(spaces_->Delete(name));
  return identities_.RemoveNamespace(*namespace_store);  // keys added meanwhile
}

Result<ClockState> Control::GetClock(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  return namespace_store->clock().State();
}

Result<ClockState> Control::MoveClock(const std::string& name,
                                      const std::function<Result<void>(NamespaceClock&)>& change) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  NamespaceClock& clock = namespace_store->clock();
  const auto day = [&clock] { return std::chrono::floor<std::chrono::days>(clock.Now()); };
  const auto before = day();
  PENSTOCK_TRY(change(clock));
  if (day() != before) namespace_store->lifecycle_schedule().Request();
  lifecycle_->Wake();
  return clock.State();
}

Result<ClockState> Control::ChangeClock(const std::string& name, const ClockChange& change) {
  return MoveClock(name, [&change](NamespaceClock& clock) { return clock.Change(change); });
}

Result<ClockState> Control::RestoreClock(const std::string& name) {
  return MoveClock(name, [](NamespaceClock& clock) {
    clock.Restore();
    return Ok();
  });
}

Result<void> Control::SetLimits(const std::string& name, const std::string& json) {
  PENSTOCK_ASSIGN(traffic::ThrottleSettings settings, traffic::ParseThrottleSettings(json));
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  PENSTOCK_TRY(ChargeLimits(settings, memory_limit_));
  namespace_store->CurrentControls()->limiter().Set(std::move(settings));
  return Ok();
}

Result<std::string> Control::LimitsReport(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  return traffic::LimitsReportJson(
      name, namespace_store->CurrentControls()->limiter().Report(&stopping_), &stopping_);
}

Result<std::shared_ptr<TestControls>> Control::ControlsOf(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  return namespace_store->CurrentControls();
}

Result<std::shared_ptr<s3::Namespace>> Control::SpaceOf(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  std::shared_ptr<s3::Namespace> space = namespace_store->Current();
  if (space != nullptr) return space;
  return Error::Make(ErrorKind::kUnavailable,
                     "namespace '" + name + "' cannot be opened now; the log has the cause");
}

Result<SeedReport> Control::Seed(const SeedRequest& request) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store,
                  spaces_->Find(request.name_space));
  s3::Identity owner = identities_.DefaultIdentity();
  if (request.name_space != identity::kDefaultNamespace) {
    owner = identities_.OwnerOf(request.name_space)
                .value_or(identity::IdentityOfNamespace(request.name_space));
  }
  PENSTOCK_ASSIGN(std::shared_ptr<s3::Namespace> space, namespace_store->Enter());
  const Seeder seeder{router_, std::move(space), std::move(owner), region_, stopping_};
  return seeder.Fill(request);
}

Result<std::string> Control::Simulate(const SimulateRequest& request) const {
  const MonotonicTime until = machine_.Monotonic() + kLongestSimulation;
  const auto late = [&] { return machine_.Monotonic() >= until; };
  const auto ends = [&, cancelled = Cancelled(request.cancelled)] { return cancelled() || late(); };
  auto report = SimulateJson(request.job, {.most_requests = kMostSimulatedRequests,
                                           .most_connections = kMostSimulatedConnections,
                                           .cancelled = ends});
  if (report.ok() || report.error().kind != ErrorKind::kCancelled) return report;
  if (stopping_) {
    return Error::Make(ErrorKind::kUnavailable,
                       "the emulator is stopping and has cancelled the simulation");
  }
  if (!late()) return report;
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the simulation took more than 60 s, which is the limit: use fewer ranks, "
                     "files, rounds or connections_per_rank");
}

Result<void> Control::StartLifecycle() {
  const auto members = [spaces = spaces_.get()] {
    std::vector<std::shared_ptr<lifecycle::Worker::Member>> used;
    for (const auto& namespace_store : spaces->Used()) used.push_back(namespace_store);
    return used;
  };
  try {
    lifecycle_ = std::make_unique<lifecycle::Worker>(members);
  } catch (const std::system_error& error) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       std::string("cannot start the thread of lifecycle runs: ") + error.what() +
                           "; raise the limit of threads");
  }
  return Ok();
}

Result<void> Control::StartDelivery(std::vector<events::Route> routes) {
  if (routes.empty()) return Ok();
  const auto open_spaces = [spaces = spaces_.get()] {
    std::vector<std::weak_ptr<s3::Namespace>> found;
    for (const auto& namespace_store : spaces->Used()) found.push_back(namespace_store->Peek());
    return found;
  };
  PENSTOCK_ASSIGN(deliverer_,
                  events::Deliverer::Start(std::move(routes), open_spaces, event_signal_));
  return Ok();
}

std::function<bool()> Control::Cancelled(const std::function<bool()>& by_caller) const {
  return [this, by_caller] { return stopping_ || (by_caller && by_caller()); };
}

Result<std::string> Control::RunLifecycle(const LifecycleRequest& request) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store,
                  spaces_->Find(request.name_space));
  PENSTOCK_ASSIGN(const lifecycle::Account account,
                  namespace_store->RunLifecycle(request.bucket, Cancelled(request.cancelled)));
  return lifecycle::AccountJson(request.name_space, account);
}

Result<std::string> Control::PreviewLifecycle(const LifecycleRequest& request) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store,
                  spaces_->Find(request.name_space));
  PENSTOCK_ASSIGN(const std::shared_ptr<s3::Namespace> space, namespace_store->Enter());
  lifecycle::Account account;
  PENSTOCK_TRY(lifecycle::Run(*space->store,
                              {.now = request.by.value_or(space->clock->Now()),
                               .bucket = request.bucket,
                               .mode = lifecycle::RunMode::kPreview,
                               .cancelled = Cancelled(request.cancelled)},
                              account));
  return lifecycle::AccountJson(request.name_space, account);
}

namespace {

// Events have consecutive numbers, and the oldest are removed first. So the newest `most` of those
// above `after` follow a number that is found in a few reads of one event.
Result<std::uint64_t> BeforeNewestEvents(store::Store& store, std::uint64_t after,
                                         std::uint64_t most) {
  PENSTOCK_ASSIGN(const std::vector<store::StoredEvent> first, store.ListEvents(after, 1));
  if (first.empty()) return after;
  std::uint64_t last = first.front().number;
  std::uint64_t beyond = last + store::kMostEvents;
  while (beyond - last > 1) {
    const std::uint64_t middle = last + (beyond - last) / 2;
    PENSTOCK_ASSIGN(const std::vector<store::StoredEvent> found, store.ListEvents(middle - 1, 1));
    (found.empty() ? beyond : last) = middle;
  }
  return std::max(after, last - std::min(last, most));
}

}  // namespace

Result<std::string> Control::ReadEvents(const std::string& name, std::uint64_t after,
                                        std::chrono::milliseconds wait,
                                        std::optional<std::uint64_t> newest) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  const MonotonicTime until = machine_.Monotonic() + wait;
  for (;;) {
    const std::uint64_t seen = event_signal_->count();
    // Entered anew, because a reset replaces the store.
    PENSTOCK_ASSIGN(const std::shared_ptr<s3::Namespace> space, namespace_store->Enter());
    std::uint64_t begin = after;
    if (newest) {
      PENSTOCK_ASSIGN(begin,
                      BeforeNewestEvents(*space->store, after,
                                         std::min<std::uint64_t>(*newest, kMostEventsOfReading)));
    }
    PENSTOCK_ASSIGN(const std::vector<store::StoredEvent> found,
                    space->store->ListEvents(begin, kMostEventsOfReading));
    if (!found.empty() || stopping_ || machine_.Monotonic() >= until)
      return events::EventsJson(name, after, found);
    event_signal_->Await(seen, until);
  }
}

Result<void> Control::RemoveEvents(const std::string& name, std::uint64_t last) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  PENSTOCK_ASSIGN(const std::shared_ptr<s3::Namespace> space, namespace_store->Enter());
  return space->store->RemoveEvents(last);
}

Result<JournalReading> Control::ReadJournal(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  const std::shared_ptr<TestControls> controls = namespace_store->CurrentControls();
  PENSTOCK_ASSIGN(journal::Journal* const journal, RequireJournal(*controls));
  journal->WaitForResponses(machine_.Monotonic() + kSendingResponsesLimit);
  return journal->Read();
}

Result<JournalReading> Control::AwaitJournal(const std::string& name, std::uint64_t after,
                                             std::chrono::milliseconds wait) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  const MonotonicTime until = machine_.Monotonic() + wait;
  for (bool replaced = false;; replaced = true) {
    // A reset replaces the journal and ends the waits for the old one.
    const std::shared_ptr<TestControls> controls = namespace_store->CurrentControls();
    PENSTOCK_ASSIGN(journal::Journal* const journal, RequireJournal(*controls));
    if (replaced) after = 0;
    // A wait that began after StopWaits is not ended by it.
    if (stopping_) return journal->ReadAfter(after);
    if (journal->Await(after, until) || stopping_ || machine_.Monotonic() >= until)
      return journal->ReadAfter(after);
    // The namespace was deleted.
    if (namespace_store->CurrentControls() == controls) return journal->ReadAfter(after);
  }
}

Result<void> Control::ClearJournal(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  const std::shared_ptr<TestControls> controls = namespace_store->CurrentControls();
  PENSTOCK_ASSIGN(journal::Journal* const journal, RequireJournal(*controls));
  journal->WaitForResponses(machine_.Monotonic() + kSendingResponsesLimit);
  journal->Clear(machine_.Monotonic());
  return Ok();
}

Result<std::optional<WallTime>> Control::CaptureHeaders(const std::string& name,
                                                        std::chrono::seconds duration) {
  if (duration < std::chrono::seconds(0) || duration > kLongestCapture) {
    return FieldError("seconds", "must be 0, which ends a capture, to 3600, not " +
                                     std::to_string(duration.count()));
  }
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  const std::shared_ptr<TestControls> controls = namespace_store->CurrentControls();
  PENSTOCK_ASSIGN(journal::Journal* const journal, RequireJournal(*controls));
  journal->CaptureUntil(duration == duration.zero() ? MonotonicTime::min()
                                                    : machine_.Monotonic() + duration);
  return HeaderCapture(name);
}

Result<std::optional<WallTime>> Control::HeaderCapture(const std::string& name) {
  PENSTOCK_ASSIGN(const std::shared_ptr<NamespaceStore> namespace_store, spaces_->Find(name));
  const std::shared_ptr<TestControls> controls = namespace_store->CurrentControls();
  PENSTOCK_ASSIGN(journal::Journal* const journal, RequireJournal(*controls));
  const MonotonicTime now = machine_.Monotonic();
  const MonotonicTime until = journal->capture_until();
  if (until <= now) return std::optional<WallTime>();
  return std::optional(machine_.Now() + (until - now));
}

void Control::StopWaits() {
  stopping_ = true;  // set before the journals stop: new waits check it
  event_signal_->Notify();
  if (deliverer_) deliverer_->Stop();
  lifecycle_->Stop();
  spaces_->StopJournals();
}

Result<void> Control::AddUsers(const std::string& json) {
  PENSTOCK_ASSIGN(identity::UsersDocument users, identity::ParseUsers(json, &stopping_));
  return identities_.Add(std::move(users), &stopping_);
}

}  // namespace penstock::emulator::server
