// A running scenario: decides which rules a request matches and counts what fired.
//
// Random draws are an HMAC of seed, rule and request (traffic/draws.h). Which requests of a job are
// selected therefore does not depend on thread interleaving. `nth`, `after` and `times` count in
// the order of arrival.
#ifndef PENSTOCK_EMULATOR_FAULTS_SCENARIO_RUNNING_SCENARIO_H_
#define PENSTOCK_EMULATOR_FAULTS_SCENARIO_RUNNING_SCENARIO_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/faults/rules/rule.h"
#include "emulator/faults/scenario/group_counts.h"
#include "emulator/faults/scenario/invocations.h"
#include "emulator/faults/scenario/rule_index.h"
#include "emulator/traffic/draws.h"
#include "emulator/traffic/occurrence_counter.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// The counters of one rule so far.
struct RuleAccount {
  std::string id;
  std::uint64_t matched = 0;    // Requests whose head matched the condition.
  std::uint64_t fired = 0;      // Requests whose last action was done.
  std::uint64_t under_way = 0;  // Requests that were selected and whose last action is pending.
  bool complete = false;        // The rule has fired as often as it must.
  // How many more requests it may select. nullopt: it has no limit for the whole scenario.
  std::optional<std::uint64_t> remaining = std::nullopt;
  std::vector<std::string> request_ids;  // Ids of the latest requests that fired, at most 32.
};

struct ScenarioAccount {
  std::string name;
  std::uint64_t seed = 1;
  std::uint64_t requests = 0;
  std::uint64_t fired = 0;
  bool complete = false;
  std::vector<RuleAccount> rules;
  std::shared_ptr<const std::string> document = {};  // Scenario::document.
  // Set by FaultRegistry: earlier scenarios that ended incomplete.
  std::vector<ScenarioAccount> replaced = {};
};

class RunningScenario;

// The claim of a rule on one request. It counts against the rule's limit, and counts as fired once
// every action is done. If it is destroyed before that, the claim is returned and another request
// may take it.
//
// Thread safety: one thread at a time, not necessarily always the same one.
class Ticket {
 public:
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  const Rule& rule() const { return *rule_; }
  // The random draw of this rule for this request. Its first number decided whether the rule
  // applies. Zeros if nothing about the rule is random.
  const traffic::Draw& draw() const { return draw_; }
  // The number of requests that the rule had selected before this one.
  std::uint64_t turn() const { return turn_; }
  // Reports that one of the rule's actions was done. Calls after the last action have no effect.
  void Done(const Action& action);
  bool fired() const { return left_ == 0; }
  // The attempt of an invocation that this request is. Null: invocations are not tracked.
  const std::shared_ptr<Attempt>& attempt() const { return attempt_; }

 private:
  friend class RunningScenario;
  Ticket(std::size_t index, const Rule& rule);

  // Null until the rule has selected the request. Shared, because requests in flight keep a
  // replaced scenario alive.
  std::shared_ptr<RunningScenario> scenario_;
  const std::size_t index_;
  const Rule* const rule_;
  std::string group_;  // The group of Limit::per.
  std::shared_ptr<Attempt> attempt_;
  std::string request_id_;
  traffic::Draw draw_{};
  std::uint64_t turn_ = 0;
  std::uint64_t ordinal_ = 0;  // 1-based index among the requests that matched the rule.
  std::size_t left_;
};

// Thread safety: safe from any thread.
class RunningScenario : public std::enable_shared_from_this<RunningScenario> {
 public:
  // `now`: the namespace's time. Returns the errors of CheckScenario.
  static Result<std::shared_ptr<RunningScenario>> Start(std::shared_ptr<const Scenario> scenario,
                                                        WallTime now);
  static Result<std::shared_ptr<RunningScenario>> Start(Scenario scenario, WallTime now) {
    return Start(std::make_shared<const Scenario>(std::move(scenario)), now);
  }

  // What determines the memory of a running scenario.
  struct Shape {
    std::size_t rules = 0;
    std::size_t rules_of_any_operation = 0;
    std::size_t operations = 0;  // of all other rules
  };
  static Shape ShapeOf(const Scenario& scenario);
  // The most bytes that its rules take, without texts, actions and regular expressions, and without
  // the counts of keys, clients and requests that Limit::per and random rules keep.
  static std::uint64_t MaxMemoryOf(const Shape& shape);

