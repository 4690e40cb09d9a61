// A scenario at work: which rules a request meets, and the account of what fired.
//
// Chance is an HMAC of seed, rule and request (throttle/draws.h): which requests of a job meet a
// rule with a probability does not depend on how threads interleave. `nth`, `after` and `times`
// count in the order of arrival.
#ifndef PENSTOCK_EMULATOR_FAULTS_RUNNING_SCENARIO_H_
#define PENSTOCK_EMULATOR_FAULTS_RUNNING_SCENARIO_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/faults/arrivals.h"
#include "emulator/faults/group_counts.h"
#include "emulator/faults/invocations.h"
#include "emulator/faults/rule.h"
#include "emulator/faults/rule_index.h"
#include "emulator/traffic/draws.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// What became of a rule so far.
struct RuleAccount {
  std::string id;
  std::uint64_t matched = 0;    // requests whose head fulfilled the condition
  std::uint64_t fired = 0;      // whose last action was done
  std::uint64_t under_way = 0;  // chosen, and not at its last action yet
  bool complete = false;        // it need not fire any more for the scenario to be complete
  std::vector<std::string> request_ids;  // of the latest that fired, at most 32
};

struct ScenarioAccount {
  std::string name;
  std::uint64_t seed = 1;
  std::uint64_t requests = 0;
  std::uint64_t fired = 0;
  bool complete = false;
  std::vector<RuleAccount> rules;
  // FaultRegistry's: of scenarios before it that ended incomplete
  std::vector<ScenarioAccount> replaced = {};
};

class RunningScenario;

// A rule's claim on one request: it has been counted against the rule's limit, and counts as fired
// as soon as every action was done. Destroyed before that, it is given back, and another request
// may have it.
//
// Thread safety: one thread at a time; it may be another one each time.
class Ticket {
 public:
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  const Rule& rule() const { return *rule_; }
  // The draw of this rule for this request: its first number decided whether the rule is met.
  const traffic::Draw& draw() const { return draw_; }
  // How many requests the rule had chosen before.
  std::uint64_t turn() const { return turn_; }
  // One of the rule's actions was done. Beyond the last it does nothing.
  void Done(const Action& action);
  bool fired() const { return left_ == 0; }
  // The attempt that the request is of an invocation; null: nobody counts them.
  const std::shared_ptr<Attempt>& attempt() const { return attempt_; }

 private:
  friend class RunningScenario;
  Ticket(std::size_t index, const Rule& rule);

  // Null until the rule has chosen the request. Shared: it stays for requests under way when
  // another one takes its place.
  std::shared_ptr<RunningScenario> scenario_;
  const std::size_t index_;
  const Rule* const rule_;
  std::string group_;  // Limit::per's
  std::shared_ptr<Attempt> attempt_;
  std::string request_id_;
  traffic::Draw draw_{};
  std::uint64_t turn_ = 0;
  std::uint64_t ordinal_ = 0;  // among the requests that matched the rule
  std::size_t left_;
};

// Thread safety: safe from any thread.
class RunningScenario : public std::enable_shared_from_this<RunningScenario> {
 public:
  // `now`: the namespace's time. CheckScenario's errors.
  static Result<std::shared_ptr<RunningScenario>> Start(Scenario scenario, WallTime now);

  // The rules that this request meets, in their order. Once per request. Costs next to nothing
  // where no rule is about it: neither the facts nor the clock (the namespace's) are looked at.
  std::vector<std::unique_ptr<Ticket>> Meet(LazyFacts& facts, const Clock& clock);
  // The rules that a connection meets as it is accepted: `facts` has no request, its exchange has
  // the connection. Once each.
  std::vector<std::unique_ptr<Ticket>> MeetConnection(const Facts& facts, WallTime now);
  // Bytes of a request's body and of its answer, for `after_bytes`.
  void CountBytes(std::uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // A rule asks for it.
  bool counts_bytes() const { return counts_bytes_; }
  // A rule brings bytes of an object's version before.
  bool asks_for_earlier_versions() const { return asks_for_earlier_versions_; }

  ScenarioAccount Account() const;
  const Scenario& scenario() const { return scenario_; }

 private:
  friend class Ticket;
  // Of one rule; what a limit counts, it counts when a request is chosen, so that many threads
  // cannot exceed it together.
  struct State {
    mutable Mutex mutex;
    std::uint64_t matched PENSTOCK_GUARDED_BY(mutex) = 0;
    std::uint64_t chosen PENSTOCK_GUARDED_BY(mutex) = 0;
    std::uint64_t under_way PENSTOCK_GUARDED_BY(mutex) = 0;
    std::uint64_t fired PENSTOCK_GUARDED_BY(mutex) = 0;
    GroupCounts taken PENSTOCK_GUARDED_BY(mutex);
    // Budget's: which of the latest that matched met it
    std::deque<bool> recent PENSTOCK_GUARDED_BY(mutex);
    std::deque<std::string> request_ids PENSTOCK_GUARDED_BY(mutex);
    Arrivals arrivals;
  };
  // A request, or a connection, that is held against the rules.
  struct Asking {
    const Facts& facts;
    std::chrono::nanoseconds age;  // of the scenario
    std::uint64_t requests_before = 0;
    // once a rule's head has matched, where attempts are counted
    std::shared_ptr<Attempt> attempt = nullptr;
  };
  RunningScenario(Scenario scenario, WallTime now);
  std::chrono::nanoseconds AgeAt(WallTime now) const;
  // Adds what a request meets of one rule; false: it meets no further ones.
  bool GoesOn(std::size_t place, Asking& asking, std::vector<std::unique_ptr<Ticket>>& met);
  std::unique_ptr<Ticket> TryRule(std::size_t index, const Asking& asking);
  std::string GroupOf(Per per, const Asking& asking) const;
  bool IsDue(const Rule& rule, const Asking& asking) const;
  double Chance(const Condition& when, std::chrono::nanoseconds age) const;
  bool Take(const Rule& rule, State& state, const Ticket& ticket) PENSTOCK_REQUIRES(state.mutex);
  void GiveBack(State& state, const Ticket& ticket) PENSTOCK_REQUIRES(state.mutex);
  void Settle(const Ticket& ticket);
  bool IsComplete(const Rule& rule, const State& state) const PENSTOCK_REQUIRES(state.mutex);

  const Scenario scenario_;
  const traffic::Draws draws_;
  const WallTime began_;
  const RuleIndex index_;
  const std::vector<Matcher> matchers_;  // by rule
  const bool counts_bytes_;
  const bool asks_for_earlier_versions_;
  const std::shared_ptr<Invocations> invocations_;  // null: no rule asks which they are
  std::vector<std::size_t> for_connections_;        // rules that begin at Stage::kAccept, in order
  std::vector<std::unique_ptr<State>> states_;      // by rule
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

// For the end of a test: kPreconditionFailed names the rules that must fire and did not, with the
// seed; those of the replaced scenarios too.
Result<void> CheckAccount(const ScenarioAccount& account);

// Whether an action answers in the operation's place or ends the connection.
bool IsTerminal(const TimedAction& timed);
// kInvalidArgument: no or too many rules, two of one id, a rule without an action, numbers out of
// range; names rule and field.
Result<void> CheckScenario(const Scenario& scenario);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RUNNING_SCENARIO_H_
