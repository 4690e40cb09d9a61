#include "emulator/store/system/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace penstock::emulator::store {
namespace {

std::string LockPath(const std::string& directory) { return directory + "/penstock.lock"; }

// Fails with `kind` and a message with `in_use` while another process holds the lock.
Result<void> Lock(const Descriptor& file, int how, const std::string& directory, ErrorKind kind,
                  const std::string& in_use) {
  if (::flock(file.get(), how | LOCK_NB) == 0) return Ok();
  if (errno != EWOULDBLOCK)
    return SystemError(ErrorKind::kInvalidArgument, "lock", LockPath(directory), errno);
  return Error::Make(kind, "the directory " + directory + " is in use by " + in_use);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  const std::string path = LockPath(directory);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return SystemError(ErrorKind::kInvalidArgument, "open", path, errno);
  PENSTOCK_TRY(Lock(file, LOCK_EX, directory, ErrorKind::kInvalidArgument,
                    "another emulator; stop it or choose another directory"));
  return DirectoryLock(std::move(file));
}

Result<DirectoryLock> DirectoryLock::Share(const std::string& directory) {
  const std::string path = LockPath(directory);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return DirectoryLock();
  if (!file) return SystemError(ErrorKind::kInvalidArgument, "open", path, errno);
  PENSTOCK_TRY(Lock(file, LOCK_SH, directory, ErrorKind::kConflict,
                    "an emulator; stop it before the check"));
  return DirectoryLock(std::move(file));
}

DirectoryLock::~DirectoryLock() {
  // A forked child may hold a copy of the descriptor, which would keep the lock.
  if (file_) ::flock(file_.get(), LOCK_UN);
}

}  // namespace penstock::emulator::store
