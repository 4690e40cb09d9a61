#include "emulator/faults/paced_body.h"

#include <algorithm>

namespace penstock::emulator::faults {

void ReadPace::TakeTurn() {
  if (!turn_) turn_.emplace(pauses_);
}

void ReadPace::Keep(std::shared_ptr<Pacer> pacer) {
  TakeTurn();
  piece_ = pacer->piece();
  transfer_.emplace(std::move(pacer));
}

void ReadPace::Keep(std::uint64_t piece, std::chrono::nanoseconds every) {
  TakeTurn();
  piece_ = piece;
  every_ = every;
  transfer_.reset();
}

void ReadPace::Await(std::size_t bytes) {
  if (piece_ == 0) return;
  const MonotonicTime now = std::chrono::steady_clock::now();
  const MonotonicTime from = std::max(now, owed_until_);
  const MonotonicTime until = transfer_ ? transfer_->Next(bytes, from) : from + every_;
  if (turn_->granted()) {
    if (until > now) turn_->Wait(until - now);
  } else if (!pauses_.ended()) {
    owed_until_ = until;
  }
}

void HoldAnswerUntil(api::Exchange& exchange, MonotonicTime when) {
  if (when == MonotonicTime{}) return;
  exchange.WhenAnswered([when](api::Exchange& answered) {
    const std::chrono::nanoseconds left = when - std::chrono::steady_clock::now();
    if (left.count() > 0) api::HoldBack(answered.response.Delivering(), left);
  });
}

Result<std::size_t> PacedBody::Read(MutableByteView buffer) {
  if (pacer_) pace_.Keep(std::exchange(pacer_, nullptr));
  PENSTOCK_ASSIGN(const std::size_t got, inner_.Read(buffer.first(pace_.MostOf(buffer.size()))));
  if (got > 0) pace_.Await(got);
  return got;
}

}  // namespace penstock::emulator::faults
