// Unlinks files on a separate thread, because freeing the pages of a large file takes longer than
// storing a small object.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_FILE_REMOVER_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_FILE_REMOVER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Thread safety: any thread. The thread starts with the first file.
class FileRemover {
 public:
  // Remove blocks while this many files wait, so that deletions cannot outrun the disk.
  static constexpr std::size_t kMaxWaiting = 32;

  FileRemover() = default;
  // Returns when every file is unlinked.
  ~FileRemover();
  FileRemover(const FileRemover&) = delete;
  FileRemover& operator=(const FileRemover&) = delete;

  // Unlinks `path`, then calls `removed` on the same thread. A file that cannot be unlinked
  // remains until the next start deletes it.
  void Remove(std::string path, std::function<void()> removed);
  // Waits until all files of earlier calls are unlinked.
  void Flush();

 private:
  struct File {
    std::string path;
    std::function<void()> removed;
  };
  static void Unlink(const File& file);
  void Work();

  Mutex mutex_;
  CondVar changed_;
  std::vector<File> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  std::size_t unfinished_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // waiting or being unlinked
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_FILE_REMOVER_H_