  // Returns the rules that apply to this request, in order. Call once per request. Reads neither
  // the properties nor the clock (of the namespace) if no rule can match, which keeps the common
  // case cheap.
  std::vector<std::unique_ptr<Ticket>> Meet(LazyRequestProperties& properties, const Clock& clock);
  // Returns the rules that apply to a new connection. `properties` has no request; its exchange has
  // the connection. Call once per connection.
  std::vector<std::unique_ptr<Ticket>> OnConnection(const RequestProperties& properties,
                                                    WallTime now);
  // Adds body bytes of a request and its response, for `after_bytes`.
  void CountBytes(std::uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // Whether a rule needs CountBytes.
  bool counts_bytes() const { return counts_bytes_; }
  // Whether a rule sends bytes of an object's previous version.
  bool asks_for_earlier_versions() const { return asks_for_earlier_versions_; }

  ScenarioAccount Account() const;
  const Scenario& scenario() const { return *scenario_; }

 private:
  friend class Ticket;
  // The state of one rule. Limits count when a request is selected, so that concurrent requests
  // cannot exceed them.
  struct State {
    mutable Mutex mutex;
    std::uint64_t matched PENSTOCK_GUARDED_BY(mutex) = 0;
    std::uint64_t chosen PENSTOCK_GUARDED_BY(mutex) = 0;
    std::uint64_t under_way PENSTOCK_GUARDED_BY(mutex) = 0;
    std::uint64_t fired PENSTOCK_GUARDED_BY(mutex) = 0;
    GroupCounts taken PENSTOCK_GUARDED_BY(mutex);
    // For Budget: whether the rule was applied, for each of the latest matching requests.
    std::deque<bool> recent PENSTOCK_GUARDED_BY(mutex);
    std::deque<std::string> request_ids PENSTOCK_GUARDED_BY(mutex);
    bool draws = false;  // Whether random numbers have an influence. Never changes.
    traffic::OccurrenceCounter arrivals;  // Counts only if `draws`.
  };
  // A request or a connection that is evaluated against the rules.
  struct Evaluation {
    const RequestProperties& properties;
    std::chrono::nanoseconds age;  // Time since the start of the scenario.
    std::uint64_t requests_before = 0;
    // Set once a condition has matched, if invocations are tracked.
    std::shared_ptr<Attempt> attempt = nullptr;
  };
  RunningScenario(std::shared_ptr<const Scenario> scenario, WallTime now);
  std::chrono::nanoseconds AgeAt(WallTime now) const;
  // Evaluates one rule and adds its ticket to `met` if it applies. Returns false if the rule is
  // final and applies: later rules are not evaluated.
  bool ApplyRule(std::size_t place, Evaluation& evaluation,
                 std::vector<std::unique_ptr<Ticket>>& met);
  std::unique_ptr<Ticket> TryRule(std::size_t index, const Evaluation& evaluation);
  std::string GroupOf(Per per, const Evaluation& evaluation) const;
  bool IsDue(const Rule& rule, const Evaluation& evaluation) const;
  double Chance(const Condition& when, std::chrono::nanoseconds age) const;
  bool Take(const Rule& rule, State& state, const Ticket& ticket) PENSTOCK_REQUIRES(state.mutex);
  void ReturnToBudget(State& state, const Ticket& ticket) PENSTOCK_REQUIRES(state.mutex);
  void FinishTicket(const Ticket& ticket);
  bool IsComplete(const Rule& rule, const State& state) const PENSTOCK_REQUIRES(state.mutex);

  const std::shared_ptr<const Scenario> scenario_;  // Shared by namespaces. Never null.
  const traffic::Draws draws_;
  const WallTime began_;
  const RuleIndex index_;
  const std::vector<Matcher> matchers_;  // By rule index.
  const bool counts_bytes_;
  const bool asks_for_earlier_versions_;
  const std::shared_ptr<Invocations> invocations_;  // Null: no rule needs them.
  std::vector<std::size_t> for_connections_;        // Indexes of the connection rules, in order.
  std::vector<std::unique_ptr<State>> states_;      // By rule index.
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

// For the end of a test. Returns kPreconditionFailed with the seed and the rules that had to fire
// and did not, including those of replaced scenarios.
Result<void> CheckAccount(const ScenarioAccount& account);

// Whether an action replaces the operation's response or ends the connection.
bool IsTerminal(const TimedAction& timed);
// Returns kInvalidArgument for too many rules, a missing or duplicate id, a rule without an action,
// conflicting actions, or a number out of range. The message names the rule.
Result<void> CheckScenario(const Scenario& scenario);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_SCENARIO_RUNNING_SCENARIO_H_
