#include "emulator/faults/registry/fault_registry.h"

#include <algorithm>
#include <utility>

namespace penstock::emulator::faults {

namespace {

// Returns the accounts of the scenarios that are still incomplete: requests that were in flight may
// have completed them.
std::vector<ScenarioAccount> Incomplete(
    const std::vector<std::shared_ptr<const RunningScenario>>& scenarios) {
  std::vector<ScenarioAccount> accounts;
  for (const auto& scenario : scenarios) {
    ScenarioAccount account = scenario->Account();
    if (!account.complete) accounts.push_back(std::move(account));
  }
  return accounts;
}

}  // namespace

Result<void> FaultRegistry::Start(std::shared_ptr<const Scenario> scenario, bool by_default) {
  PENSTOCK_ASSIGN(std::shared_ptr<RunningScenario> fresh,
                  RunningScenario::Start(scenario, clock_.Now()));
  if (by_default) {
    const WriterLock lock(mutex_);
    default_.swap(scenario);
  }
  Replace(std::move(fresh), by_default);
  return Ok();
}

void FaultRegistry::Stop() { Replace(nullptr, false); }

void FaultRegistry::UpdateFlags() {
  active_.store(running_ || !tests_.empty(), std::memory_order_release);
  const bool asked = (running_ && running_->asks_for_earlier_versions()) ||
                     std::any_of(tests_.begin(), tests_.end(), [](const auto& test) {
                       return test.second->asks_for_earlier_versions();
                     });
  keeps_earlier_.store(asked, std::memory_order_release);
}

void FaultRegistry::Replace(std::shared_ptr<RunningScenario> next, bool by_default) {
  const WriterLock lock(mutex_);
  running_.swap(next);
  const bool planned = !std::exchange(by_default_, by_default);
  if (next && planned && replaced_.size() < kMaxReplaced && !next->Account().complete)
    replaced_.push_back(std::move(next));
  hidden_writes_.Clear();
  earlier_versions_.Clear();
  UpdateFlags();
}

void FaultRegistry::Forget() {
  std::shared_ptr<RunningScenario> running;  // destroyed without the lock
  Replaced replaced;
  const WriterLock lock(mutex_);
  running_.swap(running);
  replaced_.swap(replaced);
  hidden_writes_.Clear();
  earlier_versions_.Clear();
  UpdateFlags();
}

Result<void> FaultRegistry::Restore() {
  Forget();
  std::shared_ptr<const Scenario> scenario;
  {
    const ReaderLock lock(mutex_);
    scenario = default_;
  }
  return scenario ? Start(std::move(scenario), /*by_default=*/true) : Ok();
}

std::optional<ScenarioAccount> FaultRegistry::Account() const {
  std::shared_ptr<RunningScenario> running;
  Replaced replaced;
  {
    const ReaderLock lock(mutex_);
    running = running_;
    replaced = replaced_;
  }
  if (!running) return std::nullopt;
  ScenarioAccount account = running->Account();
  account.replaced = Incomplete(replaced);
  return account;
}

Result<void> FaultRegistry::Check() const {
  if (const auto account = Account()) return CheckAccount(*account);
  Replaced replaced;
  {
    const ReaderLock lock(mutex_);
    replaced = replaced_;
  }
  return CheckAccount({.complete = true, .replaced = Incomplete(replaced)});
}

Result<void> FaultRegistry::AddRetryTest(std::string id, Scenario scenario) {
  PENSTOCK_ASSIGN(std::shared_ptr<RunningScenario> fresh,
                  RunningScenario::Start(std::move(scenario), clock_.Now()));
  const WriterLock lock(mutex_);
  if (tests_.size() >= kMaxRetryTests) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the namespace already has " + std::to_string(tests_.size()) +
                           " retry tests, and the limit is " + std::to_string(kMaxRetryTests) +
                           "; delete finished tests with DELETE /_penstock/retry-tests/ID, or "
                           "reset the namespace");
  }
  const auto [at, added] = tests_.try_emplace(std::move(id), std::move(fresh));
  if (!added)
    return Error::Make(
        ErrorKind::kAlreadyExists,
        "retry test '" + at->first + "' already exists; delete it or use another id");
  UpdateFlags();
  return Ok();
}

Result<std::shared_ptr<RunningScenario>> FaultRegistry::FindRetryTest(std::string_view id) const {
  const auto found = tests_.find(std::string(id));
  if (found == tests_.end()) {
    return Error::Make(
        ErrorKind::kNotFound,
        "retry test '" + std::string(id) + "' does not exist in this namespace; create it first");
  }
  return found->second;
}

Result<ScenarioAccount> FaultRegistry::RetryTestAccount(std::string_view id) const {
  std::shared_ptr<RunningScenario> test;
  {
    const ReaderLock lock(mutex_);
    PENSTOCK_ASSIGN(test, FindRetryTest(id));
  }
  return test->Account();
}

Result<void> FaultRegistry::RemoveRetryTest(std::string_view id) {
  Tests::node_type removed;  // destroyed without the lock
  const WriterLock lock(mutex_);
  PENSTOCK_TRY(FindRetryTest(id));
  removed = tests_.extract(std::string(id));
  UpdateFlags();
  return Ok();
}

std::vector<std::string> FaultRegistry::RetryTests() const {
  std::vector<std::string> ids;
  {
    const ReaderLock lock(mutex_);
    for (const auto& [id, test] : tests_) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::shared_ptr<RunningScenario>> FaultRegistry::Find(std::string_view retry_test) const {
  const ReaderLock lock(mutex_);
  if (!retry_test.empty()) return FindRetryTest(retry_test);
  return running_;
}

}  // namespace penstock::emulator::faults
