#include "emulator/faults/pacer.h"

#include <algorithm>

namespace penstock::emulator::faults {

MonotonicTime Pacer::Take(std::uint64_t bytes, MonotonicTime now) {
  const std::chrono::duration<double> time(static_cast<double>(bytes) / static_cast<double>(bytes_per_second_));
  const MutexLock lock(mutex_);
  const MonotonicTime begin = std::max(free_, now);
  free_ = begin + std::chrono::duration_cast<MonotonicTime::duration>(time);
  return begin;
}

std::shared_ptr<Pacer> Pacers::Find(const std::string& name, std::uint64_t bytes_per_second) {
  const MutexLock lock(mutex_);
  if (by_name_.size() >= kMost && !by_name_.contains(name)) by_name_.clear();
  std::shared_ptr<Pacer>& pacer = by_name_[name];
  if (!pacer) pacer = std::make_shared<Pacer>(bytes_per_second);
  return pacer;
}

}  // namespace penstock::emulator::faults
