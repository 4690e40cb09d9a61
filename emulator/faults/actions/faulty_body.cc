#include "emulator/faults/actions/faulty_body.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/diagnostics.h"
#include "emulator/faults/actions/answer_shaping.h"
#include "emulator/faults/documents/earlier_versions.h"
#include "emulator/s3/core/errors.h"

namespace penstock::emulator::faults {
namespace {

constinit DiagnosticEvent pause_skipped("faults.pause_skipped");

// Ends the operation where it reads its body. Nobody sees it: the answer is the fault's.
Error StoppedByFault() { return s3::MakeError("InternalError"); }

// Of one key of a general purpose bucket, and no version that was asked for by its id.
bool CanBeHidden(const s3::Exchange& exchange) {
  if (exchange.target.bucket.value.ends_with("--x-s3")) return false;
  return Overwrites(exchange) ||
         (exchange.operation == "DeleteObject" && !exchange.target.Has("versionId"));
}

void WaitNow(const s3::Exchange& exchange, FaultPlan::Step& step, std::chrono::nanoseconds time,
             Pauses& pauses) {
  Pauses::Turn turn(pauses, exchange.wire);
  if (!turn.granted()) {
    if (!pauses.ended())
      pause_skipped.Report("as many requests wait already as may wait for faults at a time: " +
                           std::to_string(Pauses::kMost));
    return;
  }
  const Attempt::Waiting waiting(step.ticket->attempt());
  FaultPlan::Done(step);  // a pause has happened as soon as it begins
  if (!turn.Wait(time) && step.ticket->attempt()) step.ticket->attempt()->Fail();
}

}  // namespace

bool DoBeforeCommit(s3::Exchange& exchange, FaultPlan& plan, FaultPlan::Step& step,
                    Pauses& pauses) {
  const Action& action = step.timed->action;
  if (const auto* stall = std::get_if<StallAction>(&action)) {
    WaitNow(exchange, step, stall->time, pauses);
    return true;
  }
  if (const auto* latency = std::get_if<LatencyAction>(&action)) {
    WaitNow(exchange, step, TimeOf(*latency, exchange, *step.ticket), pauses);
    return true;
  }
  if (std::holds_alternative<DelayVisibilityAction>(action)) {
    if (plan.registry() != nullptr && CanBeHidden(exchange))
      plan.HideWrite(exchange, *plan.registry(), step);
    return true;
  }
  const bool in_place = std::holds_alternative<ErrorAction>(action) ||
                        std::holds_alternative<LateErrorAction>(action) ||
                        std::holds_alternative<DropAction>(action) ||
                        std::holds_alternative<RedirectAction>(action);
  if (!in_place || !plan.TakePlace(step)) return true;
  plan.Stop();
  return false;
}

FaultyBody::FaultyBody(s3::Exchange& exchange, FaultPlan& plan, const FaultTools& tools)
    : exchange_(exchange),
      inner_(*exchange.body),
      plan_(plan),
      tools_(tools),
      steps_(plan.At(Stage::kBodyIn)),
      pace_(tools.pauses, exchange.wire) {}

Result<std::size_t> FaultyBody::Read(MutableByteView buffer) {
  PENSTOCK_TRY(DoWhatIsDue());
  std::uint64_t most = buffer.size();
  if (!steps_.empty()) most = std::min(most, steps_.front().action->at.offset - read_);
  PENSTOCK_ASSIGN(const std::size_t got, inner_.Read(buffer.first(pace_.MostOf(most))));
  read_ += got;
  if (got == 0) return got;
  if (!pace_.Await(got)) plan_.FailAttempts();
  PENSTOCK_TRY(DoWhatIsDue());  // also behind the last byte: nobody need read on there
  return got;
}

Result<void> FaultyBody::DoWhatIsDue() {
  if (stopped_) return StoppedByFault();
  while (!steps_.empty() && steps_.front().action->at.offset <= read_) {
    FaultPlan::Step& step = steps_.front();
    steps_ = steps_.subspan(1);
    if (const auto* pace = std::get_if<PaceAction>(&step.timed->action)) {
      PENSTOCK_TRY(KeepPace(step, *pace));
    } else if (!DoBeforeCommit(exchange_, plan_, step, tools_.pauses)) {
      stopped_ = true;
      exchange_.bytes_in = read_;  // the wire may read on, to throw it away
      return StoppedByFault();
    }
  }
  return Ok();
}

Result<void> FaultyBody::KeepPace(FaultPlan::Step& step, const PaceAction& pace) {
  if (pace.piece > 0) {
    PENSTOCK_TRY(pace_.Keep(pace.piece, pace.every));
  } else {
    PENSTOCK_TRY(pace_.Keep(FindPacer(pace, exchange_, *step.ticket, tools_.pacers)));
  }
  FaultPlan::Done(step);
  return Ok();
}

Result<std::size_t> CommitGate::Read(MutableByteView buffer) {
  PENSTOCK_ASSIGN(const std::size_t got, inner_.Read(buffer));
  if (got > 0 || buffer.empty() || passed_) return got;
  passed_ = true;
  if (!PassCommit(exchange_, plan_, pauses_)) return StoppedByFault();
  return got;
}

bool PassCommit(s3::Exchange& exchange, FaultPlan& plan, Pauses& pauses) {
  for (FaultPlan::Step& step : plan.At(Stage::kBeforeCommit)) {
    if (!DoBeforeCommit(exchange, plan, step, pauses)) return false;
  }
  return true;
}

}  // namespace penstock::emulator::faults
