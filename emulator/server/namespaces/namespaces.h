// The namespaces of one emulator: universes by name.
//
//   DIR/                       the default namespace
//   DIR/namespaces/NAME/       every other one
//   DIR/namespaces/.deleted-*  deleted, about to go
//
// A deleted one that requests are still in stays where it is, marked (data_directory.h), and goes
// with the last of them.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACES_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/server/identity/users_document.h"
#include "emulator/server/namespaces/namespace_store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::server {

struct NamespacesOptions {
  std::string directory;  // empty: all in memory
  store::Durability durability = store::Durability::kRelaxed;
  std::shared_ptr<store::MemoryLimit> memory_limit;  // of stores in memory; null: none
  std::uint64_t scrub_bytes_per_second = store::StoreOptions().scrub_bytes_per_second;
  const Clock* clock = nullptr;                // the machine's, never null
  const s3::OwnerDirectory* owners = nullptr;  // outlives this
  instruments::InstrumentOptions instruments;  // of each of them
  // How many namespaces of a data directory, beside the default one, are open at a time; 0:
  // OpenStores::UsualMost().
  std::size_t most_open = 0;
};

// Thread safety: safe from any thread. Requests ask a NamespaceStore, not this.
class Namespaces {
 public:
  // Opens the default namespace alone. Others of the data directory are opened by
  // NamespaceStore::Enter, and idle ones are closed where more than `most_open` are open.
  static Result<std::unique_ptr<Namespaces>> Open(NamespacesOptions options);

  std::shared_ptr<NamespaceStore> Default() const { return default_; }
  // By name, the default first.
  std::vector<std::string> Names() const;
  // Opens nothing.
  bool Has(std::string_view name) const;
  // Opens nothing. kNotFound, naming what there is.
  Result<std::shared_ptr<NamespaceStore>> Find(std::string_view name);
  // kAlreadyExists, also while another caller creates it; kInvalidArgument for a bad name.
  // Store::Open's errors.
  Result<std::shared_ptr<NamespaceStore>> Create(std::string_view name);
  Result<std::shared_ptr<NamespaceStore>> FindOrCreate(std::string_view name);
  // At once for whoever comes; requests in it end as they began, and its buckets go once the last
  // has left. kNotFound; kInvalidArgument for the default one.
  Result<void> Delete(std::string_view name);
  // Every one becomes as new: no buckets, the machine's time.
  Result<void> ResetAll();
  // Nobody waits for a journal any more.
  void StopJournals();

 private:
  explicit Namespaces(NamespacesOptions options) : options_(std::move(options)) {}
  // A universe that is not in the map. Opens nothing.
  std::string DirectoryOf(std::string_view name) const;
  Result<void> FindExisting();
  NamespaceStoreOptions OptionsOf(std::string_view name) const;
  void Forget(const std::shared_ptr<NamespaceStore>& universe);

  const NamespacesOptions options_;
  const std::shared_ptr<DirectoryLeases> leases_ = DirectoryLeases::Create();
  const std::shared_ptr<StoreRemover> remover_ = std::make_shared<StoreRemover>();
  const std::shared_ptr<OpenStores> open_stores_ = std::make_shared<OpenStores>(
      options_.most_open > 0 ? options_.most_open : OpenStores::UsualMost());
  std::shared_ptr<NamespaceStore> default_;  // fixed once open
  mutable Mutex mutex_;  // requests need it: nothing is opened or destroyed under it
  // Null: on disk, not asked for yet.
  std::map<std::string, std::shared_ptr<NamespaceStore>, std::less<>> others_
      PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACES_H_
