// Keeps a store in a directory able to remove objects when the disk is full, and notices when its files are removed.
//
// A reserve is a file of preallocated space. When the disk is full, the guard gives it back to the file system, so that
// deletions have room for their log; until the reserve is there again, only work that removes is admitted.
#ifndef PENSTOCK_EMULATOR_STORE_DISK_GUARD_H_
#define PENSTOCK_EMULATOR_STORE_DISK_GUARD_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "emulator/store/descriptor.h"
#include "emulator/store/storage_guard.h"
#include "emulator/store/store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Gives the reserve of the store in `directory` back to the file system, for whoever replaces that store.
void ReleaseReserve(const std::string& directory);

// Thread safety: as StorageGuard.
class DiskGuard final : public StorageGuard {
 public:
  static constexpr std::uint64_t kBaseBytes = 512 << 10;  // of the reserve while the log is short

  // `directory` has the database, its log and blobs/. Without room for the reserve the guard begins by admitting
  // nothing that needs room.
  DiskGuard(const std::string& directory, Durability durability);
  // Removes the reserve.
  ~DiskGuard() override;
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

  // After a commit: the log has so many pages. The reserve grows with the log, because a checkpoint needs as much room in
  // the database file.
  void LogHas(int log_pages) noexcept;

  Result<void> Admit() noexcept override;
  bool MakeRoom() noexcept override;
  void Reclaim(Connection& connection) noexcept override;
  Result<void> Confirm() noexcept override;

 private:
  static constexpr std::size_t kWatched = 3;
  static constexpr unsigned kCommitsBetweenChecks = 16;  // of all files, in relaxed mode; of the log alone: each commit

  // True: the reserve has at least `bytes`, or the file system cannot preallocate.
  bool Ensure(std::uint64_t bytes) PENSTOCK_REQUIRES(mutex_);

  const std::string directory_;
  const Durability durability_;
  const Descriptor reserve_;
  std::array<Descriptor, kWatched> watched_;  // without access: closing one must not drop SQLite's locks
  unsigned commits_ = 0;                      // confirmed since all files were checked
  std::atomic<bool> is_full_{false};
  std::atomic<bool> is_gone_{false};
  std::atomic<std::uint64_t> reserved_{0};
  std::atomic<std::uint64_t> wanted_{kBaseBytes};
  Mutex mutex_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_DISK_GUARD_H_
