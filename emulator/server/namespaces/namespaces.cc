#include "emulator/server/namespaces/namespaces.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "emulator/faults/rules/connection_rules.h"
#include "emulator/store/system/directory_names.h"

namespace penstock::emulator::server {
namespace {

constexpr std::string_view kFolder = "/namespaces";

// The directory of a namespace other than the default one.
std::string PathOf(const std::string& directory, std::string_view name) {
  return directory + std::string(kFolder) + "/" + std::string(name);
}

constexpr std::size_t kMax = 20;  // names in a message

std::string IgnoredNotice(const std::vector<std::string>& names) {
  std::string text = "not namespaces and ignored: ";
  for (std::size_t i = 0; i < names.size() && i < kMax; ++i)
    text += (i > 0 ? ", 'namespaces/" : "'namespaces/") + names[i] + "'";
  if (names.size() > kMax) text += " and " + std::to_string(names.size() - kMax) + " more";
  return text + " in the data directory; move them to another place";
}

// For messages: the default namespace and some of the others.
std::string NamesOf(
    const std::map<std::string, std::shared_ptr<NamespaceStore>, std::less<>>& others) {
  std::string names(identity::kDefaultNamespace);
  std::size_t count = 0;
  for (const auto& [name, namespace_store] : others) {
    if (++count > kMax) return names + " and " + std::to_string(others.size() - kMax) + " more";
    names += ", " + name;
  }
  return names;
}

}  // namespace

Namespaces::Namespaces(NamespacesOptions options)
    : options_(std::move(options)), scenario_of_others_(options_.controls.scenario) {
  if (!scenario_of_others_) return;
  auto scenario = std::make_shared<faults::Scenario>(*scenario_of_others_);
  faults::DropConnectionRules(*scenario);
  scenario_of_others_ = std::move(scenario);
}

Result<std::unique_ptr<Namespaces>> Namespaces::Open(NamespacesOptions options) {
  std::unique_ptr<Namespaces> spaces(new Namespaces(std::move(options)));
  PENSTOCK_ASSIGN(spaces->default_,
                  NamespaceStore::Open(spaces->OptionsOf(identity::kDefaultNamespace, nullptr)));
  if (!spaces->options_.directory.empty()) PENSTOCK_TRY(spaces->FindExisting());
  return spaces;
}

std::string Namespaces::DirectoryOf(std::string_view name) const {
  if (options_.directory.empty() || name == identity::kDefaultNamespace) return options_.directory;
  return PathOf(options_.directory, name);
}

// The default namespace's lock is held, so no other process uses the directory.
Result<void> Namespaces::FindExisting() {
  const MutexLock lock(mutex_);
  std::error_code error;
  std::vector<std::string> trash;
  std::vector<std::string> living;
  std::vector<std::string> foreign;
  for (const std::string& name : store::NamesIn(options_.directory + std::string(kFolder), error)) {
    const std::string path = PathOf(options_.directory, name);
    if (DataDirectory::IsTrash(name)) trash.push_back(path);
    if (!identity::NamespaceNameProblem(name).empty() || name == identity::kDefaultNamespace)
      continue;
    if (IsForeign(options_.directory, name)) foreign.push_back(name);
    const identity::NamespaceState state = StateOf(options_.directory, name);
    at_start_.emplace(name, state);
    if (state != identity::NamespaceState::kStored) continue;
    others_.emplace(name, nullptr);
    living.push_back(path);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Error::Make(ErrorKind::kInvalidArgument, "data directory '" + options_.directory +
                                                        "' cannot be used: " + error.message() +
                                                        "; choose a directory this user may write");
  }
  if (!foreign.empty()) notices_.push_back(IgnoredNotice(foreign));
  // Whatever cannot be removed now is removed at the next start.
  for (const std::string& path : trash) DataDirectory::Remove(path);
  for (const std::string& path : living) DataDirectory::TidyUp(path);
  return Ok();
}

void Namespaces::RemoveLeftovers() {
  for (const auto& [name, state] : at_start_) {
    const std::string path = PathOf(options_.directory, name);
    if (state == identity::NamespaceState::kStored || Has(name) || !DataDirectory::IsVacant(path))
      continue;
    std::error_code error;
    // An empty directory may be a place to mount a disk.
    if (store::NamesIn(path, error).empty()) continue;
    if (const auto moved = DataDirectory::MoveToTrash(path)) DataDirectory::Remove(*moved);
  }
}

NamespaceStoreOptions Namespaces::OptionsOf(std::string_view name, Charge charge) const {
  TestControlOptions controls = options_.controls;
  if (name != identity::kDefaultNamespace) controls.scenario = scenario_of_others_;
  std::vector<std::string> parents;
  if (!options_.directory.empty() && name != identity::kDefaultNamespace) {
    parents = {options_.directory + std::string(kFolder), options_.directory};
  }
  return {.name = std::string(name),
          .directory = DirectoryOf(name),
          .parents = std::move(parents),
          .durability = options_.durability,
          .memory_limit = options_.memory_limit,
          .charge = std::move(charge),
          .scrub_bytes_per_second = options_.scrub_bytes_per_second,
          .clock = options_.clock,
          .owners = options_.owners,
          .leases = leases_,
          .remover = remover_,
          .open_stores = name == identity::kDefaultNamespace ? nullptr : open_stores_,
          .controls = std::move(controls),
          .on_open = options_.on_open,
          .event_signal = options_.event_signal};
}

std::uint64_t Namespaces::BytesOfOne() const {
  // Measured, with a user and its key. SQLite's pages are counted again once they have rows.
  constexpr std::uint64_t kInMemory = 144 << 10;
  constexpr std::uint64_t kClosed = 16 << 10;  // few are open at a time
  const auto& throttle = options_.controls.throttle;
  return (options_.directory.empty() ? kInMemory : kClosed) +
         (throttle ? throttle->PartitionBytes() : 0) +
         (scenario_of_others_ ? faults::RunningScenario::MaxMemoryOf(
                                    faults::RunningScenario::ShapeOf(*scenario_of_others_))
                              : 0);
}

identity::NamespaceState Namespaces::StateOf(const std::string& directory,
                                             const std::string& name) {
  using identity::NamespaceState;
  const std::string path = PathOf(directory, name);
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored) || DataDirectory::IsForeign(path))
    return NamespaceState::kMissing;
  if (DataDirectory::IsDeleted(path)) return NamespaceState::kDeleted;
  return DataDirectory::IsVacant(path) ? NamespaceState::kMissing : NamespaceState::kStored;
}

