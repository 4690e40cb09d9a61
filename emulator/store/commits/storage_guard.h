// The interface through which the write queue checks the storage that it writes to.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_STORAGE_GUARD_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_STORAGE_GUARD_H_

#include "emulator/store/sqlite/sqlite.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Thread safety: Admit from any thread; the other methods from the queue's writer, one call at a
// time.
class StorageGuard {
 public:
  virtual ~StorageGuard() = default;
  // Called before work that needs space. An Error rejects it.
  virtual Result<void> Admit() noexcept = 0;
  // Called after a removal failed because the disk is full. True: there is space now, for removals
  // only.
  virtual bool MakeRoom() noexcept = 0;
  // Called after such a removal succeeded: takes the space back as far as possible.
  virtual void Reclaim(Connection& connection) noexcept = 0;
  // Called after a commit, before the callers get their results. An Error: the files were removed,
  // and the commit is lost with them.
  virtual Result<void> Confirm() noexcept = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_STORAGE_GUARD_H_
