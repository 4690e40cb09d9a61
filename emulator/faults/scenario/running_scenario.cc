#include "emulator/faults/scenario/running_scenario.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "emulator/faults/rules/action_effects.h"
#include "emulator/traffic/request_work.h"

namespace penstock::emulator::faults {
namespace {

constexpr std::size_t kMaxRequestIds = 32;
// Of the queues of a rule: 32 request ids, and up to 1,024 flags of a budget.
constexpr std::uint64_t kMaxQueueBytes = kMaxRequestIds * 2 * sizeof(std::string) + 3'072;

std::vector<Matcher> MatchersOf(const std::vector<Rule>& rules) {
  std::vector<Matcher> matchers;
  matchers.reserve(rules.size());
  for (const Rule& rule : rules) matchers.emplace_back(rule.when);
  return matchers;
}

bool NeedsInvocations(const Rule& rule) {
  return rule.when.unless_failed.has_value() ||
         (rule.limit.times && rule.limit.per == Per::kInvocation);
}

bool NeedsEarlierVersions(const Rule& rule) {
  return std::any_of(rule.actions.begin(), rule.actions.end(), [](const TimedAction& timed) {
    const auto* const corrupt = std::get_if<CorruptAction>(&timed.action);
    return corrupt != nullptr && corrupt->kind == CorruptKind::kStaleVersion;
  });
}

// Whether a draw has an influence: on the choice of requests, on a latency, or on the entries that
// fail.
bool NeedsDraws(const Rule& rule) {
  return rule.when.probability < 1 || (rule.when.window && rule.when.window->ramp.count() > 0) ||
         std::any_of(rule.actions.begin(), rule.actions.end(), [](const TimedAction& timed) {
           return std::holds_alternative<LatencyAction>(timed.action) ||
                  std::holds_alternative<PartialFailureAction>(timed.action);
         });
}

// `taken`: how often the rule has fired or is about to.
std::optional<std::uint64_t> Remaining(const Limit& limit, std::uint64_t taken) {
  if (!limit.times || limit.per != Per::kScenario) return std::nullopt;
  return *limit.times - std::min(*limit.times, taken);
}

std::uint64_t NumberOf(const traffic::Draw& draw) {
  return static_cast<std::uint64_t>(draw[0] * 0x1p53);
}

}  // namespace

Ticket::Ticket(std::size_t index, const Rule& rule)
    : index_(index), rule_(&rule), left_(rule.actions.size()) {}

Ticket::~Ticket() {
  if (scenario_ && !fired()) scenario_->FinishTicket(*this);
}

void Ticket::Done(const Action& action) {
  if (attempt_ && FailsAttempt(action)) attempt_->Fail();
  if (left_ > 0 && --left_ == 0 && scenario_) scenario_->FinishTicket(*this);
}

RunningScenario::RunningScenario(std::shared_ptr<const Scenario> scenario, WallTime now)
    : scenario_(std::move(scenario)),
      draws_(scenario_->seed),
      began_(now),
      index_(scenario_->rules),
      matchers_(MatchersOf(scenario_->rules)),
      counts_bytes_(std::any_of(scenario_->rules.begin(), scenario_->rules.end(),
                                [](const Rule& rule) { return rule.when.after_bytes > 0; })),
      asks_for_earlier_versions_(
          std::any_of(scenario_->rules.begin(), scenario_->rules.end(), NeedsEarlierVersions)),
      invocations_(std::any_of(scenario_->rules.begin(), scenario_->rules.end(), NeedsInvocations)
                       ? std::make_shared<Invocations>()
                       : nullptr) {
  for (std::size_t i = 0; i < scenario_->rules.size(); ++i) {
    states_.push_back(std::make_unique<State>());
    states_.back()->draws = NeedsDraws(scenario_->rules[i]);
    if (scenario_->rules[i].actions.front().at.stage == Stage::kAccept)
      for_connections_.push_back(i);
  }
}

Result<std::shared_ptr<RunningScenario>> RunningScenario::Start(
    std::shared_ptr<const Scenario> scenario, WallTime now) {
  PENSTOCK_TRY(CheckScenario(*scenario));
  return std::shared_ptr<RunningScenario>(new RunningScenario(std::move(scenario), now));
}

RunningScenario::Shape RunningScenario::ShapeOf(const Scenario& scenario) {
  Shape shape{.rules = scenario.rules.size()};
  for (const Rule& rule : scenario.rules) {
    shape.operations += rule.when.operations.size();
    if (rule.when.operations.empty()) ++shape.rules_of_any_operation;
  }
  return shape;
}

std::uint64_t RunningScenario::MaxMemoryOf(const Shape& shape) {
  constexpr std::uint64_t kBytesPerRule =
      sizeof(Rule) + sizeof(Matcher) + sizeof(State) + kMaxQueueBytes;
  // A list may have grown to twice its size, with strings of up to 47 bytes.
  constexpr std::uint64_t kBytesPerName = 2 * sizeof(std::string) + 48;
  return shape.rules * kBytesPerRule + shape.operations * kBytesPerName +
         RuleIndex::MaxMemoryOf(shape.operations, shape.rules_of_any_operation);
}

std::chrono::nanoseconds RunningScenario::AgeAt(WallTime now) const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now - began_);
}

