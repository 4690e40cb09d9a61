// The lifecycle runs of one namespace, and the account of what they did.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_ENGINE_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_ENGINE_H_

#include <functional>
#include <optional>

#include "emulator/lifecycle/account.h"
#include "emulator/lifecycle/run.h"
#include "emulator/store/store.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"

namespace penstock::emulator::lifecycle {

// Thread safety: any thread. One run at a time; a call waits for the end of the current run.
class Engine {
 public:
  // Called when the run begins, after earlier runs have ended. Nullopt: there is nothing to run.
  using Begin = std::function<std::optional<RunOptions>()>;

  // Runs the rules. RunAndTake returns the account of the run later. Returns the errors of
  // lifecycle::Run.
  Result<void> Run(store::Store& store, const Begin& begin);
  // Runs the rules. Returns the account of everything that was done since the last call of
  // RunAndTake, by this run and by calls of Run. So the result does not depend on whether a
  // background run was first.
  Result<Account> RunAndTake(store::Store& store, const Begin& begin);
  // Forgets what was done. For a namespace that is emptied.
  void Forget();

 private:
  Result<void> RunLocked(store::Store& store, const Begin& begin) PENSTOCK_REQUIRES(mutex_);

  Mutex mutex_;  // Held during a run; requests do not need it.
  Account account_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::lifecycle

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_ENGINE_H_
