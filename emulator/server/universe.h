// A namespace that can be replaced by an empty one while requests run.
#ifndef PENSTOCK_EMULATOR_SERVER_UNIVERSE_H_
#define PENSTOCK_EMULATOR_SERVER_UNIVERSE_H_

#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "emulator/api/exchange.h"
#include "emulator/instruments/instruments.h"
#include "emulator/server/directory_leases.h"
#include "emulator/server/namespace_clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

struct UniverseOptions {
  std::string name = "default";
  std::string directory;  // empty: in memory
  store::Durability durability = store::Durability::kRelaxed;
  std::uint64_t scrub_bytes_per_second = store::StoreOptions().scrub_bytes_per_second;
  const Clock* clock = nullptr;                 // the machine's, never null
  const api::OwnerDirectory* owners = nullptr;  // outlives every request
  std::shared_ptr<DirectoryLeases> leases;      // null: nobody shares the directory
  instruments::InstrumentOptions instruments;   // that it begins with, after a reset too
};

// Thread safety: safe from any thread.
class Universe {
 public:
  // Store::Open's errors, and DataDirectory's.
  static Result<std::unique_ptr<Universe>> Open(UniverseOptions options);
  ~Universe();
  Universe(const Universe&) = delete;
  Universe& operator=(const Universe&) = delete;

  // A request keeps the namespace it began with, also across a reset.
  std::shared_ptr<api::Namespace> Current() const;
  // Puts an empty store in place of the current one and gives the clock the machine's time back. O(1): the old store is
  // taken apart on another thread once the last request left it. On an error everything stays as it was. kNotFound once
  // discarded.
  Result<void> Reset();
  // Marks the directory as deleted. Its files stay for the requests that are in it or still come with this universe in hand,
  // and go with the last of them and this universe. A new universe of that directory begins in a store of its own.
  Result<void> Discard();

  // Ends every wait for the current journal.
  void StopJournal();

  // What its stores and requests tell the time by.
  NamespaceClock& clock() { return *clock_; }
  const std::string& name() const { return options_.name; }

 private:
  struct Generation;
  explicit Universe(UniverseOptions options);
  Result<std::shared_ptr<Generation>> OpenGeneration(const std::string& path) const;
  void DismantleRetired();

  UniverseOptions options_;  // fixed once open
  const std::shared_ptr<NamespaceClock> clock_;
  std::shared_ptr<DirectoryLeases::Lease> lease_;  // null in memory mode; every generation has it too: its files need the folder
  Mutex reset_mutex_;                              // one reset at a time
  bool discarded_ PENSTOCK_GUARDED_BY(reset_mutex_) = false;
  mutable Mutex mutex_;
  std::shared_ptr<Generation> current_ PENSTOCK_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<Generation>> retired_ PENSTOCK_GUARDED_BY(mutex_);
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  CondVar retired_or_stopping_;
  std::jthread dismantler_;  // started by the first reset
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_UNIVERSE_H_
