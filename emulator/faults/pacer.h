// A rate in bytes that several transfers share.
#ifndef PENSTOCK_EMULATOR_FAULTS_PACER_H_
#define PENSTOCK_EMULATOR_FAULTS_PACER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// Whoever comes takes the next stretch of time that his bytes need. Nothing is saved up while nobody comes.
//
// Thread safety: safe from any thread.
class Pacer {
 public:
  explicit Pacer(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}
  // When these bytes may leave.
  MonotonicTime Take(std::uint64_t bytes, MonotonicTime now);

 private:
  const std::uint64_t bytes_per_second_;
  Mutex mutex_;
  MonotonicTime free_ PENSTOCK_GUARDED_BY(mutex_){};  // from here on nobody has taken
};

// Pacers by what shares them. Thread safety: safe from any thread.
class Pacers {
 public:
  static constexpr std::size_t kMost = 4'096;  // beyond it all are forgotten; transfers under way keep theirs
  std::shared_ptr<Pacer> Find(const std::string& name, std::uint64_t bytes_per_second);

 private:
  Mutex mutex_;
  // Shared: with the transfers under way.
  std::unordered_map<std::string, std::shared_ptr<Pacer>> by_name_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_PACER_H_
