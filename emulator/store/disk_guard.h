// Keeps a store in a directory able to remove objects when the disk is full, and notices when its
// files are removed.
//
// When the disk is full, the guard gives its reserve (reserve.h) back to the file system, so that
// deletions have room for their log; until the reserve is there again, only work that removes is
// admitted.
#ifndef PENSTOCK_EMULATOR_STORE_DISK_GUARD_H_
#define PENSTOCK_EMULATOR_STORE_DISK_GUARD_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>

#include "emulator/store/blobs/descriptor.h"
#include "emulator/store/reserve.h"
#include "emulator/store/storage_guard.h"
#include "emulator/store/store.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Gives the reserve of the store in `directory` back to the file system, for opening or replacing
// that store.
void ReleaseReserve(const std::string& directory);

// Thread safety: as StorageGuard.
class DiskGuard final : public StorageGuard {
 public:
  static constexpr std::uint64_t kBaseBytes = 512 << 10;  // of the reserve while the log is short
  // Of the reserve of a closed store: room for opening it, or for the empty store that a reset puts
  // in its place.
  static constexpr std::uint64_t kClosedBytes = 256 << 10;

  // `directory` has the database, its log and blobs/. Without room for the reserve the guard begins
  // by admitting nothing that needs room.
  DiskGuard(const std::string& directory, Durability durability);
  // After the store's connections were closed: leaves a reserve of kClosedBytes, or less where
  // there is no room.
  ~DiskGuard() override;
  DiskGuard(const DiskGuard&) = delete;
  DiskGuard& operator=(const DiskGuard&) = delete;

  // Before the connections are closed. Their last checkpoint may use the reserve above
  // kClosedBytes.
  void BeginClose() noexcept;

  // After a commit: the log has so many pages. The reserve grows with the log, because a checkpoint
  // needs as much room in the database file.
  void LogHas(int log_pages) noexcept;

  Result<void> Admit() noexcept override;
  bool MakeRoom() noexcept override;
  void Reclaim(Connection& connection) noexcept override;
  Result<void> Confirm() noexcept override;

 private:
  static constexpr std::size_t kWatched = 3;
  // of all files, whatever the directory's time says
  static constexpr unsigned kCommitsBetweenChecks = 16;

  bool FilesAreThere() const noexcept;

  const std::string directory_;
  const Durability durability_;
  // Without access: closing one must not drop SQLite's locks.
  Descriptor folder_;
  std::array<Descriptor, kWatched> watched_;
  // of the directory's entries when all files were there; zeros: not known
  timespec last_change_{};
  unsigned commits_ = 0;  // confirmed since all files were checked
  std::atomic<bool> is_full_{false};
  std::atomic<bool> is_gone_{false};
  Mutex mutex_;
  Reserve reserve_;  // changed under mutex_
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_DISK_GUARD_H_
