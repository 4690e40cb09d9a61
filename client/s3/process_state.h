// The parts of a Client that hold locks (signers, the default credential chain, sessions), made
// anew in a forked child.
//
// A fork copies a lock another thread holds, and nobody in the child would ever release it. So
// whatever locks is kept here under the pid of its maker; a child makes its own at its first
// request and leaves the copy alone.
#ifndef PENSTOCK_CLIENT_S3_PROCESS_STATE_H_
#define PENSTOCK_CLIENT_S3_PROCESS_STATE_H_

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "client/auth/credentials.h"
#include "client/auth/signer.h"
#include "client/s3/endpoint/append_only_list.h"
#include "client/s3/express/express_sessions.h"
#include "client/s3/retry/rate_limiter.h"
#include "penstock/base/clock.h"

namespace penstock::s3 {

// Thread safety: safe from any thread, also in a forked child.
class ProcessState {
 public:
  using MakeProvider = std::function<auth::ProviderPtr()>;

  // `make_provider` is called once per process. `clock` lives forever.
  explicit ProcessState(MakeProvider make_provider, const Clock& clock = SystemClock())
      : make_provider_(std::move(make_provider)), clock_(clock) {}
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;
  ~ProcessState();

  // This process's. Shared: a call in flight keeps it.
  auth::ProviderPtr provider() { return Mine().provider; }
  // This process's. Shared: a session on its way keeps it.
  std::shared_ptr<ExpressSessions> sessions() { return Mine().sessions; }
  // The signer of a scope; lives as long as this object.
  const auth::Signer& SignerFor(const auth::SigningScope& scope);

  // The rate limiter of retry mode `adaptive`, made at first use; lives as long as this object.
  RateLimiter& adaptive_rate(MonotonicTime now);

 private:
  struct State {
    pid_t pid;
    auth::ProviderPtr provider;
    std::shared_ptr<ExpressSessions> sessions;
    AppendOnlyList<std::unique_ptr<auth::Signer>> signers;
    AppendOnlyList<std::unique_ptr<RateLimiter>> limiters;
    State* of_parent;  // the copy of the parent's, never touched again: its locks may be taken
  };
  State& Mine();

  const MakeProvider make_provider_;
  const Clock& clock_;
  std::atomic<State*> current_{nullptr};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_PROCESS_STATE_H_
