// Sessions of directory buckets, shared by all calls: each is created once and renewed before it
// expires ("CreateSession", Amazon S3 API Reference).
#ifndef PENSTOCK_CLIENT_S3_EXPRESS_EXPRESS_SESSIONS_H_
#define PENSTOCK_CLIENT_S3_EXPRESS_EXPRESS_SESSIONS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/s3/verbs/verbs.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::s3 {

// Identifies a session. `identity` changes with the credentials that sign CreateSession.
struct SessionKey {
  std::string bucket;
  std::string region;
  std::string identity;

  friend auto operator<=>(const SessionKey&, const SessionKey&) = default;
};

// Returns the identity part of a key. It does not reveal the secret.
std::string IdentityOf(const Credentials& credentials);

// Stores 100 sessions; above that the least recently used one is evicted.
//
// A session is used until 5 s before its expiry. A use in its last 60 s creates the next session in
// the background; if that fails, a use 5 s later tries again. Without a usable session, callers
// wait for one shared CreateSession request. A failure is returned to all waiting callers and not
// stored.
//
// Thread safety: may be used from any thread. Belongs to one process: a forked child creates its
// own (ProcessState).
class ExpressSessions : public std::enable_shared_from_this<ExpressSessions> {
 public:
  using Done = std::function<void(Result<CredentialsPtr>)>;
  // Calls CreateSession. The callback runs exactly once, on any thread, possibly before the
  // function returns.
  using Create = std::function<void(std::function<void(Result<BucketSession>)>)>;

  explicit ExpressSessions(const Clock& clock) : clock_(clock) {}

  // `done` runs exactly once, possibly before Start returns, and never under a lock.
  void Start(const SessionKey& key, std::chrono::seconds wanted, const Create& create, Done done);

  // Called after S3 rejected a request signed with `refused`. The next Start creates another
  // session, unless one already exists.
  void Drop(const std::string& bucket, const CredentialsPtr& refused);

 private:
  struct Entry {
    CredentialsPtr session;  // Null: none yet.
    MonotonicTime asked{};   // When CreateSession was called, which is before it was created.
    MonotonicTime ends{};
    MonotonicTime used{};
    MonotonicTime next_attempt{};
    bool creating = false;
    std::vector<Done> waiters;
  };
  bool Usable(const Entry& entry) const;
  bool DueForRenewal(const Entry& entry) const;
  bool TooShort(const Entry& entry, std::chrono::seconds wanted) const;
  void OnCreated(const SessionKey& key, MonotonicTime asked, Result<BucketSession> result);
  void EvictOldest() PENSTOCK_REQUIRES(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  std::map<SessionKey, Entry> entries_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_EXPRESS_EXPRESS_SESSIONS_H_
