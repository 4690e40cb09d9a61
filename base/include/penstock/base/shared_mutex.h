// A reader-writer mutex with annotations for clang's thread-safety analysis (-Wthread-safety, part
// of the lint).
#ifndef PENSTOCK_BASE_SHARED_MUTEX_H_
#define PENSTOCK_BASE_SHARED_MUTEX_H_

#include <shared_mutex>

#include "penstock/base/export.h"
#include "penstock/base/mutex.h"

#define PENSTOCK_REQUIRES_SHARED(...) PENSTOCK_TSA_(requires_shared_capability(__VA_ARGS__))

namespace PENSTOCK_EXPORT penstock {

class PENSTOCK_TSA_(capability("shared_mutex")) SharedMutex {
 public:
  void Lock() PENSTOCK_TSA_(acquire_capability()) { mutex_.lock(); }
  void Unlock() PENSTOCK_TSA_(release_capability()) { mutex_.unlock(); }
  void LockShared() PENSTOCK_TSA_(acquire_shared_capability()) { mutex_.lock_shared(); }
  void UnlockShared() PENSTOCK_TSA_(release_shared_capability()) { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds the mutex exclusively.
class PENSTOCK_TSA_(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) PENSTOCK_TSA_(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~WriterLock() PENSTOCK_TSA_(release_capability()) { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Holds the mutex shared.
class PENSTOCK_TSA_(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) PENSTOCK_TSA_(acquire_shared_capability(mutex))
      : mutex_(mutex) {
    mutex_.LockShared();
  }
  ~ReaderLock() PENSTOCK_TSA_(release_generic_capability()) { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_SHARED_MUTEX_H_
