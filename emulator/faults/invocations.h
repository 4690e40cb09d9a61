// Which requests are attempts of one call of a client, and how many of these have failed.
//
// SDKs say which call a request belongs to (amz-sdk-invocation-id). Who says nothing is taken for
// what looks like it: a request goes on with a call of the same AttemptIdentity (facts.h) whose
// last attempt failed and waits for the next one; where none waits it begins a call of its own. A
// call ends with the attempt that no fault fails. So calls that follow each other, and those that
// overlap, each count for themselves.
//
// Of several that wait a request goes on with the one that failed on its own connection; or else
// with the one that failed first and that nobody has gone on with yet. That one stays for its own
// connection, whose client may be the one that retries.
#ifndef PENSTOCK_EMULATOR_FAULTS_INVOCATIONS_H_
#define PENSTOCK_EMULATOR_FAULTS_INVOCATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/faults/facts.h"
#include "emulator/faults/group_counts.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

class Invocations;

// One request of an invocation. Unless Fail is called until its end, it was the last one.
//
// Thread safety: one thread at a time; it may be another one each time.
class Attempt {
 public:
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  // The same for all attempts of an invocation.
  const std::string& invocation() const { return invocation_; }
  // Attempts of it that failed so far.
  std::uint64_t failures() const;
  // A fault has failed this attempt. Once is enough.
  void Fail();

  // A fault that keeps the client waiting: where it gives up and asks again before this ends, the
  // attempt has failed. Told of invocations with an id alone.
  class Waiting {
   public:
    explicit Waiting(const std::shared_ptr<Attempt>& attempt);  // null: does nothing
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
  const std::string identity_;  // empty where the request says which invocation it is of
  const std::uint64_t connection_;
  std::uint64_t failures_before_ = 0;  // of an invocation without an id
  bool failed_ = false;
};

// Of one scenario. Remembers the kMost invocations with an id that were last looked at, and as many
// attempts that wait for the next one of invocations without; of more, the one left alone longest
// is forgotten.
//
// Thread safety: safe from any thread.
class Invocations {
 public:
  static constexpr std::size_t kMost = GroupCounts::kMost;

  explicit Invocations(std::size_t most = kMost) : most_(most), failures_(most) {}

  // The attempt that a request is. Once for each.
  static std::shared_ptr<Attempt> Begin(const std::shared_ptr<Invocations>& all,
                                        const Facts& facts);

 private:
  friend class Attempt;
  // A failed attempt of an invocation without an id.
  struct Failed {
    std::string identity;
    std::uint64_t connection = 0;
    std::string invocation;
    std::uint64_t failures = 0;
  };
  void GoOn(Attempt& attempt);
  void Keep(Failed failed);
  void Forget(std::uint64_t number) PENSTOCK_REQUIRES(mutex_);

  const std::size_t most_;
  Mutex mutex_;
  GroupCounts failures_ PENSTOCK_GUARDED_BY(mutex_);  // by id
  std::uint64_t begun_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t numbers_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  // by number, in the order in which they failed
  std::map<std::uint64_t, Failed> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  // By identity and connection, and by identity alone those that nobody has gone on with: views of
  // what waits.
  std::map<std::pair<std::string_view, std::uint64_t>, std::uint64_t> by_connection_
      PENSTOCK_GUARDED_BY(mutex_);
  std::set<std::pair<std::string_view, std::uint64_t>> alone_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_INVOCATIONS_H_
