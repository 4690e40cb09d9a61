// Keeps a store able to remove objects when the disk is full, and detects the removal of the
// store's files.
//
// When the disk is full, the guard returns its reserve (reserve.h) to the file system, so that
// deletions have space for their log. Until the reserve is restored, only removals are
// admitted.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_DISK_GUARD_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_DISK_GUARD_H_

#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>

#include "emulator/store/commits/reserve.h"
#include "emulator/store/commits/storage_guard.h"
#include "emulator/store/commits/watched_files.h"
#include "emulator/store/system/descriptor.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Returns the reserve of the store in `directory` to the file system, before that store is opened
// or replaced.
void ReleaseReserve(const std::string& directory);

// Thread safety: see StorageGuard.
class DiskGuard final : public StorageGuard {
 public:
  // Size of the reserve while the log is short.
  static constexpr std::uint64_t kBaseBytes = 512 << 10;
  // Size of the reserve of a closed store: space for opening it, or for the empty store that
  // replaces it after a reset.
  static constexpr std::uint64_t kClosedBytes = 256 << 10;
  // All files are checked after this many commits, even if the directory's time is unchanged.
  static constexpr unsigned kCommitsBetweenChecks = 16;

  // `directory` contains the database, its log and blobs/. If there is no space for the reserve,
  // the guard starts in the full state and admits removals only.
  DiskGuard(const std::string& directory, Durability durability);
  // Runs after the connections of the store were closed. Leaves a reserve of kClosedBytes, or less
  // if the disk is full.
  ~DiskGuard() override;
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

  // Call before the connections are closed. Their last checkpoint may use the reserve above
  // kClosedBytes.
  void BeginClose() noexcept;

  // Call after a commit, with the number of pages in the log. The reserve grows with the log,
  // because a checkpoint needs as much space in the database file.
  void SetLogPages(int log_pages) noexcept;

  Result<void> Admit() noexcept override;
  bool MakeRoom() noexcept override;
  void Reclaim(Connection& connection) noexcept override;
  Result<void> Confirm() noexcept override;

 private:
  const std::string directory_;
  const Durability durability_;
  Descriptor folder_;  // as in WatchedFiles
  WatchedFiles watched_;
  // Change time of the directory when all files existed; zeros: unknown.
  timespec last_change_{};
  unsigned commits_ = 0;  // confirmed since the last check of all files
  std::atomic<bool> is_full_{false};
  std::atomic<bool> is_removed_{false};
  Mutex mutex_;
  Reserve reserve_;  // changed under mutex_
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_DISK_GUARD_H_
