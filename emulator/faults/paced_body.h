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

#include "emulator/api/exchange.h"
#include "emulator/faults/pacer.h"
#include "emulator/faults/pauses.h"

namespace penstock::emulator::faults {

// How much of a body may be read at once, and the wait after it.
//
// Up to Pauses::kMost bodies wait on the threads that read them. Further ones are read as they arrive, and what they did not
// wait is owed: their answers leave when the paced bodies would have ended, by the wire's timers.
//
// Thread safety: one thread at a time.
class ReadPace {
 public:
  // Outlives this. Nothing is held back yet.
  explicit ReadPace(Pauses& pauses) : pauses_(pauses) {}

  // From now on at the pacer's rate.
  void Keep(std::shared_ptr<Pacer> pacer);
  // From now on `piece` bytes at a time, and `every` behind each.
  void Keep(std::uint64_t piece, std::chrono::nanoseconds every);

  std::uint64_t MostOf(std::uint64_t bytes) const { return piece_ > 0 && piece_ < bytes ? piece_ : bytes; }
  // Until `bytes` that were read may have been.
  void Await(std::size_t bytes);

  // When a body that did not wait on its thread would have ended; epoch: nothing is owed.
  MonotonicTime owed_until() const { return owed_until_; }

 private:
  void TakeTurn();

  Pauses& pauses_;
  std::optional<Pauses::Turn> turn_;
  std::uint64_t piece_ = 0;  // 0: no pace
  std::optional<PacedTransfer> transfer_;
  std::chrono::nanoseconds every_{};
  MonotonicTime owed_until_{};
};

// The answer leaves at `when` at the earliest; epoch: at once.
void HoldAnswerUntil(api::Exchange& exchange, MonotonicTime when);

class PacedBody final : public api::BodyReader {
 public:
  // `inner` and `pauses` outlive this.
  PacedBody(api::BodyReader& inner, Pauses& pauses, std::shared_ptr<Pacer> pacer)
      : inner_(inner), pace_(pauses), pacer_(std::move(pacer)) {}

  Result<std::size_t> Read(MutableByteView buffer) override;
  std::optional<std::uint64_t> Length() const override { return inner_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override { return inner_.Trailers(); }
  bool WithholdContinue() override { return inner_.WithholdContinue(); }
  MonotonicTime owed_until() const { return pace_.owed_until(); }

 private:
  api::BodyReader& inner_;
  ReadPace pace_;
  std::shared_ptr<Pacer> pacer_;  // until the first byte is asked for
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_PACED_BODY_H_
