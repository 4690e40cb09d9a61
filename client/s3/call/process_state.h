// The parts of a Client that contain locks (signers, the default credential chain, sessions),
// created again in a forked child.
//
// A fork copies locks held by other threads, which no thread of the child ever releases. Objects
// with locks are therefore stored here with the pid of their creator. A child creates its own at
// its first request and does not touch the copies.
#ifndef PENSTOCK_CLIENT_S3_CALL_PROCESS_STATE_H_
#define PENSTOCK_CLIENT_S3_CALL_PROCESS_STATE_H_

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "client/auth/providers/credentials.h"
#include "client/auth/signer.h"
#include "client/memory/append_only_list.h"
#include "client/s3/express/express_sessions.h"
#include "client/s3/retry/rate_limiter.h"
#include "penstock/base/clock.h"

namespace penstock::s3 {

// Thread safety: may be used from any thread, also in a forked child.
class ProcessState {
 public:
  using MakeProvider = std::function<auth::ProviderPtr()>;

  // `make_provider` is called once per process. `clock` lives forever.
  explicit ProcessState(MakeProvider make_provider, const Clock& clock = SystemClock())
      : make_provider_(std::move(make_provider)), clock_(clock) {}
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;
  ~ProcessState();

  // The provider of this process. Shared: a call in flight keeps it alive.
  auth::ProviderPtr provider() { return Mine().provider; }
  // The sessions of this process. Shared: a pending CreateSession keeps them alive.
  std::shared_ptr<ExpressSessions> sessions() { return Mine().sessions; }
  // Returns the signer of a scope, which lives as long as this object.
  const auth::Signer& SignerFor(const auth::SigningScope& scope);

  // Returns the rate limiter of retry mode `adaptive`, created at the first use. It lives as long
  // as this object.
  RateLimiter& adaptive_rate(MonotonicTime now);

 private:
  struct State {
    pid_t pid;
    auth::ProviderPtr provider;
    std::shared_ptr<ExpressSessions> sessions;
    AppendOnlyList<std::unique_ptr<auth::Signer>> signers;
    std::once_flag limiter_made;
    std::unique_ptr<RateLimiter> limiter;
    State* of_parent;  // The parent's copy, never accessed: its locks may be locked.
  };
  State& Mine();

  const MakeProvider make_provider_;
  const Clock& clock_;
  std::atomic<State*> current_{nullptr};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_PROCESS_STATE_H_
