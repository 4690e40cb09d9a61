// Simulates a full disk in tests.
#ifndef PENSTOCK_EMULATOR_STORE_FULL_DISK_TESTING_H_
#define PENSTOCK_EMULATOR_STORE_FULL_DISK_TESTING_H_

#include <signal.h>
#include <sys/resource.h>

namespace penstock::emulator::store::testing {

// Limits the size of this process's files while it exists.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    previous_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &previous_);
    rlimit limit = previous_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &previous_);
    ::signal(SIGXFSZ, previous_handler_);
  }

 private:
  rlimit previous_{};
  void (*previous_handler_)(int) = nullptr;
};

}  // namespace penstock::emulator::store::testing

#endif  // PENSTOCK_EMULATOR_STORE_FULL_DISK_TESTING_H_
