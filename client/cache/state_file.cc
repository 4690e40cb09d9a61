#include "client/cache/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/io/file_error.h"
#include "client/memory/per_process.h"

namespace penstock::cache {
namespace {

// The state files of this process by device and inode. An open file keeps its inode, so no other
// file has the same key. Files are opened and closed under the lock: a descriptor that is closed
// beside another one of the same file would release the other one's record locks.
struct OpenFiles {
  struct Use {
    std::unique_ptr<StateFile> file;
    int count = 0;
  };
  Mutex mutex;
  std::map<std::pair<::dev_t, ::ino_t>, Use> files PENSTOCK_GUARDED_BY(mutex);
};

OpenFiles& OfProcess() {
  static constinit memory::PerProcess<OpenFiles> of_process;
  return of_process.Mine([](OpenFiles*) { return new OpenFiles; });
}

struct ::flock LockOf(std::uint64_t byte, short type) {
  struct ::flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<::off_t>(byte);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<StateFile::Ptr> StateFile::Open(const std::string& path, bool create) {
  OpenFiles& open = OfProcess();
  const MutexLock lock(open.mutex);
  struct ::stat status {};
  const bool exists = ::lstat(path.c_str(), &status) == 0;
  auto found = exists ? open.files.find(std::pair(status.st_dev, status.st_ino)) : open.files.end();
  if (found == open.files.end()) {
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0);
    Descriptor file(::open(path.c_str(), flags, 0600));
    if (!file || ::fstat(file.get(), &status) != 0) return FileError("open", path, errno);
    found = open.files.try_emplace(std::pair(status.st_dev, status.st_ino)).first;
    if (found->second.file == nullptr)
      found->second.file = std::make_unique<StateFile>(std::move(file));
  }
  ++found->second.count;
  return Ptr(found->second.file.get());
}

void StateFile::Release::operator()(StateFile* file) const {
  OpenFiles& open = OfProcess();
  const MutexLock lock(open.mutex);
  const auto found = std::ranges::find_if(
      open.files, [file](const auto& entry) { return entry.second.file.get() == file; });
  // In a forked child, the file of the parent stays open: a file of the child may be the same one.
  if (found != open.files.end() && --found->second.count == 0) open.files.erase(found);
}

bool StateFile::TryLock(std::uint64_t byte) const {
  struct ::flock lock = LockOf(byte, F_WRLCK);
  for (;;) {
    if (::fcntl(fd(), F_SETLK, &lock) == 0) return true;
    if (errno != EINTR) return errno != EAGAIN && errno != EACCES;  // no locks: work without them
  }
}

void StateFile::Unlock(std::uint64_t byte) const {
  struct ::flock lock = LockOf(byte, F_UNLCK);
  static_cast<void>(::fcntl(fd(), F_SETLK, &lock));
}

bool StateFile::IsLocked(std::uint64_t byte) const {
  struct ::flock lock = LockOf(byte, F_WRLCK);
  return ::fcntl(fd(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace penstock::cache
