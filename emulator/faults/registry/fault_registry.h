// The faults of a namespace: at most one running scenario, and any number of retry tests.
//
// A retry test is a scenario for the requests that name it in x-penstock-retry-test. Parallel tests
// in one namespace therefore do not see each other's faults.
//
// Thread safety: safe from any thread.
#ifndef PENSTOCK_EMULATOR_FAULTS_REGISTRY_FAULT_REGISTRY_H_
#define PENSTOCK_EMULATOR_FAULTS_REGISTRY_FAULT_REGISTRY_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/faults/registry/earlier_versions.h"
#include "emulator/faults/registry/hidden_writes.h"
#include "emulator/faults/scenario/running_scenario.h"
#include "penstock/base/clock.h"
#include "penstock/base/shared_mutex.h"

namespace penstock::emulator::faults {

// Thread safety: safe from any thread.
class FaultRegistry {
 public:
  static constexpr std::size_t kMaxRetryTests = 1'000;

  // `clock`: the namespace's clock; must outlive this object.
  explicit FaultRegistry(const Clock& clock) : clock_(clock) {}

  static constexpr std::size_t kMaxReplaced = 16;

  // Replaces the running scenario by `scenario`. Requests in flight finish under the old scenario
  // and count for its account. An incomplete old scenario is kept as `replaced`, up to
  // kMaxReplaced of them.
  //
  // `by_default`: the scenario comes from the server's settings, not from a test. It is not
  // reported as incomplete once it has been replaced. Returns the errors of CheckScenario.
  Result<void> Start(Scenario scenario, bool by_default = false) {
    return Start(std::make_shared<const Scenario>(std::move(scenario)), by_default);
  }
  Result<void> Start(std::shared_ptr<const Scenario> scenario, bool by_default = false);
  // Stops the scenario. It is kept as `replaced` under the same rules as in Start.
  void Stop();
  // Stops the scenario and drops all replaced ones.
  void Forget();
  // Calls Forget, then restarts the scenario of the latest Start with `by_default`.
  Result<void> Restore();
  // The account of the running scenario and of those replaced before it. nullopt: none is running.
  std::optional<ScenarioAccount> Account() const;
  // CheckAccount for the running scenario, if any, and for the replaced ones.
  Result<void> Check() const;

  // Returns kAlreadyExists if the id is in use, kInvalidArgument above kMaxRetryTests, and the
  // errors of CheckScenario.
  Result<void> AddRetryTest(std::string id, Scenario scenario);
  Result<ScenarioAccount> RetryTestAccount(std::string_view id) const;  // Errors: kNotFound.
  Result<void> RemoveRetryTest(std::string_view id);                    // Errors: kNotFound.
  std::vector<std::string> RetryTests() const;                          // Sorted.

  // The namespace's clock.
  const Clock& clock() const { return clock_; }
  // No scenario and no retry test exists, so requests need not be matched.
  bool idle() const { return !active_.load(std::memory_order_acquire); }
  // State that actions keep about the namespace's objects. Cleared when the running scenario is
  // replaced.
  HiddenWrites& hidden_writes() { return hidden_writes_; }
  EarlierVersions& earlier_versions() { return earlier_versions_; }
  // Whether a rule needs the previous content of overwritten objects.
  bool keeps_earlier_versions() const { return keeps_earlier_.load(std::memory_order_acquire); }
  // Returns the scenario for a request: the named retry test, or else the running scenario; null:
  // none. `retry_test`: empty if the request names none. Returns kNotFound for an unknown retry
  // test.
  Result<std::shared_ptr<RunningScenario>> Find(std::string_view retry_test) const;

 private:
  using Replaced = std::vector<std::shared_ptr<const RunningScenario>>;
  // Replaces the running scenario by `next`; null: none.
  void Replace(std::shared_ptr<RunningScenario> next, bool by_default);
  using Tests = std::unordered_map<std::string, std::shared_ptr<RunningScenario>>;
  Result<std::shared_ptr<RunningScenario>> FindRetryTest(std::string_view id) const
      PENSTOCK_REQUIRES_SHARED(mutex_);
  void UpdateFlags() PENSTOCK_REQUIRES_SHARED(mutex_);

  const Clock& clock_;
  std::atomic<bool> active_{false};
  std::atomic<bool> keeps_earlier_{false};
  HiddenWrites hidden_writes_;
  EarlierVersions earlier_versions_;
  mutable SharedMutex mutex_;  // Locked for reading by every request; writes are rare.
  std::shared_ptr<RunningScenario> running_ PENSTOCK_GUARDED_BY(mutex_);
  bool by_default_ PENSTOCK_GUARDED_BY(mutex_) = false;  // Whether running_ was started by default.
  std::shared_ptr<const Scenario> default_ PENSTOCK_GUARDED_BY(mutex_);  // Null: none.
  Replaced replaced_ PENSTOCK_GUARDED_BY(mutex_);
  Tests tests_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_REGISTRY_FAULT_REGISTRY_H_
