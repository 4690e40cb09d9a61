// What the write queue asks about the storage that its connection writes to.
#ifndef PENSTOCK_EMULATOR_STORE_STORAGE_GUARD_H_
#define PENSTOCK_EMULATOR_STORE_STORAGE_GUARD_H_

#include "emulator/store/sqlite/sqlite.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Thread safety: Admit from any thread; the rest from the queue's writer, one call at a time.
class StorageGuard {
 public:
  virtual ~StorageGuard() = default;
  // Before work that needs room. An Error refuses it.
  virtual Result<void> Admit() noexcept = 0;
  // After work that only removes failed for want of room: true when there is room now, for such
  // work alone.
  virtual bool MakeRoom() noexcept = 0;
  // After such work succeeded in that room: brings it back as far as possible.
  virtual void Reclaim(Connection& connection) noexcept = 0;
  // After a commit, before its callers get their results. An Error: the files are gone, and the
  // commit with them.
  virtual Result<void> Confirm() noexcept = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_STORAGE_GUARD_H_
