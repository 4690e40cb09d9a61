// What is to be done to one request, and what has been done.
#ifndef PENSTOCK_EMULATOR_FAULTS_FAULT_PLAN_H_
#define PENSTOCK_EMULATOR_FAULTS_FAULT_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/faults/actions/hidden_writes.h"
#include "emulator/faults/running_scenario.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

class FaultRegistry;

// Kept with the request until its answer has left (Exchange::notes). Tickets whose actions were not
// all done by then are given back.
//
// Thread safety: one thread at a time, the one that the request is with.
class FaultPlan final : public s3::RequestNotes {
 public:
  struct Step {
    const TimedAction* timed = nullptr;
    Ticket* ticket = nullptr;
    bool done = false;
    // that it refused (PartialFailureAction) or cut (CommitPartialAction)
    std::uint64_t entries = 0;
  };

  explicit FaultPlan(std::vector<std::unique_ptr<Ticket>> tickets);
  ~FaultPlan() override;

  // In the order of their points; those of one point in the order of their rules. Stays as it is.
  std::span<Step> steps() { return steps_; }
  std::span<Step> At(Stage stage);
  // It happened. Once is enough.
  static void Done(Step& step);

  // The client has not got the whole answer: every action that was done has failed its attempt.
  void FailAttempts();

  // The action that takes the place of the operation, or of its answer: the first one alone.
  bool TakePlace(Step& step);
  Step* in_place() const { return in_place_; }
  // The operation was begun, and nothing stopped it before its end.
  bool carried_out() const { return begun_ && !stopped_; }
  void Begin() { begun_ = true; }
  void Stop() { stopped_ = true; }

  // The step at the commit whose action is a `Wanted`; null: none is.
  template <class Wanted>
  Step* AtCommit() {
    for (Step& step : At(Stage::kBeforeCommit)) {
      if (std::holds_alternative<Wanted>(step.timed->action)) return &step;
    }
    return nullptr;
  }
  // The namespace's; null: it has none.
  FaultRegistry* registry() const { return registry_; }
  void set_desk(FaultRegistry* registry) { registry_ = registry; }
  // Reads do not see the write of `exchange` from now on (DelayVisibilityAction).
  void HideWrite(const s3::Exchange& exchange, FaultRegistry& registry, Step& step);
  // What the commit made of hidden and of cut writes. `done`: the operation did what it was asked
  // to.
  void SettleWrites(bool done);

  // An action asks for the bytes of the object's version before.
  bool wants_version_before() const;
  const store::ObjectPtr& version_before() const { return version_before_; }  // null: there is none
  void set_version_before(store::ObjectPtr object) { version_before_ = std::move(object); }

  std::size_t MostFiredBytes() const override;
  std::string FiredRules() const override;
  std::optional<Error> RefuseEntry(std::size_t place, std::string_view key) override;

 private:
  struct Hidden {
    Step* step = nullptr;
    std::shared_ptr<s3::Namespace> space;  // shared: the registry is the namespace's
    FaultRegistry* registry = nullptr;
    HiddenWrites::Place place;
  };
  std::vector<std::unique_ptr<Ticket>> tickets_;
  std::vector<Step> steps_;
  Step* in_place_ = nullptr;
  FaultRegistry* registry_ = nullptr;
  bool begun_ = false;
  bool stopped_ = false;
  std::vector<Hidden> hidden_;
  store::ObjectPtr version_before_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FAULT_PLAN_H_
