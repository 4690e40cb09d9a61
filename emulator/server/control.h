// The control operations of a running emulator, used by the admin API and penstock/emulator.h.
#ifndef PENSTOCK_EMULATOR_SERVER_CONTROL_H_
#define PENSTOCK_EMULATOR_SERVER_CONTROL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/events/delivery/deliverer.h"
#include "emulator/identity/identities.h"
#include "emulator/lifecycle/worker.h"
#include "emulator/server/namespaces/namespaces.h"
#include "emulator/store/system/change_signal.h"
#include "penstock/base/mutex.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Owns the namespaces and the users.
//
// Thread safety: methods may be called from any thread.
class Control {
 public:
  // `options` must come from CheckedOptions. `memory_limit`: of stores in memory, namespaces, fault
  // scenarios and limits. Returns the errors of Namespaces and of the given users.
  // `machine` and `router` must outlive this object.
  static Result<std::unique_ptr<Control>> Open(const EmulatorOptions& options,
                                               std::shared_ptr<store::MemoryLimit> memory_limit,
                                               const Clock& machine, s3::Handler& router);

  const identity::Identities& identities() const { return identities_; }
  identity::Identities& identities() { return identities_; }
  // Messages of Open for the user.
  const std::vector<std::string>& notices() const { return notices_; }

  Result<void> ResetAll() { return spaces_->ResetAll(); }
  Result<void> ResetNamespace(const std::string& name);
  std::vector<std::string> Names() const { return spaces_->Names(); }
  std::size_t JournalMemory() const { return spaces_->JournalMemory(); }
  Result<AccessKey> CreateNamespace(const std::string& name);
  Result<void> DeleteNamespace(const std::string& name);

  Result<ClockState> GetClock(const std::string& name);
  Result<ClockState> ChangeClock(const std::string& name, const ClockChange& change);
  Result<ClockState> RestoreClock(const std::string& name);

  Result<void> SetLimits(const std::string& name, const std::string& json);
  Result<std::string> LimitsReport(const std::string& name);
  // Returns the current faults and journal of a namespace; a reset replaces them. Returns kNotFound
  // for an unknown name.
  Result<std::shared_ptr<TestControls>> ControlsOf(const std::string& name);

  // Opens the namespace if it is closed.
  Result<std::shared_ptr<s3::Namespace>> SpaceOf(const std::string& name);

  Result<SeedReport> Seed(const SeedRequest& request);
  // As in Emulator.
  Result<std::string> Simulate(const SimulateRequest& request) const;

  // As in Emulator.
  Result<std::string> RunLifecycle(const LifecycleRequest& request);
  Result<std::string> PreviewLifecycle(const LifecycleRequest& request);

  // As in Emulator.
  Result<std::string> ReadEvents(const std::string& name, std::uint64_t after,
                                 std::chrono::milliseconds wait,
                                 std::optional<std::uint64_t> newest);
  Result<void> RemoveEvents(const std::string& name, std::uint64_t last);

  // As in Emulator.
  Result<JournalReading> ReadJournal(const std::string& name);
  Result<JournalReading> AwaitJournal(const std::string& name, std::uint64_t after,
                                      std::chrono::milliseconds wait);
  Result<void> ClearJournal(const std::string& name);
  Result<std::optional<WallTime>> CaptureHeaders(const std::string& name,
                                                 std::chrono::seconds duration);
  Result<std::optional<WallTime>> HeaderCapture(const std::string& name);

  // Ends seeding, simulations, lifecycle runs and all waits for a journal, so that shutdown does
  // not wait for them.
  void StopWaits();

  Result<void> AddUsers(const std::string& json);
  Result<void> ChangeKey(const std::string& access_key_id, const AccessKeyChange& change) {
    return identities_.Change(access_key_id, change);
  }
  Result<void> RemoveKey(const std::string& access_key_id) {
    return identities_.Remove(access_key_id);
  }

 private:
  struct GivenUsers;
  Control(const Clock& machine, s3::Handler& router, std::string region,
          std::shared_ptr<store::MemoryLimit> memory_limit)
      : machine_(machine),
        router_(router),
        region_(std::move(region)),
        memory_limit_(std::move(memory_limit)) {}
  Result<void> StartLifecycle();
  Result<void> StartDelivery(std::vector<events::Route> routes);
  // Whether a request's work is to end early.
  std::function<bool()> Cancelled(const std::function<bool()>& by_caller) const;
  // Applies a change to the namespace's clock. Lifecycle runs follow it.
  Result<ClockState> MoveClock(const std::string& name,
                               const std::function<Result<void>(NamespaceClock&)>& change);
  Result<std::optional<std::vector<identity::RootAccount>>> FindRoots(
      const std::vector<AccessKey>& pairs, std::vector<GivenUsers>& given,
      identity::UserDatabase& kept);

  const Clock& machine_;
  s3::Handler& router_;
  const std::string region_;
  const std::shared_ptr<store::MemoryLimit> memory_limit_;
  std::vector<std::string> notices_;
  std::atomic<bool> stopping_{false};
  const std::shared_ptr<store::ChangeSignal> event_signal_ =
      std::make_shared<store::ChangeSignal>();
  identity::Identities identities_;
  std::unique_ptr<Namespaces> spaces_;
  // Destroyed before spaces_, which they use.
  std::unique_ptr<lifecycle::Worker> lifecycle_;
  std::unique_ptr<events::Deliverer> deliverer_;  // null: no sinks
  Mutex namespaces_mutex_;  // makes changes of a namespace and its keys atomic
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_CONTROL_H_