std::vector<std::unique_ptr<Ticket>> RunningScenario::Meet(LazyRequestProperties& properties,
                                                           const Clock& clock) {
  const std::uint64_t before = requests_.fetch_add(1, std::memory_order_relaxed);
  const s3::Exchange& exchange = properties.exchange();
  std::vector<std::unique_ptr<Ticket>> met;
  std::optional<Evaluation> evaluation;
  index_.ForEach({.operation = exchange.operation,
                  .bucket = exchange.target.bucket.value,
                  .key = traffic::KeyAsked(exchange),
                  .headers = HeaderNameSet::Of(exchange.request)},
                 [&](std::size_t place) {
                   if (!evaluation)
                     evaluation.emplace(Evaluation{.properties = properties.get(),
                                                   .age = AgeAt(clock.Now()),
                                                   .requests_before = before});
                   return ApplyRule(place, *evaluation, met);
                 });
  return met;
}

std::vector<std::unique_ptr<Ticket>> RunningScenario::OnConnection(
    const RequestProperties& properties, WallTime now) {
  Evaluation evaluation{.properties = properties,
                        .age = AgeAt(now),
                        .requests_before = requests_.load(std::memory_order_relaxed)};
  std::vector<std::unique_ptr<Ticket>> met;
  for (const std::size_t place : for_connections_) {
    if (!ApplyRule(place, evaluation, met)) break;
  }
  return met;
}

bool RunningScenario::ApplyRule(std::size_t place, Evaluation& evaluation,
                                std::vector<std::unique_ptr<Ticket>>& met) {
  const Rule& rule = scenario_->rules[place];
  if (!matchers_[place].Matches(evaluation.properties)) return true;
  if (invocations_ && !evaluation.attempt)
    evaluation.attempt = Invocations::Begin(invocations_, evaluation.properties);
  std::unique_ptr<Ticket> ticket = TryRule(place, evaluation);
  if (!ticket) return true;
  met.push_back(std::move(ticket));
  return !rule.final;
}

std::string RunningScenario::GroupOf(Per per, const Evaluation& evaluation) const {
  const RequestProperties& properties = evaluation.properties;
  switch (per) {
    case Per::kScenario: return {};
    case Per::kInvocation:
      return evaluation.attempt ? evaluation.attempt->invocation() : std::string();
    case Per::kClient: return ClientOf(properties);
    case Per::kKey: return std::string(properties.bucket) + '/' + std::string(properties.key);
    case Per::kConnection: return std::to_string(properties.exchange->connection.id);
  }
  return {};
}

std::unique_ptr<Ticket> RunningScenario::TryRule(std::size_t index, const Evaluation& evaluation) {
  const Rule& rule = scenario_->rules[index];
  const RequestProperties& properties = evaluation.properties;
  State& state = *states_[index];
  std::unique_ptr<Ticket> ticket(new Ticket(index, rule));
  ticket->group_ = GroupOf(rule.limit.per, evaluation);
  ticket->request_id_ = properties.exchange->request_id;
  // Draw for every matching request, so that the state of this rule does not change the draws of
  // other requests.
  if (state.draws) {
    const std::string identity = rule.id + '\0' + traffic::RequestIdentity(*properties.exchange);
    ticket->draw_ = draws_.Of(identity, state.arrivals.Next(NumberOf(draws_.Of(identity, 0))));
  }
  const bool met = ticket->draw_[0] < Chance(rule.when, evaluation.age) && IsDue(rule, evaluation);
  {
    const MutexLock lock(state.mutex);
    ticket->ordinal_ = ++state.matched;
    const bool is_nth = !rule.when.nth || rule.when.nth->Has(state.matched);
    const bool taken = met && is_nth && Take(rule, state, *ticket);
    if (rule.limit.budget) {
      state.recent.push_back(taken);
      if (state.recent.size() >= rule.limit.budget->of) state.recent.pop_front();
    }
    if (!taken) return nullptr;
    ticket->turn_ = state.chosen++;
  }
  ticket->attempt_ = evaluation.attempt;
  ticket->scenario_ = shared_from_this();
  return ticket;
}

