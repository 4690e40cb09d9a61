#include "emulator/traffic/paced_body.h"

#include <string>

#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::traffic {

Result<void> ReadPace::EnsureTurn() {
  if (!permit_) permit_.emplace(pauses_, wire_);
  if (permit_->granted() || pauses_.ended()) return Ok();
  return s3::MakeError(
      "SlowDown", {},
      "The rate of this request body cannot be limited: the emulator paces at most " +
          std::to_string(Pauses::kMax) +
          " request bodies at a time. Send fewer concurrent requests.");
}

Result<void> ReadPace::SetPace(std::shared_ptr<Pacer> pacer) {
  PENSTOCK_TRY(EnsureTurn());
  piece_ = pacer->piece();
  transfer_.emplace(std::move(pacer));
  return Ok();
}

Result<void> ReadPace::SetPace(std::uint64_t piece, std::chrono::nanoseconds every) {
  PENSTOCK_TRY(EnsureTurn());
  piece_ = piece;
  every_ = every;
  transfer_.reset();
  return Ok();
}

bool ReadPace::Await(std::size_t bytes) {
  if (piece_ == 0) return true;
  const MonotonicTime now = std::chrono::steady_clock::now();
  const MonotonicTime until = transfer_ ? transfer_->Next(bytes, now) : now + every_;
  if (until <= now || permit_->Wait(until - now)) return true;
  piece_ = 0;
  return false;
}

Result<std::size_t> PacedBody::Read(MutableByteView buffer) {
  if (pacer_) PENSTOCK_TRY(pace_.SetPace(std::exchange(pacer_, nullptr)));
  PENSTOCK_ASSIGN(const std::size_t got, inner().Read(buffer.first(pace_.MaxRead(buffer.size()))));
  if (got > 0) pace_.Await(got);
  return got;
}

}  // namespace penstock::emulator::traffic
