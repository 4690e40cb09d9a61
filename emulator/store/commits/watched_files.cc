#include "emulator/store/commits/watched_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace penstock::emulator::store {

WatchedFiles::WatchedFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    files_.push_back({path, Descriptor(::open(path.c_str(), O_PATH | O_CLOEXEC))});
}

bool WatchedFiles::Exist() const noexcept {
  return std::all_of(files_.begin(), files_.end(), Exists);
}

// The open descriptor keeps the number of the file from being used again. It is compared with a
// new result of the system, because some file systems (overlayfs) change it.
bool WatchedFiles::Exists(const File& file) noexcept {
  struct stat opened {};
  struct stat named {};
  if (!file.descriptor || ::fstat(file.descriptor.get(), &opened) != 0 || opened.st_nlink == 0)
    return false;
  if (::stat(file.path.c_str(), &named) != 0) return errno != ENOENT && errno != ENOTDIR;
  return named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

void WatchedFiles::Close() noexcept {
  for (File& file : files_) file.descriptor.Close();
}

Error RemovedError(std::string_view what) {
  Error error = Error::Make(ErrorKind::kDataLoss,
                            "The emulator's " + std::string(what) +
                                " was removed or replaced while the emulator was running, so "
                                "changes cannot be stored. Restart the emulator.");
  error.code = "InternalError";
  error.http_status = 500;
  return error;
}

}  // namespace penstock::emulator::store
