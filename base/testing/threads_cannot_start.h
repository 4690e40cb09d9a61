// Makes the start of threads fail, for tests.
#ifndef PENSTOCK_BASE_TESTING_THREADS_CANNOT_START_H_
#define PENSTOCK_BASE_TESTING_THREADS_CANNOT_START_H_

#include <pthread.h>

#include <cstddef>

namespace penstock::testing {

// Sets the default stack size of new threads, in its scope, to more than any address space, so that
// pthread_create fails.
class ThreadsCannotStart {
 public:
  ThreadsCannotStart() {
    pthread_attr_init(&before_);
    pthread_getattr_default_np(&before_);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 50);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  ~ThreadsCannotStart() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  ThreadsCannotStart(const ThreadsCannotStart&) = delete;
  ThreadsCannotStart& operator=(const ThreadsCannotStart&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace penstock::testing

#endif  // PENSTOCK_BASE_TESTING_THREADS_CANNOT_START_H_
