// The lock of a data directory: an flock(2) on the file penstock.lock in it. The file remains when
// the lock is released.
#ifndef PENSTOCK_EMULATOR_STORE_SYSTEM_DIRECTORY_LOCK_H_
#define PENSTOCK_EMULATOR_STORE_SYSTEM_DIRECTORY_LOCK_H_

#include <string>
#include <utility>

#include "emulator/store/system/descriptor.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Movable, not copyable.
class DirectoryLock {
 public:
  DirectoryLock() = default;  // holds nothing
  // Locks exclusively, for a process that changes the directory. Creates the file. kInvalidArgument
  // if another process holds the lock.
  static Result<DirectoryLock> Take(const std::string& directory);
  // Locks for reading. Holds nothing if the directory was never locked. kConflict
  // while a process holds the exclusive lock.
  static Result<DirectoryLock> Share(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&&) noexcept = default;
  DirectoryLock& operator=(DirectoryLock&&) noexcept = default;

 private:
  explicit DirectoryLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SYSTEM_DIRECTORY_LOCK_H_