bool Namespaces::IsForeign(const std::string& directory, const std::string& name) {
  return identity::NamespaceNameProblem(name).empty() && name != identity::kDefaultNamespace &&
         DataDirectory::IsForeign(PathOf(directory, name));
}

identity::NamespaceState Namespaces::AtStart(std::string_view name) const {
  if (name == identity::kDefaultNamespace) return identity::NamespaceState::kStored;
  const auto found = at_start_.find(name);
  return found == at_start_.end() ? identity::NamespaceState::kMissing : found->second;
}

std::vector<std::string> Namespaces::Names() const {
  std::vector<std::string> names{std::string(identity::kDefaultNamespace)};
  const MutexLock lock(mutex_);
  for (const auto& [name, namespace_store] : others_) names.push_back(name);
  return names;
}

bool Namespaces::Has(std::string_view name) const {
  if (name == identity::kDefaultNamespace) return true;
  const MutexLock lock(mutex_);
  return others_.contains(name);
}

Result<std::shared_ptr<NamespaceStore>> Namespaces::Find(std::string_view name) {
  if (name == identity::kDefaultNamespace) return default_;
  const MutexLock lock(mutex_);
  const auto found = others_.find(name);
  if (found == others_.end()) {
    return Error::Make(ErrorKind::kNotFound, "there is no namespace '" + std::string(name) +
                                                 "'; existing namespaces: " + NamesOf(others_));
  }
  if (!found->second) {
    const auto charge = std::make_shared<store::LastingCharge>(options_.memory_limit);
    charge->SetAnyway(BytesOfOne());  // it exists already, on disk
    NamespaceStoreOptions options = OptionsOf(name, charge);
    options.exists = true;
    PENSTOCK_ASSIGN(found->second, NamespaceStore::Make(std::move(options)));  // not opened
  }
  return found->second;
}

