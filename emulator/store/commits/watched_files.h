// Detects that files were removed, renamed or replaced while this process has them open, so that
// commits to them are lost for the next start.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_WATCHED_FILES_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_WATCHED_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/system/descriptor.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// Thread safety: one thread at a time.
class WatchedFiles {
 public:
  // Files or directories that exist.
  explicit WatchedFiles(const std::vector<std::string>& paths);

  // Whether each path still leads to the same file. A path that cannot be looked up for another
  // reason than a missing entry is taken for the same file.
  bool Exist() const noexcept;
  // Releases the files' space if they were deleted. Exist() is false from now on.
  void Close() noexcept;

 private:
  struct File {
    std::string path;
    // Opened with O_PATH: closing another kind of descriptor would drop SQLite's POSIX locks.
    Descriptor descriptor;
  };
  static bool Exists(const File& file) noexcept;

  std::vector<File> files_;
};

// The error of a write after `what` was removed: kDataLoss with status 500.
Error RemovedError(std::string_view what);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_WATCHED_FILES_H_
