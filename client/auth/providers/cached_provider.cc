// Implements MakeCachedProvider of credentials.h.
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/dates.h"
#include "base/log/caught.h"
#include "base/process_id.h"
#include "client/auth/providers/credentials.h"
#include "penstock/base/mutex.h"

namespace penstock::auth {
namespace {

constexpr std::chrono::minutes kRefreshEarly{5};
// Minimum time between refresh attempts while the old credentials are valid, so that a failing
// source is not called for each request.
constexpr std::chrono::seconds kAttemptPause{30};

using Done = std::function<void(Result<CredentialsPtr>)>;

class CachedProviderImpl final : public CachedProvider,
                                 public std::enable_shared_from_this<CachedProviderImpl> {
 public:
  CachedProviderImpl(ProviderPtr inner, const Clock& clock)
      : inner_(std::move(inner)), clock_(clock) {}

  void Start(Done done) override {
    std::optional<CredentialsPtr> usable;
    bool refresh = false;
    {
      const MutexLock lock(mutex_);
      usable = Usable();
      if (!usable) waiters_.push_back(std::move(done));
      refresh = (!usable || DueForRefresh()) && !Refreshing();
      if (refresh) refreshing_in_ = ProcessId();
    }
    if (usable) done(std::move(*usable));
    if (!refresh) return;
    // Keeps itself alive: the provider may be released before the result arrives.
    Result<void> started = Caught("the credentials provider", [this] {
      inner_->Start([self = shared_from_this()](Result<CredentialsPtr> result) {
        self->Take(std::move(result));
      });
    });
    if (!started.ok()) Take(std::move(started).error());
  }

  void Forget(const CredentialsPtr& refused) override {
    {
      const MutexLock lock(mutex_);
      if (known_ && *known_ == refused) known_.reset();
    }
    inner_->Forget(refused);
  }

 private:
  // A refresh that was in progress at a fork belongs to the parent; its result never arrives here.
  bool Refreshing() const PENSTOCK_REQUIRES(mutex_) { return refreshing_in_ == ProcessId(); }

  // Returns the credentials that can be used now.
  std::optional<CredentialsPtr> Usable() const PENSTOCK_REQUIRES(mutex_) {
    if (!known_ || Expired(*known_)) return std::nullopt;
    return known_;
  }

  bool Expired(const CredentialsPtr& credentials) const {
    return credentials != nullptr && credentials->expires_at &&
           clock_.Now() >= *credentials->expires_at;
  }

  bool DueForRefresh() const PENSTOCK_REQUIRES(mutex_) {
    const CredentialsPtr& known = *known_;
    return known != nullptr && known->expires_at &&
           clock_.Now() >= *known->expires_at - kRefreshEarly &&
           clock_.Monotonic() >= next_attempt_;
  }

  void Take(Result<CredentialsPtr> result) {
    if (result.ok() && Expired(*result)) {
      result = Error::Make(ErrorKind::kUnauthenticated,
                           "the credentials expired at " + FormatIso8601(*(*result)->expires_at));
    }
    std::vector<Done> waiters;
    {
      const MutexLock lock(mutex_);
      refreshing_in_ = 0;
      next_attempt_ = clock_.Monotonic() + kAttemptPause;
      if (result.ok()) known_ = *result;
      waiters.swap(waiters_);
      if (!result.ok()) {
        if (const auto old = Usable()) result = *old;
      }
    }
    for (const Done& done : waiters) done(result);
  }

  const ProviderPtr inner_;
  const Clock& clock_;
  Mutex mutex_;
  std::optional<CredentialsPtr> known_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<Done> waiters_ PENSTOCK_GUARDED_BY(mutex_);
  ::pid_t refreshing_in_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // The process that refreshes; 0: none.
  MonotonicTime next_attempt_ PENSTOCK_GUARDED_BY(mutex_){};
};

}  // namespace

std::shared_ptr<CachedProvider> MakeCachedProvider(ProviderPtr inner, const Clock& clock) {
  return std::make_shared<CachedProviderImpl>(std::move(inner), clock);
}

}  // namespace penstock::auth
