// What the emulator counts: requests, statuses, bytes.
#ifndef PENSTOCK_EMULATOR_SERVER_COUNTERS_H_
#define PENSTOCK_EMULATOR_SERVER_COUNTERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "penstock/base/mutex.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Thread safety: safe from any thread.
class Counters {
 public:
  // An unknown operation (empty) is counted as "Unknown".
  void CountRequest(std::string_view operation, int status);
  void CountBytes(std::uint64_t bytes_in, std::uint64_t bytes_out);
  EmulatorStats Snapshot() const;  // injected_failures is not counted here
  void Reset();

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> requests_ PENSTOCK_GUARDED_BY(mutex_);
  std::map<int, std::uint64_t> statuses_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t bytes_in_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_out_ PENSTOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_COUNTERS_H_
