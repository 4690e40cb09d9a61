#include "client/s3/call/process_state.h"

#include <utility>

#include "base/process_id.h"
#include "client/s3/retry/adaptive_rate.h"

namespace penstock::s3 {

ProcessState::~ProcessState() {
  State* state = current_.load(std::memory_order_acquire);
  // Destroying the parent's copy could wait for a thread that does not exist in this process.
  if (state != nullptr && state->pid == ProcessId()) delete state;
}

ProcessState::State& ProcessState::Mine() {
  const pid_t pid = ProcessId();
  State* seen = current_.load(std::memory_order_acquire);
  if (seen != nullptr && seen->pid == pid) return *seen;
  auto* made =
      new State{pid, make_provider_(), std::make_shared<ExpressSessions>(clock_), {}, {}, {}, seen};
  if (current_.compare_exchange_strong(seen, made, std::memory_order_acq_rel)) return *made;
  delete made;  // Another thread of this process was first.
  return *seen;
}

const auth::Signer& ProcessState::SignerFor(const auth::SigningScope& scope) {
  auto& signers = Mine().signers;
  const auto matches = [&scope](const auto& signer) { return signer->scope() == scope; };
  if (const auto* known = signers.FindNewest(matches)) return **known;
  return *signers.Push(std::make_unique<auth::Signer>(scope));
}

RateLimiter& ProcessState::adaptive_rate(MonotonicTime now) {
  State& mine = Mine();
  // Two limiters would each admit the full rate.
  std::call_once(mine.limiter_made, [&] { mine.limiter = std::make_unique<AdaptiveRate>(now); });
  return *mine.limiter;
}

}  // namespace penstock::s3
