// A request's body on its way in, with what faults do to it there.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAULTY_BODY_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAULTY_BODY_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "emulator/faults/fault_plan.h"
#include "emulator/faults/paced_body.h"
#include "emulator/faults/pacer.h"
#include "emulator/faults/pauses.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// What actions need that wait or share. Outlives the requests.
struct FaultTools {
  Pauses& pauses;
  Pacers& pacers;
};

// An action before the commit: waits, or takes the operation's place. False: it has taken the
// place, nothing more may be done. What does not fit a time before the commit does nothing.
bool DoBeforeCommit(s3::Exchange& exchange, FaultPlan& plan, FaultPlan::Step& step, Pauses& pauses);

// The bytes as they came over the wire: the actions of body_in. Every read ends where an action is
// due.
class FaultyBody final : public s3::BodyReader {
 public:
  // All outlive this.
  FaultyBody(s3::Exchange& exchange, FaultPlan& plan, const FaultTools& tools);

  Result<std::size_t> Read(MutableByteView buffer) override;
  std::optional<std::uint64_t> Length() const override { return inner_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return inner_.Trailers();
  }
  bool WithholdContinue() override { return inner_.WithholdContinue(); }

 private:
  Result<void> DoWhatIsDue();
  Result<void> KeepPace(FaultPlan::Step& step, const PaceAction& pace);

  s3::Exchange& exchange_;
  s3::BodyReader& inner_;
  FaultPlan& plan_;
  const FaultTools tools_;
  std::span<FaultPlan::Step> steps_;  // still to come
  std::uint64_t read_ = 0;
  bool stopped_ = false;
  ReadPace pace_;
};

// The bytes as the operation gets them: the actions of before_commit, once the verified end has
// been read.
class CommitGate final : public s3::BodyReader {
 public:
  CommitGate(s3::Exchange& exchange, FaultPlan& plan, Pauses& pauses)
      : exchange_(exchange), inner_(*exchange.body), plan_(plan), pauses_(pauses) {}

  Result<std::size_t> Read(MutableByteView buffer) override;
  std::optional<std::uint64_t> Length() const override { return inner_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return inner_.Trailers();
  }

 private:
  s3::Exchange& exchange_;
  s3::BodyReader& inner_;
  FaultPlan& plan_;
  Pauses& pauses_;
  bool passed_ = false;
};

// Does what is due before the commit. False: the operation must not be carried out.
bool PassCommit(s3::Exchange& exchange, FaultPlan& plan, Pauses& pauses);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAULTY_BODY_H_
