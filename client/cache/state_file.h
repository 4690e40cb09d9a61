// The state file of a cache as one process uses it: one descriptor, and locks of its bytes.
//
// The kernel releases all record locks of a process on a file when the process closes any
// descriptor of that file. So all caches that a process opens in one directory share one
// descriptor.
#ifndef PENSTOCK_CLIENT_CACHE_STATE_FILE_H_
#define PENSTOCK_CLIENT_CACHE_STATE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/io/descriptor.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::cache {

// Thread safety: any thread. Belongs to the process that opened it.
class StateFile {
 public:
  struct Release {
    void operator()(StateFile* file) const;
  };
  // The last one of the process closes the file.
  using Ptr = std::unique_ptr<StateFile, Release>;

  // `create`: makes a missing file.
  static Result<Ptr> Open(const std::string& path, bool create);
  explicit StateFile(Descriptor file) : file_(std::move(file)) {}
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  int fd() const { return file_.get(); }

  // Returns false if another process has the lock. Without working locks, true. A lock does not
  // exclude threads of this process.
  bool TryLock(std::uint64_t byte) const;
  void Unlock(std::uint64_t byte) const;
  // Whether another process has the lock.
  bool IsLocked(std::uint64_t byte) const;

  // Exclude the threads of this process while it has the lock of the counters, or of an eviction.
  Mutex counters;
  Mutex eviction;

 private:
  const Descriptor file_;
};

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_STATE_FILE_H_
