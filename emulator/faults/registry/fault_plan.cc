#include "emulator/faults/registry/fault_plan.h"

#include <algorithm>
#include <utility>

#include "emulator/faults/registry/earlier_versions.h"
#include "emulator/faults/registry/fault_registry.h"
#include "emulator/faults/rules/action_effects.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::faults {

FaultPlan::FaultPlan(std::vector<std::unique_ptr<Ticket>> tickets) : tickets_(std::move(tickets)) {
  for (const auto& ticket : tickets_) {
    for (const TimedAction& timed : ticket->rule().actions)
      steps_.push_back({.timed = &timed, .ticket = ticket.get()});
  }
  const auto point = [](const Step& step) {
    return std::pair(step.timed->at.stage, step.timed->at.offset);
  };
  std::stable_sort(steps_.begin(), steps_.end(),
                   [&](const Step& a, const Step& b) { return point(a) < point(b); });
}

FaultPlan::~FaultPlan() { FinishWrites(false); }

void FaultPlan::HideWrite(const s3::Exchange& exchange, FaultRegistry& registry, Step& step) {
  const std::string& bucket = exchange.target.bucket.value;
  auto place = registry.hidden_writes().Begin(bucket, exchange.target.key.value,
                                              CurrentObject(exchange), registry.clock().Now());
  if (place)
    hidden_.push_back({.step = &step,
                       .space = exchange.space,
                       .registry = &registry,
                       .place = *std::move(place)});
}

void FaultPlan::FinishWrites(bool done) {
  for (const Hidden& hidden : hidden_) {
    HiddenWrites& writes = hidden.registry->hidden_writes();
    if (!done) {
      writes.Drop(hidden.place);
      continue;
    }
    writes.HideUntil(hidden.place,
                     hidden.registry->clock().Now() +
                         std::get<DelayVisibilityAction>(hidden.step->timed->action).time);
    Done(*hidden.step);
  }
  hidden_.clear();
  Step* const cut = done ? AtCommit<CommitPartialAction>() : nullptr;
  if (cut != nullptr && cut->entries > 0) Done(*cut);
}

bool FaultPlan::wants_version_before() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& step) {
    const auto* const corrupt = std::get_if<CorruptAction>(&step.timed->action);
    return corrupt != nullptr && corrupt->kind == CorruptKind::kStaleVersion;
  });
}

std::span<FaultPlan::Step> FaultPlan::At(Stage stage) {
  const auto first = std::find_if(steps_.begin(), steps_.end(),
                                  [&](const Step& step) { return step.timed->at.stage == stage; });
  const auto last = std::find_if(first, steps_.end(),
                                 [&](const Step& step) { return step.timed->at.stage != stage; });
  return {first, last};
}

void FaultPlan::Done(Step& step) {
  if (!std::exchange(step.done, true)) step.ticket->Done(step.timed->action);
}

void FaultPlan::FailAttempts() {
  for (const Step& step : steps_) {
    if (step.done && step.ticket->attempt()) step.ticket->attempt()->Fail();
  }
}

bool FaultPlan::SetReplacement(Step& step) {
  if (replacement_ != nullptr) return false;
  replacement_ = &step;
  return true;
}

std::optional<Error> FaultPlan::RefuseEntry(std::size_t place, std::string_view key) {
  for (Step& step : At(Stage::kBeforeCommit)) {
    const auto* const failure = std::get_if<PartialFailureAction>(&step.timed->action);
    if (failure == nullptr ||
        !FailsEntry(*failure, {.place = place, .key = key, .failed_before = step.entries},
                    step.ticket->draw()))
      continue;
    ++step.entries;
    Done(step);
    return s3::MakeError(failure->code, {}, failure->message);
  }
  return std::nullopt;
}

std::size_t FaultPlan::MostFiredBytes() const {
  std::size_t bytes = 0;
  for (const auto& ticket : tickets_) bytes += ticket->rule().id.size() + 1;
  return bytes;
}

std::string FaultPlan::FiredRules() const {
  std::string ids;
  for (const auto& ticket : tickets_) {
    if (!ticket->fired()) continue;
    if (!ids.empty()) ids += ',';
    ids += ticket->rule().id;
  }
  return ids;
}

}  // namespace penstock::emulator::faults
