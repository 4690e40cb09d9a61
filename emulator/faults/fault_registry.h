// What a namespace has of faults: one scenario at a time, and any number of retry tests beside it.
//
// A retry test is a scenario for the requests that name it in x-penstock-retry-test: parallel tests
// of one namespace never meet each other's faults.
#ifndef PENSTOCK_EMULATOR_FAULTS_FAULT_REGISTRY_H_
#define PENSTOCK_EMULATOR_FAULTS_FAULT_REGISTRY_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/faults/actions/hidden_writes.h"
#include "emulator/faults/documents/earlier_versions.h"
#include "emulator/faults/running_scenario.h"
#include "penstock/base/clock.h"
#include "penstock/base/shared_mutex.h"

namespace penstock::emulator::faults {

// Thread safety: safe from any thread.
class FaultRegistry {
 public:
  static constexpr std::size_t kMostRetryTests = 1'000;

  // `clock`: the namespace's; outlives this.
  explicit FaultRegistry(const Clock& clock) : clock_(clock) {}

  static constexpr std::size_t kMostReplaced = 16;

  // Runs `scenario` from now on, in place of the one that ran. Requests under way end as they
  // began, for the old one's account. That is kept as `replaced` where it is not complete: the
  // first kMostReplaced. `by_default`: nobody planned it for himself, and nobody is told of it once
  // another one has its place. CheckScenario's errors.
  Result<void> Start(Scenario scenario, bool by_default = false);
  // No scenario from now on; the one that ran is kept as Start does.
  void Stop();
  // No scenario from now on, and none is kept.
  void Forget();
  // As Forget, and then what the latest Start by default had begun, anew.
  Result<void> Restore();
  // Of the one that runs, with those replaced before it. nullopt: none runs.
  std::optional<ScenarioAccount> Account() const;
  // CheckAccount of the one that runs, if one does, and of those replaced.
  Result<void> Check() const;

  // kAlreadyExists for an id that is taken, kInvalidArgument beyond kMostRetryTests;
  // CheckScenario's errors.
  Result<void> AddRetryTest(std::string id, Scenario scenario);
  Result<ScenarioAccount> RetryTestAccount(std::string_view id) const;  // kNotFound
  Result<void> RemoveRetryTest(std::string_view id);                    // kNotFound
  std::vector<std::string> RetryTests() const;                          // sorted

  // The namespace's.
  const Clock& clock() const { return clock_; }
  // Neither a scenario nor a retry test: nothing need be asked.
  bool idle() const { return !active_.load(std::memory_order_acquire); }
  // What actions keep of the namespace's objects, until a scenario takes the running one's place.
  HiddenWrites& hidden_writes() { return hidden_writes_; }
  EarlierVersions& earlier_versions() { return earlier_versions_; }
  // A rule may ask for what an overwritten object was.
  bool keeps_earlier_versions() const { return keeps_earlier_.load(std::memory_order_acquire); }
  // What a request may meet: the retry test it names, or else the running scenario; null: nothing.
  // `retry_test`: empty where it names none. kNotFound for a retry test that is not there.
  Result<std::shared_ptr<RunningScenario>> Find(std::string_view retry_test) const;

 private:
  using Replaced = std::vector<std::shared_ptr<const RunningScenario>>;
  // Puts `next` in the running one's place.
  void Replace(std::shared_ptr<RunningScenario> next, bool by_default);
  using Tests = std::unordered_map<std::string, std::shared_ptr<RunningScenario>>;
  Result<std::shared_ptr<RunningScenario>> FindRetryTest(std::string_view id) const
      PENSTOCK_REQUIRES_SHARED(mutex_);
  void NoteWhetherActive() PENSTOCK_REQUIRES_SHARED(mutex_);

  const Clock& clock_;
  std::atomic<bool> active_{false};
  std::atomic<bool> keeps_earlier_{false};
  HiddenWrites hidden_writes_;
  EarlierVersions earlier_versions_;
  mutable SharedMutex mutex_;  // every request reads, changes are few
  std::shared_ptr<RunningScenario> running_ PENSTOCK_GUARDED_BY(mutex_);
  bool by_default_ PENSTOCK_GUARDED_BY(mutex_) = false;  // running_
  std::optional<Scenario> default_ PENSTOCK_GUARDED_BY(mutex_);
  Replaced replaced_ PENSTOCK_GUARDED_BY(mutex_);
  Tests tests_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FAULT_REGISTRY_H_