Result<std::shared_ptr<NamespaceStore>> Namespaces::Create(std::string_view name) {
  if (const std::string problem = identity::NamespaceNameProblem(name); !problem.empty()) {
    return Error::Make(ErrorKind::kInvalidArgument, problem);
  }
  if (!options_.directory.empty() && !Has(name) &&
      IsForeign(options_.directory, std::string(name))) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "namespace '" + std::string(name) + "' cannot be created: 'namespaces/" +
                           std::string(name) +
                           "' in the data directory belongs to another program; move it to another "
                           "place, or choose another name");
  }
  const auto charge = std::make_shared<store::LastingCharge>(options_.memory_limit);
  if (!Has(name)) PENSTOCK_TRY(charge->GrowTo(BytesOfOne()));
  PENSTOCK_ASSIGN(std::shared_ptr<NamespaceStore> namespace_store,
                  NamespaceStore::Make(OptionsOf(name, charge)));
  {
    const MutexLock lock(mutex_);
    if (name == identity::kDefaultNamespace || !others_.emplace(name, namespace_store).second) {
      return Error::Make(
          ErrorKind::kAlreadyExists,
          "namespace '" + std::string(name) + "' exists already; reset it, or choose another name");
    }
  }
  // The store is opened without the lock. Callers that find the namespace meanwhile wait in Enter.
  const auto entered = namespace_store->Enter();
  if (entered.ok()) return namespace_store;
  Forget(namespace_store);
  return entered.error();
}

void Namespaces::Forget(const std::shared_ptr<NamespaceStore>& namespace_store) {
  const MutexLock lock(mutex_);
  const auto found = others_.find(namespace_store->name());
  // The caller holds a reference, so nothing is destroyed under the lock.
  if (found != others_.end() && found->second == namespace_store) others_.erase(found);
}

Result<std::shared_ptr<NamespaceStore>> Namespaces::FindOrCreate(std::string_view name) {
  for (;;) {  // another caller may create or delete it between the two calls
    auto found = Find(name);
    if (found.ok() || found.error().kind != ErrorKind::kNotFound) return found;
    auto created = Create(name);
    if (created.ok() || created.error().kind != ErrorKind::kAlreadyExists) return created;
  }
}

Result<void> Namespaces::Delete(std::string_view name) {
  if (name == identity::kDefaultNamespace) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the default namespace cannot be deleted; reset it to empty it");
  }
  PENSTOCK_ASSIGN(std::shared_ptr<NamespaceStore> namespace_store, Find(name));
  PENSTOCK_TRY(namespace_store->Discard());
  Forget(namespace_store);
  namespace_store.reset();  // often the last reference: the remover gets the store
  // A store that waits for its removal is open.
  remover_->Help(OpenStores::DefaultMax());
  return Ok();
}

Result<void> Namespaces::ResetAll() {
  for (const std::string& name : Names()) {
    auto namespace_store = Find(name);
    // Deleted meanwhile.
    if (!namespace_store.ok() && namespace_store.error().kind == ErrorKind::kNotFound) continue;
    if (!namespace_store.ok()) return std::move(namespace_store).error();
    const auto reset = (*namespace_store)->Reset();
    if (!reset.ok() && reset.error().kind == ErrorKind::kNotFound) continue;
    PENSTOCK_TRY(reset);
  }
  return Ok();
}

std::vector<std::shared_ptr<NamespaceStore>> Namespaces::Used() const {
  std::vector<std::shared_ptr<NamespaceStore>> used{default_};
  const MutexLock lock(mutex_);
  for (const auto& [name, namespace_store] : others_) {
    if (namespace_store) used.push_back(namespace_store);
  }
  return used;
}

std::size_t Namespaces::JournalMemory() const {
  std::size_t bytes = 0;
  for (const auto& namespace_store : Used()) {
    const std::shared_ptr<TestControls> controls = namespace_store->CurrentControls();
    if (journal::Journal* const journal = controls->journal()) bytes += journal->memory();
  }
  return bytes;
}

void Namespaces::StopJournals() {
  for (const auto& namespace_store : Used()) namespace_store->StopJournal();
}

}  // namespace penstock::emulator::server
