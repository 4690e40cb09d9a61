#include "emulator/traffic/pacer.h"

#include <algorithm>

namespace penstock::emulator::traffic {

MonotonicTime Pacer::Take(std::uint64_t bytes, MonotonicTime since) {
  const std::chrono::duration<double> time(static_cast<double>(bytes) /
                                           static_cast<double>(bytes_per_second_));
  const MutexLock lock(mutex_);
  free_ = std::max(free_, since) + std::chrono::duration_cast<MonotonicTime::duration>(time);
  return free_;
}

std::uint64_t Pacer::piece() const {
  constexpr std::uint64_t kPiecesPerSecond = 50;
  return std::clamp<std::uint64_t>(bytes_per_second_ / kPiecesPerSecond, 1, 1 << 20);
}

MonotonicTime PacedTransfer::Next(std::uint64_t bytes, MonotonicTime now) {
  constexpr std::chrono::milliseconds kMaxLateness{100};
  const bool first = ready_ == MonotonicTime{};
  ready_ = pacer_->Take(bytes, first ? now : std::max(ready_, now - kMaxLateness));
  return ready_;
}

void PaceResponse(message::Delivery& delivery, std::shared_ptr<Pacer> pacer) {
  const std::uint64_t piece = pacer->piece();
  message::KeepPace(
      delivery, piece,
      [transfer = PacedTransfer(std::move(pacer))](std::uint64_t bytes, MonotonicTime now) mutable {
        return transfer.Next(bytes, now);
      });
}

std::shared_ptr<Pacer> Pacers::Find(const std::string& name, std::uint64_t bytes_per_second) {
  const MutexLock lock(mutex_);
  if (by_name_.size() >= kMax && !by_name_.contains(name)) by_name_.clear();
  std::shared_ptr<Pacer>& pacer = by_name_[name];
  if (!pacer) pacer = std::make_shared<Pacer>(bytes_per_second);
  return pacer;
}

}  // namespace penstock::emulator::traffic
