#include "emulator/faults/actions/faulty_body.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/faults/actions/response_shaping.h"
#include "emulator/faults/registry/earlier_versions.h"
#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::faults {
namespace {

constinit DiagnosticEvent pause_skipped("faults.pause_skipped");

// Aborts the operation when it reads its body. Clients never see this error: the fault's response
// replaces it.
Error StoppedByFault() { return s3::MakeError("InternalError"); }

// Whether the operation writes the current version of one key in a general purpose bucket.
bool CanBeHidden(const s3::Exchange& exchange) {
  if (exchange.target.bucket.value.ends_with("--x-s3")) return false;
  return s3::TraitsOf(exchange).overwrites || DeletesCurrent(exchange);
}

void WaitNow(const s3::Exchange& exchange, FaultPlan::Step& step, std::chrono::nanoseconds time,
             traffic::Pauses& pauses) {
  traffic::Pauses::Permit permit(pauses, exchange.wire);
  if (!permit.granted()) {
    if (!pauses.ended())
      pause_skipped.Report("the limit of concurrent pauses is reached: " +
                           std::to_string(traffic::Pauses::kMax));
    return;
  }
  const Attempt::Waiting waiting(step.ticket->attempt());
  FaultPlan::Done(step);  // A pause counts as done when it begins.
  if (!permit.Wait(time) && step.ticket->attempt()) step.ticket->attempt()->Fail();
}

}  // namespace

bool DoBeforeCommit(s3::Exchange& exchange, FaultPlan& plan, FaultPlan::Step& step,
                    traffic::Pauses& pauses) {
  const Action& action = step.timed->action;
  if (const auto* stall = std::get_if<StallAction>(&action)) {
    WaitNow(exchange, step, stall->time, pauses);
    return true;
  }
  if (const auto* latency = std::get_if<LatencyAction>(&action)) {
    WaitNow(exchange, step, LatencyOf(*latency, exchange, *step.ticket), pauses);
    return true;
  }
  if (std::holds_alternative<DelayVisibilityAction>(action)) {
    if (plan.registry() != nullptr && CanBeHidden(exchange))
      plan.HideWrite(exchange, *plan.registry(), step);
    return true;
  }
  const bool replaces = std::holds_alternative<ErrorAction>(action) ||
                        std::holds_alternative<LateErrorAction>(action) ||
                        std::holds_alternative<DropAction>(action) ||
                        std::holds_alternative<RedirectAction>(action);
  if (!replaces || !plan.SetReplacement(step)) return true;
  plan.Stop();
  return false;
}

FaultyBody::FaultyBody(s3::BodyReader& inner, s3::Exchange& exchange, FaultPlan& plan,
                       const FaultTools& tools)
    : BodyWrapper(inner),
      exchange_(exchange),
      plan_(plan),
      tools_(tools),
      steps_(plan.At(Stage::kBodyIn)),
      pace_(tools.pauses, exchange.wire) {}

Result<std::size_t> FaultyBody::Read(MutableByteView buffer) {
  PENSTOCK_TRY(RunDueSteps());
  std::uint64_t most = buffer.size();
  if (!steps_.empty()) most = std::min(most, steps_.front().timed->at.offset - read_);
  PENSTOCK_ASSIGN(const std::size_t got, inner().Read(buffer.first(pace_.MaxRead(most))));
  read_ += got;
  if (got == 0) return got;
  if (!pace_.Await(got)) plan_.FailAttempts();
  PENSTOCK_TRY(RunDueSteps());  // Also after the last byte, because the reader may stop there.
  return got;
}

Result<void> FaultyBody::RunDueSteps() {
  if (stopped_) return StoppedByFault();
  while (!steps_.empty() && steps_.front().timed->at.offset <= read_) {
    FaultPlan::Step& step = steps_.front();
    steps_ = steps_.subspan(1);
    if (const auto* pace = std::get_if<PaceAction>(&step.timed->action)) {
      PENSTOCK_TRY(ApplyPace(step, *pace));
    } else if (!DoBeforeCommit(exchange_, plan_, step, tools_.pauses)) {
      stopped_ = true;
      exchange_.bytes_in = read_;  // The HTTP layer may read and discard the rest.
      return StoppedByFault();
    }
  }
  return Ok();
}

Result<void> FaultyBody::ApplyPace(FaultPlan::Step& step, const PaceAction& pace) {
  if (pace.piece > 0) {
    PENSTOCK_TRY(pace_.SetPace(pace.piece, pace.every));
  } else {
    PENSTOCK_TRY(pace_.SetPace(FindPacer(pace, exchange_, *step.ticket, tools_.pacers)));
  }
  FaultPlan::Done(step);
  return Ok();
}

Result<std::size_t> CommitGate::Read(MutableByteView buffer) {
  PENSTOCK_ASSIGN(const std::size_t got, inner().Read(buffer));
  if (got > 0 || buffer.empty() || passed_) return got;
  passed_ = true;
  if (!PassCommit(exchange_, plan_, pauses_)) return StoppedByFault();
  return got;
}

bool PassCommit(s3::Exchange& exchange, FaultPlan& plan, traffic::Pauses& pauses) {
  for (FaultPlan::Step& step : plan.At(Stage::kBeforeCommit)) {
    if (!DoBeforeCommit(exchange, plan, step, pauses)) return false;
  }
  return true;
}

}  // namespace penstock::emulator::faults
