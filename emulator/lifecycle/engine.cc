#include "emulator/lifecycle/engine.h"

#include <utility>

namespace penstock::emulator::lifecycle {

Result<void> Engine::RunLocked(store::Store& store, const Begin& begin) {
  const std::optional<RunOptions> options = begin();
  if (!options) return Ok();
  Account account;
  auto done = lifecycle::Run(store, *options, account);
  account_.Merge(std::move(account));  // also before an error
  return done;
}

Result<void> Engine::Run(store::Store& store, const Begin& begin) {
  const MutexLock lock(mutex_);
  return RunLocked(store, begin);
}

Result<Account> Engine::RunAndTake(store::Store& store, const Begin& begin) {
  const MutexLock lock(mutex_);
  PENSTOCK_TRY(RunLocked(store, begin));
  return std::exchange(account_, Account());
}

void Engine::Forget() {
  const MutexLock lock(mutex_);
  account_ = Account();
}

}  // namespace penstock::emulator::lifecycle
