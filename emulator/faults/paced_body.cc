#include "emulator/faults/paced_body.h"

namespace penstock::emulator::faults {

bool ReadPace::TakeTurn() {
  if (!turn_) turn_.emplace(pauses_);
  return turn_->granted();
}

bool ReadPace::Keep(std::shared_ptr<Pacer> pacer) {
  if (!TakeTurn()) return false;
  piece_ = pacer->piece();
  transfer_.emplace(std::move(pacer));
  return true;
}

bool ReadPace::Keep(std::uint64_t piece, std::chrono::nanoseconds every) {
  if (!TakeTurn()) return false;
  piece_ = piece;
  every_ = every;
  transfer_.reset();
  return true;
}

void ReadPace::Await(std::size_t bytes) {
  if (piece_ == 0) return;
  const MonotonicTime now = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds time = transfer_ ? transfer_->Next(bytes, now) - now : every_;
  if (time.count() > 0) turn_->Wait(time);
}

Result<std::size_t> PacedBody::Read(MutableByteView buffer) {
  if (pacer_) pace_.Keep(std::exchange(pacer_, nullptr));
  PENSTOCK_ASSIGN(const std::size_t got, inner_.Read(buffer.first(pace_.MostOf(buffer.size()))));
  if (got > 0) pace_.Await(got);
  return got;
}

}  // namespace penstock::emulator::faults