bool RunningScenario::IsDue(const Rule& rule, const Evaluation& evaluation) const {
  const Condition& when = rule.when;
  if (rule.limit.time_to_live && evaluation.age >= *rule.limit.time_to_live) return false;
  if (evaluation.requests_before < when.after_requests ||
      bytes_.load(std::memory_order_relaxed) < when.after_bytes)
    return false;
  if (when.window && (evaluation.age < when.window->from || evaluation.age >= when.window->to))
    return false;
  return !when.unless_failed || evaluation.attempt->failures() < *when.unless_failed;
}

double RunningScenario::Chance(const Condition& when, std::chrono::nanoseconds age) const {
  if (!when.window || when.window->ramp.count() <= 0 ||
      age >= when.window->from + when.window->ramp)
    return when.probability;
  // Also covers a clock that was set back so far that the difference would overflow.
  if (age <= when.window->from) return 0;
  const double share = static_cast<double>((age - when.window->from).count()) /
                       static_cast<double>(when.window->ramp.count());
  return when.probability * share;
}

// Counts the request against the rule's limits. Returns false if a limit is reached.
bool RunningScenario::Take(const Rule& rule, State& state, const Ticket& ticket) {
  if (rule.limit.budget) {
    const auto met =
        static_cast<std::uint32_t>(std::count(state.recent.begin(), state.recent.end(), true));
    if (met >= rule.limit.budget->most) return false;
  }
  if (rule.limit.times) {
    if (state.taken.Taken(ticket.group_) >= *rule.limit.times) return false;
    state.taken.Take(ticket.group_);
  }
  ++state.under_way;
  return true;
}

// Removes a request that did not fire from the budget's window.
void RunningScenario::ReturnToBudget(State& state, const Ticket& ticket) {
  const std::uint64_t since = state.matched - ticket.ordinal_;
  if (since < state.recent.size())
    state.recent[state.recent.size() - 1 - static_cast<std::size_t>(since)] = false;
}

void RunningScenario::FinishTicket(const Ticket& ticket) {
  State& state = *states_[ticket.index_];
  const Rule& rule = ticket.rule();
  {
    const MutexLock lock(state.mutex);
    --state.under_way;
    if (rule.limit.times) state.taken.Finish(ticket.group_, ticket.fired());
    if (ticket.fired()) {
      ++state.fired;
      state.request_ids.push_back(ticket.request_id_);
      if (state.request_ids.size() > kMaxRequestIds) state.request_ids.pop_front();
    } else if (rule.limit.budget) {
      ReturnToBudget(state, ticket);
    }
  }
}

bool RunningScenario::IsComplete(const Rule& rule, const State& state) const {
  if (!rule.must_fire) return true;
  const bool counted = rule.limit.times && rule.limit.per == Per::kScenario;
  return state.fired >= (counted ? *rule.limit.times : 1);
}

ScenarioAccount RunningScenario::Account() const {
  ScenarioAccount account{.name = scenario_->name,
                          .seed = scenario_->seed,
                          .requests = requests_.load(std::memory_order_relaxed),
                          .complete = true,
                          .document = scenario_->document};
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Rule& rule = scenario_->rules[i];
    const State& state = *states_[i];
    const MutexLock lock(state.mutex);
    account.rules.push_back({.id = rule.id,
                             .matched = state.matched,
                             .fired = state.fired,
                             .under_way = state.under_way,
                             .complete = IsComplete(rule, state),
                             .remaining = Remaining(rule.limit, state.fired + state.under_way),
                             .request_ids = {state.request_ids.begin(), state.request_ids.end()}});
    account.fired += state.fired;
    account.complete = account.complete && account.rules.back().complete;
  }
  return account;
}

