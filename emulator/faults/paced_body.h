// A request's body that is taken no faster than a rate allows.
#ifndef PENSTOCK_EMULATOR_FAULTS_PACED_BODY_H_
#define PENSTOCK_EMULATOR_FAULTS_PACED_BODY_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/faults/pacer.h"
#include "emulator/faults/pauses.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// How much of a body may be read at once, and the wait after it.
//
// A paced body is read by a thread that waits. At most Pauses::kMost of them exist at a time; a
// further one is refused with 503 SlowDown.
//
// Thread safety: one thread at a time.
class ReadPace {
 public:
  // Both outlive this. Nothing is held back yet. `wire`: the request's, may be null.
  ReadPace(Pauses& pauses, s3::Wire* wire) : pauses_(pauses), wire_(wire) {}

  // From now on at the pacer's rate.
  Result<void> Keep(std::shared_ptr<Pacer> pacer);
  // From now on `piece` bytes at a time, and `every` behind each.
  Result<void> Keep(std::uint64_t piece, std::chrono::nanoseconds every);

  std::uint64_t MostOf(std::uint64_t bytes) const {
    return piece_ > 0 && piece_ < bytes ? piece_ : bytes;
  }
  // Waits until the pace allows the next piece after `bytes`. Returns false where the client closed
  // the connection meanwhile; the rest of the body has no pace.
  bool Await(std::size_t bytes);

 private:
  Result<void> TakeTurn();

  Pauses& pauses_;
  s3::Wire* const wire_;
  std::optional<Pauses::Turn> turn_;
  std::uint64_t piece_ = 0;  // 0: no pace
  std::optional<PacedTransfer> transfer_;
  std::chrono::nanoseconds every_{};
};

class PacedBody final : public s3::BodyReader {
 public:
  // `inner`, `pauses` and `wire` outlive this. `wire`: see ReadPace.
  PacedBody(s3::BodyReader& inner, Pauses& pauses, s3::Wire* wire, std::shared_ptr<Pacer> pacer)
      : inner_(inner), pace_(pauses, wire), pacer_(std::move(pacer)) {}

  Result<std::size_t> Read(MutableByteView buffer) override;
  std::optional<std::uint64_t> Length() const override { return inner_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return inner_.Trailers();
  }
  bool WithholdContinue() override { return inner_.WithholdContinue(); }

 private:
  s3::BodyReader& inner_;
  ReadPace pace_;
  std::shared_ptr<Pacer> pacer_;  // until the first byte is asked for
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_PACED_BODY_H_
