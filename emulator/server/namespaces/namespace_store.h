// A namespace that can be replaced by an empty one while requests run.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_STORE_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_STORE_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "emulator/instruments/instruments.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/server/namespaces/directory_leases.h"
#include "emulator/server/namespaces/namespace_clock.h"
#include "emulator/server/namespaces/open_stores.h"
#include "emulator/server/namespaces/store_remover.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

struct NamespaceStoreOptions {
  std::string name = "default";
  std::string directory;  // empty: in memory
  // directories above it that the emulator created; strict mode fsyncs them
  std::vector<std::string> parents = {};
  store::Durability durability = store::Durability::kRelaxed;
  std::shared_ptr<store::MemoryLimit> memory_limit;  // of stores in memory; null: none
  std::uint64_t scrub_bytes_per_second = store::StoreOptions().scrub_bytes_per_second;
  const Clock* clock = nullptr;                     // the machine's, never null
  const s3::OwnerDirectory* owners = nullptr;       // outlives every request
  std::shared_ptr<DirectoryLeases> leases = {};     // null: nobody shares the directory
  std::shared_ptr<StoreRemover> remover = {};       // null: one of its own
  std::shared_ptr<OpenStores> open_stores = {};     // null: the store stays open
  instruments::InstrumentOptions instruments = {};  // that it begins with, after a reset too
};

// Thread safety: safe from any thread.
class NamespaceStore final : public OpenStores::Member,
                             public std::enable_shared_from_this<NamespaceStore> {
 public:
  // Its store is closed: Enter opens it. CheckScenario's errors.
  static Result<std::shared_ptr<NamespaceStore>> Make(NamespaceStoreOptions options);
  // Make, and its store is open. Store::Open's errors, and DataDirectory's.
  static Result<std::shared_ptr<NamespaceStore>> Open(NamespaceStoreOptions options);
  ~NamespaceStore() override;
  NamespaceStore(const NamespaceStore&) = delete;
  NamespaceStore& operator=(const NamespaceStore&) = delete;

  // A request keeps the namespace it began with, also across a reset. Opens the store where it is
  // closed: Open's errors, with kInternal in place of kInvalidArgument. The same holds for Reset
  // and Discard.
  Result<std::shared_ptr<s3::Namespace>> Enter();
  // Enter. Null where that fails, which the diagnostic log reports.
  std::shared_ptr<s3::Namespace> Current();
  // Faults, limits and journal as they stand. Opens nothing; a reset replaces them.
  std::shared_ptr<instruments::Instruments> CurrentInstruments() const;

  // Puts an empty store in place of the current one and gives the clock the machine's time back.
  // The remover destroys the old store once the last request has left it. On an error everything
  // stays as it was. kNotFound once discarded.
  Result<void> Reset();
  // Marks the directory as deleted. Its files stay for the requests that are in it or still come
  // with this universe in hand, and go with the last of them and this universe. A new universe of
  // that directory begins in a store of its own.
  Result<void> Discard();

  // Ends every wait for the current journal.
  void StopJournal();

  // Closes the store of a data directory that no request uses and no fault keeps anything of.
  bool CloseIfIdle() override;
  MonotonicTime last_used() const override { return last_used_.load(std::memory_order_relaxed); }

  // What its stores and requests tell the time by.
  NamespaceClock& clock() { return *clock_; }
  const std::string& name() const { return options_.name; }

 private:
  struct Generation;
  explicit NamespaceStore(NamespaceStoreOptions options);
  // A new one that goes to the remover with its last reference, if it is retired by then.
  std::shared_ptr<Generation> MakeGeneration(const std::string& path)
      PENSTOCK_REQUIRES(change_mutex_);
  Result<std::shared_ptr<Generation>> OpenGeneration(
      const std::string& path, std::shared_ptr<instruments::Instruments> instruments)
      PENSTOCK_REQUIRES(change_mutex_);
  // In strict mode: makes the names of `directory` and of what is in it durable.
  Result<void> SyncNames() const;
  Result<void> TakeLease() PENSTOCK_REQUIRES(change_mutex_);
  // Opens the current store where it is closed.
  Result<void> OpenCurrent() PENSTOCK_REQUIRES(change_mutex_);
  // Null where the store is closed.
  std::shared_ptr<s3::Namespace> EnterIfOpen();
  bool Close() PENSTOCK_REQUIRES(change_mutex_);
  bool is_open() const;

  NamespaceStoreOptions options_;  // fixed once made
  const std::shared_ptr<NamespaceClock> clock_;
  std::atomic<MonotonicTime> last_used_{MonotonicTime{}};
  // one opening, closing or reset at a time; held while files are opened and closed
  Mutex change_mutex_;
  // Null in memory mode and while the store is closed. Every generation has it too: its files need
  // the folder.
  std::shared_ptr<DirectoryLeases::Lease> lease_ PENSTOCK_GUARDED_BY(change_mutex_);
  bool discarded_ PENSTOCK_GUARDED_BY(change_mutex_) = false;
  mutable Mutex mutex_;  // never held while anything is opened or destroyed
  std::shared_ptr<instruments::Instruments> instruments_ PENSTOCK_GUARDED_BY(mutex_);
  std::shared_ptr<Generation> current_ PENSTOCK_GUARDED_BY(mutex_);  // null: closed
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_STORE_H_