namespace {

// Whether the condition has only fields that are known without a request.
bool HasOnlyConnectionConditions(const Condition& when) {
  return when.operations.empty() && !when.bucket && !when.directory_bucket && !when.key &&
         !when.version && !when.partition && !when.part && !when.range && !when.size &&
         when.headers.empty() && when.query.empty() && !when.access_key && !when.session &&
         !when.user_agent && !when.rank && !when.attempt && !when.connection_reused &&
         !when.connection_requests;
}

// Describes invalid stages of the rule's actions. Empty: none.
std::string StageProblem(const Rule& rule) {
  const auto at_accept =
      std::count_if(rule.actions.begin(), rule.actions.end(),
                    [](const TimedAction& timed) { return timed.at.stage == Stage::kAccept; });
  if (at_accept == 0) return {};
  if (static_cast<std::size_t>(at_accept) != rule.actions.size())
    return "actions at accept apply to a connection: put them in a separate rule";
  if (HasOnlyConnectionConditions(rule.when)) return {};
  return "no request is known at accept: `when` may only have client.address, connection.id, nth, "
         "after, window and probability";
}

}  // namespace

bool IsTerminal(const TimedAction& timed) {
  return std::holds_alternative<ErrorAction>(timed.action) ||
         std::holds_alternative<LateErrorAction>(timed.action) ||
         std::holds_alternative<DropAction>(timed.action) ||
         std::holds_alternative<TruncateAction>(timed.action) ||
         std::holds_alternative<RedirectAction>(timed.action) ||
         std::holds_alternative<CredentialsAction>(timed.action) ||
         std::holds_alternative<TlsAbortAction>(timed.action);
}

Result<void> CheckScenario(const Scenario& scenario) {
  constexpr std::uint32_t kLongestBudget = 1'024;
  const auto wrong = [](const Rule& rule, std::string problem) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "rule '" + rule.id + "': " + std::move(problem));
  };
  std::set<std::string_view> ids;
  for (const Rule& rule : scenario.rules) {
    if (rule.id.empty()) return Error::Make(ErrorKind::kInvalidArgument, "a rule has no id");
    if (!ids.insert(rule.id).second) return wrong(rule, "duplicate id; give each rule a unique id");
    if (rule.actions.empty()) return wrong(rule, "has no action; add at least one");
    if (std::string problem = StageProblem(rule); !problem.empty())
      return wrong(rule, std::move(problem));
    if (std::string problem = ConflictingActions(rule); !problem.empty())
      return wrong(rule, std::move(problem));
    if (std::string problem = ActionWithoutOperation(rule); !problem.empty())
      return wrong(rule, std::move(problem));
    if (!(rule.when.probability >= 0 && rule.when.probability <= 1))
      return wrong(rule, "the probability must be from 0 to 1");
    if (rule.when.probability == 0 && rule.must_fire)
      return wrong(rule, "must fire, but its probability is 0; raise it, or remove must_fire");
    if (rule.limit.budget &&
        (rule.limit.budget->of < 1 || rule.limit.budget->of > kLongestBudget)) {
      return wrong(rule, "budget.of must be from 1 to 1024 requests, not " +
                             std::to_string(rule.limit.budget->of));
    }
    if (rule.limit.times && *rule.limit.times == 0)
      return wrong(rule, "times is 0; remove the rule instead");
    if (rule.limit.time_to_live && rule.limit.time_to_live->count() == 0)
      return wrong(rule, "ttl_s is 0; remove the rule instead");
  }
  return Ok();
}

namespace {

// Lists the incomplete rules of one account, without replaced ones. Empty: none.
std::string DescribeIncompleteRules(const ScenarioAccount& account) {
  std::string missing;
  for (const RuleAccount& rule : account.rules) {
    if (rule.complete) continue;
    missing += missing.empty() ? "" : "; ";
    missing += "'" + rule.id + "' fired for " + std::to_string(rule.fired) + " of the " +
               std::to_string(rule.matched) + " requests that matched";
    if (rule.under_way > 0) missing += ", " + std::to_string(rule.under_way) + " under way";
  }
  if (missing.empty()) return {};
  return "(seed " + std::to_string(account.seed) + ", " + std::to_string(account.requests) +
         " requests seen): " + missing;
}

}  // namespace

Result<void> CheckAccount(const ScenarioAccount& account) {
  std::string problems;
  const auto add = [&problems](std::string_view what, const std::string& missing) {
    if (missing.empty()) return;
    problems += problems.empty() ? "" : "\n";
    problems += std::string(what) + ' ' + missing;
  };
  for (const ScenarioAccount& replaced : account.replaced) {
    add("faults that were planned had not happened when their scenario was replaced or cleared",
        DescribeIncompleteRules(replaced));
  }
  add("faults that were planned did not happen", DescribeIncompleteRules(account));
  if (problems.empty()) return Ok();
  return Error::Make(ErrorKind::kPreconditionFailed, std::move(problems));
}

}  // namespace penstock::emulator::faults
