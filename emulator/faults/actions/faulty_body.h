// Request bodies with the faults that apply while they are read.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAULTY_BODY_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAULTY_BODY_H_

#include <cstdint>
#include <memory>

#include "emulator/faults/registry/fault_plan.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/traffic/paced_body.h"
#include "emulator/traffic/pacer.h"
#include "emulator/traffic/pauses.h"

namespace penstock::emulator::faults {

// Shared state for actions that pause or pace. Must outlive the requests.
struct FaultTools {
  traffic::Pauses& pauses;
  traffic::Pacers& pacers;
};

// Applies an action before the commit: it pauses, hides a write, or replaces the operation. Returns
// false if it replaces the operation, which must then not run. Other actions have no effect here.
bool DoBeforeCommit(s3::Exchange& exchange, FaultPlan& plan, FaultPlan::Step& step,
                    traffic::Pauses& pauses);

// The body as received on the wire, with the actions at body_in. A read never crosses the offset of
// an action.
class FaultyBody final : public s3::BodyWrapper {
 public:
  // All arguments must outlive this object.
  FaultyBody(s3::BodyReader& inner, s3::Exchange& exchange, FaultPlan& plan,
             const FaultTools& tools);

  Result<std::size_t> Read(MutableByteView buffer) override;

 private:
  Result<void> RunDueSteps();
  Result<void> ApplyPace(FaultPlan::Step& step, const PaceAction& pace);

  s3::Exchange& exchange_;
  FaultPlan& plan_;
  const FaultTools tools_;
  std::span<FaultPlan::Step> steps_;  // The pending steps.
  std::uint64_t read_ = 0;
  bool stopped_ = false;
  traffic::ReadPace pace_;
};

// The body as read by the operation. Runs the actions at before_commit once the end of the verified
// body has been read.
class CommitGate final : public s3::BodyWrapper {
 public:
  CommitGate(s3::BodyReader& inner, s3::Exchange& exchange, FaultPlan& plan,
             traffic::Pauses& pauses)
      : BodyWrapper(inner), exchange_(exchange), plan_(plan), pauses_(pauses) {}

  Result<std::size_t> Read(MutableByteView buffer) override;

 private:
  s3::Exchange& exchange_;
  FaultPlan& plan_;
  traffic::Pauses& pauses_;
  bool passed_ = false;
};

// Runs the actions before the commit. Returns false if the operation must not run.
bool PassCommit(s3::Exchange& exchange, FaultPlan& plan, traffic::Pauses& pauses);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_FAULTY_BODY_H_
