#include "emulator/server/counters.h"

namespace penstock::emulator::server {

void Counters::CountRequest(std::string_view operation, int status) {
  if (operation.empty()) operation = "Unknown";
  const MutexLock lock(mutex_);
  const auto found = requests_.find(operation);
  if (found != requests_.end()) {
    ++found->second;
  } else {
    requests_.emplace(operation, 1);  // operation names are a fixed set: the map stays small
  }
  ++statuses_[status];
}

void Counters::CountBytes(std::uint64_t bytes_in, std::uint64_t bytes_out) {
  const MutexLock lock(mutex_);
  bytes_in_ += bytes_in;
  bytes_out_ += bytes_out;
}

EmulatorStats Counters::Snapshot() const {
  const MutexLock lock(mutex_);
  EmulatorStats stats;
  for (const auto& [operation, count] : requests_) stats.requests.emplace(operation, count);
  stats.statuses = statuses_;
  stats.bytes_in = bytes_in_;
  stats.bytes_out = bytes_out_;
  return stats;
}

void Counters::Reset() {
  const MutexLock lock(mutex_);
  requests_.clear();
  statuses_.clear();
  bytes_in_ = 0;
  bytes_out_ = 0;
}

}  // namespace penstock::emulator::server
