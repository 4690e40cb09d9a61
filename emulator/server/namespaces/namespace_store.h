// A namespace that can be replaced by an empty one while requests run.
#ifndef PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_STORE_H_
#define PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_STORE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/identity/identities.h"
#include "emulator/lifecycle/engine.h"
#include "emulator/lifecycle/worker.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/server/namespaces/controls.h"
#include "emulator/server/namespaces/directory_leases.h"
#include "emulator/server/namespaces/lifecycle_schedule.h"
#include "emulator/server/namespaces/namespace_clock.h"
#include "emulator/server/namespaces/open_stores.h"
#include "emulator/server/namespaces/store_remover.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"
#include "penstock/base/shared_mutex.h"

namespace penstock::emulator::server {

struct NamespaceStoreOptions {
  std::string name = "default";
  std::string directory;  // empty: in memory
  // Directories above it that the emulator created; strict mode fsyncs them.
  std::vector<std::string> parents = {};
  bool exists = false;  // a missing store is an error; otherwise it is created
  store::Durability durability = store::Durability::kRelaxed;
  // Of a store in memory, and of the scenarios that a reset removes. Null: no limit.
  std::shared_ptr<store::MemoryLimit> memory_limit;
  // For the memory of the namespace itself, while requests use it. Null: not charged.
  std::shared_ptr<const store::LastingCharge> charge = {};
  std::uint64_t scrub_bytes_per_second = store::StoreOptions().scrub_bytes_per_second;
  const Clock* clock = nullptr;                  // the machine's clock; never null
  const s3::OwnerDirectory* owners = nullptr;    // outlives every request
  std::shared_ptr<DirectoryLeases> leases = {};  // null: the directory is not shared
  std::shared_ptr<StoreRemover> remover = {};    // null: creates its own
  std::shared_ptr<OpenStores> open_stores = {};  // null: the store stays open
  TestControlOptions controls = {};              // initial ones, also after a reset
  std::function<void()> on_open = {};            // called after the store was opened; may be empty
  std::shared_ptr<store::ChangeSignal> event_signal = {};  // as in StoreOptions
};

// Thread safety: methods may be called from any thread.
class NamespaceStore final : public OpenStores::Member,
                             public lifecycle::Worker::Member,
                             public identity::KeyNamespace,
                             public std::enable_shared_from_this<NamespaceStore> {
 public:
  // The store is closed until Enter opens it. Returns the errors of CheckScenario.
  static Result<std::shared_ptr<NamespaceStore>> Make(NamespaceStoreOptions options);
  // Make, with an open store. Also returns the errors of Store::Open and DataDirectory.
  static Result<std::shared_ptr<NamespaceStore>> Open(NamespaceStoreOptions options);
  ~NamespaceStore() override;
  NamespaceStore(const NamespaceStore&) = delete;
  NamespaceStore& operator=(const NamespaceStore&) = delete;

  // A request keeps the namespace it began with, even across a reset. Opens the store if it is
  // closed: returns the errors of Open, with kInternal instead of kInvalidArgument. The same
  // applies to Reset and Discard.
  Result<std::shared_ptr<s3::Namespace>> Enter();
  // Enter; null if that fails, which the diagnostic log reports.
  std::shared_ptr<s3::Namespace> Current() override;
  // The current store without opening it or counting as its use; null: it is closed.
  std::shared_ptr<s3::Namespace> Peek() const;
  // Returns the current faults, limits and journal. Opens nothing; a reset replaces them.
  std::shared_ptr<TestControls> CurrentControls() const;

  // Replaces the current store by an empty one and restores the machine's time. The remover
  // destroys the old store after its last request. On an error nothing changes. Returns kNotFound
  // after Discard.
  Result<void> Reset();
  // Marks the directory as deleted. Requests that hold this namespace may still use its files,
  // which are removed with the last of them and this object. A new namespace in that directory gets
  // its own store.
  Result<void> Discard();

  // Ends every wait for the current journal.
  void StopJournal();

  // Closes the store if it has a data directory, no request uses it and no fault needs its state.
  bool CloseIfIdle() override;
  MonotonicTime last_used() const override { return last_used_.load(std::memory_order_relaxed); }

  // Runs the lifecycle rules of one bucket, or of all (empty). Returns the account of what was done
  // since the last call, also in the background.
  Result<lifecycle::Account> RunLifecycle(const std::string& bucket,
                                          const std::function<bool()>& cancelled);
  LifecycleSchedule& lifecycle_schedule() { return schedule_; }
  // Of the background runs. A closed store has none.
  std::optional<std::chrono::nanoseconds> UntilRun() override;
  void RunDue(const std::function<bool()>& cancelled) override;

  // The clock of its stores and requests.
  NamespaceClock& clock() { return *clock_; }
  const std::string& name() const override { return options_.name; }

 private:
  struct Generation;
  explicit NamespaceStore(NamespaceStoreOptions options);
  // Creates a generation. It is passed to the remover with its last reference if it is retired
  // then.
  std::shared_ptr<Generation> MakeGeneration(const std::string& path)
      PENSTOCK_REQUIRES(change_mutex_);
  Result<std::shared_ptr<Generation>> OpenGeneration(const std::string& path,
                                                     std::shared_ptr<TestControls> controls)
      PENSTOCK_REQUIRES(change_mutex_);
  // OpenGeneration for the store that replaces the current one.
  Result<std::shared_ptr<Generation>> OpenNext(std::shared_ptr<TestControls> controls)
      PENSTOCK_REQUIRES(change_mutex_);
  // In strict mode: makes the names of `directory` and of its entries durable.
  Result<void> SyncNames() const;
  Result<void> TakeLease() PENSTOCK_REQUIRES(change_mutex_);
  // Opens the current store if it is closed.
  Result<void> OpenCurrent() PENSTOCK_REQUIRES(change_mutex_);
  // The error of an opening after the start. kUnavailable while another emulator uses the
  // directory.
  Error AfterStart(Error error) const;
  // Returns null if the store is closed.
  std::shared_ptr<s3::Namespace> EnterIfOpen();
  bool Close() PENSTOCK_REQUIRES(change_mutex_);
  bool is_open() const;

  NamespaceStoreOptions options_;  // fixed between construction and destruction
  const std::shared_ptr<NamespaceClock> clock_;
  std::atomic<MonotonicTime> last_used_{MonotonicTime{}};
  lifecycle::Engine lifecycle_;
  LifecycleSchedule schedule_;
  // One opening, closing or reset at a time. Held while files are opened and closed.
  Mutex change_mutex_;
  // Null in memory mode and while the store is closed. Every generation holds it too, because its
  // files need the directory.
  std::shared_ptr<DirectoryLeases::Lease> lease_ PENSTOCK_GUARDED_BY(change_mutex_);
  bool discarded_ PENSTOCK_GUARDED_BY(change_mutex_) = false;
  // Whether the store was created, by this object or before it.
  bool has_existed_ PENSTOCK_GUARDED_BY(change_mutex_) = false;
  mutable SharedMutex mutex_;  // must not be held while anything is opened or destroyed
  std::shared_ptr<TestControls> controls_ PENSTOCK_GUARDED_BY(mutex_);
  std::shared_ptr<Generation> current_ PENSTOCK_GUARDED_BY(mutex_);  // null: closed
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_NAMESPACES_NAMESPACE_STORE_H_
