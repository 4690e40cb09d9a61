#include "client/s3/express/express_sessions.h"

#include <chrono>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"

namespace penstock::s3 {
namespace {

using std::chrono::seconds;

constexpr seconds kRenewEarly{60};
constexpr seconds kServeUntil{5};
constexpr seconds kAttemptPause{5};
constexpr seconds kYoung{30};
constexpr std::size_t kMaxSessions = 100;

}  // namespace

std::string IdentityOf(const Credentials& credentials) {
  const std::string secrets = credentials.secret_access_key + "\n" + credentials.session_token;
  return credentials.access_key_id + "/" + HexEncode(Sha256(AsBytes(secrets)));
}

bool ExpressSessions::Usable(const Entry& entry) const {
  return entry.session != nullptr && clock_.Monotonic() < entry.ends - kServeUntil;
}

bool ExpressSessions::DueForRenewal(const Entry& entry) const {
  const MonotonicTime now = clock_.Monotonic();
  return now >= entry.ends - kRenewEarly && now >= entry.next_attempt;
}

// A younger session cannot be replaced by one that lasts much longer.
bool ExpressSessions::TooShort(const Entry& entry, seconds wanted) const {
  const MonotonicTime now = clock_.Monotonic();
  return entry.ends - now < wanted && now >= entry.asked + kYoung && now >= entry.next_attempt;
}

void ExpressSessions::Start(const SessionKey& key, seconds wanted, const Create& create,
                            Done done) {
  CredentialsPtr usable;
  bool ask = false;
  const MonotonicTime now = clock_.Monotonic();
  {
    const MutexLock lock(mutex_);
    if (!entries_.contains(key)) EvictOldest();
    Entry& entry = entries_[key];
    entry.used = now;
    if (Usable(entry) && !TooShort(entry, wanted)) {
      usable = entry.session;
    } else {
      entry.waiters.push_back(std::move(done));
    }
    ask = !entry.creating && (usable == nullptr || DueForRenewal(entry));
    if (ask) entry.creating = true;
  }
  if (usable != nullptr) done(std::move(usable));
  if (!ask) return;
  create([self = shared_from_this(), key, now](Result<BucketSession> result) {
    self->OnCreated(key, now, std::move(result));
  });
}

void ExpressSessions::OnCreated(const SessionKey& key, MonotonicTime asked,
                                Result<BucketSession> result) {
  std::vector<Done> waiters;
  Result<CredentialsPtr> outcome = CredentialsPtr();
  {
    const MutexLock lock(mutex_);
    Entry& entry = entries_[key];
    entry.creating = false;
    entry.next_attempt = clock_.Monotonic() + kAttemptPause;
    if (result.ok()) {
      entry.session = result->credentials;
      entry.asked = asked;
      // Relative to the time of the request, so it never ends too late.
      entry.ends = asked + result->lifetime;
      outcome = entry.session;
    } else if (Usable(entry)) {
      outcome = entry.session;
    } else {
      outcome = std::move(result).error();
      entry.session = nullptr;
    }
    waiters.swap(entry.waiters);
  }
  for (const Done& done : waiters) done(outcome);
}

void ExpressSessions::Drop(const std::string& bucket, const CredentialsPtr& refused) {
  const MutexLock lock(mutex_);
  for (auto& [key, entry] : entries_) {
    if (key.bucket == bucket && entry.session != nullptr && entry.session == refused)
      entry.session = nullptr;
  }
}

void ExpressSessions::EvictOldest() {
  if (entries_.size() < kMaxSessions) return;
  auto oldest = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->second.creating) continue;  // Callers wait for it.
    if (oldest == entries_.end() || at->second.used < oldest->second.used) oldest = at;
  }
  if (oldest != entries_.end()) entries_.erase(oldest);
}

}  // namespace penstock::s3
