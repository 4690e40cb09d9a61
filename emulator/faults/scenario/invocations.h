// Groups requests into the attempts of one client call (an invocation) and counts the failed
// attempts.
//
// SDKs identify the call of a request in amz-sdk-invocation-id. Requests without an id are grouped
// by AttemptIdentity (properties.h): a request continues the invocation whose last attempt had the
// same identity and failed. If there is none, the request begins a new invocation. An invocation
// ends with the first attempt that no fault fails. Consecutive and concurrent calls are therefore
// counted separately.
//
// Among several candidates, the request continues the one that failed on its own connection.
// Otherwise it continues the one that failed first among those not yet continued by another
// connection. That one remains available to its own connection, whose client may be the one that
// retries.
#ifndef PENSTOCK_EMULATOR_FAULTS_SCENARIO_INVOCATIONS_H_
#define PENSTOCK_EMULATOR_FAULTS_SCENARIO_INVOCATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/faults/rules/request_properties.h"
#include "emulator/faults/scenario/group_counts.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

class Invocations;

// One request of an invocation. It is the last one unless Fail is called before it ends.
//
// Thread safety: one thread at a time, not necessarily always the same one.
class Attempt {
 public:
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // The same value for all attempts of an invocation.
  const std::string& invocation() const { return invocation_; }
  // The number of failed attempts of the invocation so far.
  std::uint64_t failures() const;
  // Marks this attempt as failed by a fault. Further calls have no effect.
  void Fail();

  // A fault that delays the client. If the client gives up and retries before this object is
  // destroyed, the attempt counts as failed. Applies only to invocations with an id.
  class Waiting {
   public:
    explicit Waiting(const std::shared_ptr<Attempt>& attempt);  // Null: no effect.
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    const std::shared_ptr<Attempt> attempt_;
  };

 private:
  friend class Invocations;
  Attempt(std::shared_ptr<Invocations> all, std::string invocation, std::string identity,
          std::uint64_t connection)
      : all_(std::move(all)),
        invocation_(std::move(invocation)),
        identity_(std::move(identity)),
        connection_(connection) {}
  bool has_id() const { return identity_.empty(); }

  const std::shared_ptr<Invocations> all_;
  std::string invocation_;
  const std::string identity_;  // Empty if the request carries an invocation id.
  const std::uint64_t connection_;
  std::uint64_t failures_before_ = 0;  // For invocations without an id.
  bool failed_ = false;
};

// The invocations of one scenario. Remembers the `most` most recently used invocations with an id,
// and as many failed attempts of invocations without one. Older entries are evicted.
//
// Thread safety: safe from any thread.
class Invocations {
 public:
  static constexpr std::size_t kMax = GroupCounts::kMax;

  explicit Invocations(std::size_t most = kMax) : most_(most), failures_(most) {}

  // Returns the attempt for a request. Call once per request.
  static std::shared_ptr<Attempt> Begin(const std::shared_ptr<Invocations>& all,
                                        const RequestProperties& properties);

 private:
  friend class Attempt;
  // A failed attempt of an invocation without an id, which may be retried.
  struct Failed {
    std::string identity;
    std::uint64_t connection = 0;
    std::string invocation;
    std::uint64_t failures = 0;
  };
  void ContinueInvocation(Attempt& attempt);
  void Keep(Failed failed);
  void Forget(std::uint64_t number) PENSTOCK_REQUIRES(mutex_);

  const std::size_t most_;
  Mutex mutex_;
  GroupCounts failures_ PENSTOCK_GUARDED_BY(mutex_);  // By invocation id.
  std::uint64_t begun_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t numbers_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  // By number, in the order of failure.
  std::map<std::uint64_t, Failed> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  // Indexes of waiting_: by identity and connection, and by identity alone for those that no other
  // connection has continued. The keys are views of the entries of waiting_.
  std::map<std::pair<std::string_view, std::uint64_t>, std::uint64_t> by_connection_
      PENSTOCK_GUARDED_BY(mutex_);
  std::set<std::pair<std::string_view, std::uint64_t>> not_continued_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_SCENARIO_INVOCATIONS_H_
