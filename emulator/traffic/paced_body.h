// A request body that is read at a limited rate.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_PACED_BODY_H_
#define PENSTOCK_EMULATOR_TRAFFIC_PACED_BODY_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "emulator/s3/core/exchange.h"
#include "emulator/traffic/pacer.h"
#include "emulator/traffic/pauses.h"

namespace penstock::emulator::traffic {

// Limits how much of a body is read at once, and waits after each read.
//
// A paced body occupies a waiting thread. At most Pauses::kMax paced bodies exist at a time;
// further ones are rejected with 503 SlowDown.
//
// Thread safety: one thread at a time.
class ReadPace {
 public:
  // `pauses` and `wire` must outlive this object. No rate applies yet. `wire`: of the request; may
  // be null.
  ReadPace(Pauses& pauses, s3::Wire* wire) : pauses_(pauses), wire_(wire) {}

  // Applies the pacer's rate from now on. Returns SlowDown if too many bodies are paced.
  Result<void> SetPace(std::shared_ptr<Pacer> pacer);
  // Reads `piece` bytes at a time from now on, and waits `every` after each piece. Returns SlowDown
  // if too many bodies are paced.
  Result<void> SetPace(std::uint64_t piece, std::chrono::nanoseconds every);

  std::uint64_t MaxRead(std::uint64_t bytes) const {
    return piece_ > 0 && piece_ < bytes ? piece_ : bytes;
  }
  // Waits until the next piece may be read after `bytes`. Returns false if the client has closed
  // the connection; the rest of the body is then read without a limit.
  bool Await(std::size_t bytes);

 private:
  Result<void> EnsureTurn();

  Pauses& pauses_;
  s3::Wire* const wire_;
  std::optional<Pauses::Permit> permit_;
  std::uint64_t piece_ = 0;  // 0: no limit.
  std::optional<PacedTransfer> transfer_;
  std::chrono::nanoseconds every_{};
};

class PacedBody final : public s3::BodyWrapper {
 public:
  // `inner`, `pauses` and `wire` must outlive this object. `wire`: see ReadPace.
  PacedBody(s3::BodyReader& inner, Pauses& pauses, s3::Wire* wire, std::shared_ptr<Pacer> pacer)
      : BodyWrapper(inner), pace_(pauses, wire), pacer_(std::move(pacer)) {}

  Result<std::size_t> Read(MutableByteView buffer) override;

 private:
  ReadPace pace_;
  std::shared_ptr<Pacer> pacer_;  // Null after the first read.
};

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_PACED_BODY_H_
