// The namespaces of one emulator, by name.
//
//   DIR/                       the default namespace
//   DIR/namespaces/NAME/       every other namespace
//   DIR/namespaces/.deleted-*  deleted namespaces, to be removed
//
// A deleted namespace that requests still use stays in its place with a mark (data_directory.h). It
// is removed after the last of these requests.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACES_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/identity/user_database.h"
#include "emulator/identity/users_document.h"
#include "emulator/server/namespaces/namespace_store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::server {

struct NamespacesOptions {
  std::string directory;  // empty: all in memory
  store::Durability durability = store::Durability::kRelaxed;
  // Of stores in memory, and of all namespaces but the default one. Null: no limit.
  std::shared_ptr<store::MemoryLimit> memory_limit;
  std::uint64_t scrub_bytes_per_second = store::StoreOptions().scrub_bytes_per_second;
  const Clock* clock = nullptr;                // the machine's clock; never null
  const s3::OwnerDirectory* owners = nullptr;  // must outlive this object
  TestControlOptions controls;                 // initial ones of every namespace
  // How many namespaces of a data directory, besides the default one, may be open at a time; 0:
  // OpenStores::DefaultMax().
  std::size_t max_open = 0;
  std::function<void()> on_open = {};                      // as in NamespaceStoreOptions
  std::shared_ptr<store::ChangeSignal> event_signal = {};  // as in StoreOptions
};

// Thread safety: any thread. Requests use a NamespaceStore, not this class.
class Namespaces {
 public:
  // Opens only the default namespace. NamespaceStore::Enter opens the others of the data directory,
  // and idle ones are closed while more than `max_open` are open.
  static Result<std::unique_ptr<Namespaces>> Open(NamespacesOptions options);

  // For a namespace besides the default one, in a data directory that is not in use.
  static identity::NamespaceState StateOf(const std::string& directory, const std::string& name);
  // StateOf when this object was opened.
  identity::NamespaceState AtStart(std::string_view name) const;
  // Whether there is a file or directory of another program instead of a namespace of that name. It
  // is not changed.
  static bool IsForeign(const std::string& directory, const std::string& name);
  // For the user: what was ignored when this object was opened.
  const std::vector<std::string>& notices() const { return notices_; }
  // Removes the directories of deleted namespaces and of interrupted creations. Must be called
  // after the keys of deleted namespaces were removed, because the directory records the deletion.
  void RemoveLeftovers();

  std::shared_ptr<NamespaceStore> Default() const { return default_; }
  // Sorted by name, after the default namespace.
  std::vector<std::string> Names() const;
  // Opens nothing.
  bool Has(std::string_view name) const;
  // Opens nothing. kNotFound names the existing namespaces.
  Result<std::shared_ptr<NamespaceStore>> Find(std::string_view name);
  // Returns kAlreadyExists, also while another caller creates it, kInvalidArgument for a bad name,
  // MemoryLimit::Exceeded, and the errors of Store::Open.
  Result<std::shared_ptr<NamespaceStore>> Create(std::string_view name);
  Result<std::shared_ptr<NamespaceStore>> FindOrCreate(std::string_view name);
  // New requests cannot find it any more. Requests in progress continue; the buckets are removed
  // after the last of them. Returns kNotFound, kInvalidArgument for the default namespace, and
  // kUnavailable while another emulator uses the directory.
  Result<void> Delete(std::string_view name);
  // Resets every namespace: no buckets, the machine's time.
  Result<void> ResetAll();
  // The default namespace, and those that are not only on disk. Opens nothing.
  std::vector<std::shared_ptr<NamespaceStore>> Used() const;
  // Bytes of the journals of all namespaces. Opens nothing.
  std::size_t JournalMemory() const;
  // Ends all waits for journals.
  void StopJournals();

 private:
  using Charge = std::shared_ptr<store::LastingCharge>;  // of one namespace
  explicit Namespaces(NamespacesOptions options);
  // Functions for a namespace that is not in the map. They open nothing.
  std::string DirectoryOf(std::string_view name) const;
  Result<void> FindExisting();
  NamespaceStoreOptions OptionsOf(std::string_view name, Charge charge) const;
  std::uint64_t BytesOfOne() const;
  void Forget(const std::shared_ptr<NamespaceStore>& namespace_store);

  const NamespacesOptions options_;
  // options_.controls.scenario without connection rules, which have no effect in other namespaces.
  std::shared_ptr<const faults::Scenario> scenario_of_others_;
  const std::shared_ptr<DirectoryLeases> leases_ = DirectoryLeases::Create();
  const std::shared_ptr<StoreRemover> remover_ = std::make_shared<StoreRemover>();
  const std::shared_ptr<OpenStores> open_stores_ = std::make_shared<OpenStores>(
      options_.max_open > 0 ? options_.max_open : OpenStores::DefaultMax());
  std::shared_ptr<NamespaceStore> default_;  // fixed once open
  std::vector<std::string> notices_;         // fixed once open
  // Fixed once open.
  std::map<std::string, identity::NamespaceState, std::less<>> at_start_;
  mutable Mutex mutex_;  // used by requests: nothing may be opened or destroyed under it
  // Null: on disk and not used yet.
  std::map<std::string, std::shared_ptr<NamespaceStore>, std::less<>> others_
      PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACES_H_
