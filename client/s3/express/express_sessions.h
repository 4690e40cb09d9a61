// The sessions of directory buckets (spec/protocol.md §1.3): one for all calls, asked for once,
// renewed ahead of its end.
#ifndef PENSTOCK_CLIENT_S3_EXPRESS_EXPRESS_SESSIONS_H_
#define PENSTOCK_CLIENT_S3_EXPRESS_EXPRESS_SESSIONS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/s3/verbs/create_session.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"
#include "penstock/base/result.h"
#include "penstock/credentials.h"

namespace penstock::s3 {

// Whose session, for which bucket. `identity` changes with the credentials that sign CreateSession.
struct SessionKey {
  std::string bucket;
  std::string region;
  std::string identity;

  friend auto operator<=>(const SessionKey&, const SessionKey&) = default;
};

// The identity part of a key: no secret can be read out of it.
std::string IdentityOf(const Credentials& credentials);

// Keeps 100 sessions; beyond, the one not used for longest goes.
//
// A session is served until 5 s before its end. From 60 s before it on, a use has the next one made
// in the background; when that fails, a use 5 s later tries again. Where none can be served,
// callers wait for the one that is being made: however many they are, it is asked for once. A
// failure goes to all who wait, and is not kept.
//
// Thread safety: safe from any thread. Belongs to one process: a forked child makes its own
// (ProcessState).
class ExpressSessions : public std::enable_shared_from_this<ExpressSessions> {
 public:
  using Done = std::function<void(Result<CredentialsPtr>)>;
  // Calls CreateSession; answers exactly once, on any thread, possibly before it returns.
  using Create = std::function<void(std::function<void(Result<BucketSession>)>)>;

  explicit ExpressSessions(const Clock& clock) : clock_(clock) {}

  // `done` exactly once, possibly before Start returns; never under a lock.
  void Start(const SessionKey& key, const Create& create, Done done);

  // A request signed with `refused` was refused for it: the next Start asks for another, unless
  // that has happened already.
  void Drop(const std::string& bucket, const CredentialsPtr& refused);

 private:
  struct Entry {
    CredentialsPtr session;  // null: none yet
    MonotonicTime ends{};
    MonotonicTime used{};
    MonotonicTime next_attempt{};
    bool creating = false;
    std::vector<Done> waiters;
  };
  bool Usable(const Entry& entry) const;
  bool DueForRenewal(const Entry& entry) const;
  void Take(const SessionKey& key, MonotonicTime asked, Result<BucketSession> result);
  void MakeRoom() PENSTOCK_REQUIRES(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  std::map<SessionKey, Entry> entries_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_EXPRESS_EXPRESS_SESSIONS_H_
