// The actions that are due for one request, and those that have happened.
#ifndef PENSTOCK_EMULATOR_FAULTS_REGISTRY_FAULT_PLAN_H_
#define PENSTOCK_EMULATOR_FAULTS_REGISTRY_FAULT_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/faults/registry/hidden_writes.h"
#include "emulator/faults/scenario/running_scenario.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

class FaultRegistry;

// Attached to the request until its response has been sent (Exchange::notes). Tickets with actions
// that have not happened by then are returned to their rules.
//
// Thread safety: one thread at a time, the one that processes the request.
class FaultPlan final : public s3::RequestNotes {
 public:
  struct Step {
    const TimedAction* timed = nullptr;
    Ticket* ticket = nullptr;
    bool done = false;
    // The number of entries that failed (PartialFailureAction), or 1 if the write was cut
    // (CommitPartialAction).
    std::uint64_t entries = 0;
  };

  explicit FaultPlan(std::vector<std::unique_ptr<Ticket>> tickets);
  ~FaultPlan() override;

  // Ordered by point; steps at the same point are in the order of their rules. The set of steps
  // never changes.
  std::span<Step> steps() { return steps_; }
  std::span<Step> At(Stage stage);
  // Marks the step as done. Further calls have no effect.
  static void Done(Step& step);

  // The client did not receive the whole response: every action that was done has failed its
  // attempt.
  void FailAttempts();

  // Selects the action that replaces the operation or its response. Returns false if another action
  // already does.
  bool SetReplacement(Step& step);
  Step* replacement() const { return replacement_; }
  // The operation was started and no action stopped it.
  bool carried_out() const { return begun_ && !stopped_; }
  void Begin() { begun_ = true; }
  void Stop() { stopped_ = true; }

  // Returns the first step at kBeforeCommit whose action is a `Wanted`, or null.
  template <class Wanted>
  Step* AtCommit() {
    for (Step& step : At(Stage::kBeforeCommit)) {
      if (std::holds_alternative<Wanted>(step.timed->action)) return &step;
    }
    return nullptr;
  }
  // The namespace's registry. Null: it has none.
  FaultRegistry* registry() const { return registry_; }
  void set_registry(FaultRegistry* registry) { registry_ = registry; }
  // Hides the write of `exchange` from reads from now on (DelayVisibilityAction).
  void HideWrite(const s3::Exchange& exchange, FaultRegistry& registry, Step& step);
  // Completes the steps of hidden and truncated writes. `done`: the operation succeeded.
  void FinishWrites(bool done);

  // Whether an action needs the bytes of the object's previous version.
  bool wants_version_before() const;
  const store::ObjectPtr& version_before() const { return version_before_; }  // Null: none.
  void set_version_before(store::ObjectPtr object) { version_before_ = std::move(object); }

  std::size_t MostFiredBytes() const override;
  std::string FiredRules() const override;
  std::optional<Error> RefuseEntry(std::size_t place, std::string_view key) override;

 private:
  struct Hidden {
    Step* step = nullptr;
    std::shared_ptr<s3::Namespace> space;  // Shared, because it owns `registry`.
    FaultRegistry* registry = nullptr;
    HiddenWrites::Place place;
  };
  std::vector<std::unique_ptr<Ticket>> tickets_;
  std::vector<Step> steps_;
  Step* replacement_ = nullptr;
  FaultRegistry* registry_ = nullptr;
  bool begun_ = false;
  bool stopped_ = false;
  std::vector<Hidden> hidden_;
  store::ObjectPtr version_before_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_REGISTRY_FAULT_PLAN_H_
