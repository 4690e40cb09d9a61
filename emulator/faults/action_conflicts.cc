#include "emulator/faults/action_conflicts.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <variant>
#include <vector>

namespace penstock::emulator::faults {
namespace {

template <class... Kinds>
bool IsOneOf(const Action& action) {
  return (... || std::holds_alternative<Kinds>(action));
}

// Whether the action replaces the operation's response or leaves the request without a response.
// Only one action of a rule can do this.
bool ReplacesResponse(const TimedAction& timed) {
  if (IsOneOf<DropAction>(timed.action)) return timed.at.stage <= Stage::kAfterCommit;
  const auto* const expect = std::get_if<ContinueAction>(&timed.action);
  if (expect != nullptr) return expect->kind == ContinueAction::Kind::kRefuse;
  return IsOneOf<ErrorAction, LateErrorAction, RedirectAction, CredentialsAction>(timed.action);
}

// Whether the action changes what the operation does.
bool AffectsCommit(const TimedAction& timed) {
  return IsOneOf<PartialFailureAction, DuplicateAction, CommitPartialAction, DelayVisibilityAction>(
      timed.action);
}

// Sort key of an action. A CorruptAction happens once its first wrong byte is sent, so it sorts one
// byte later, and before a truncation at that offset.
std::tuple<Stage, std::uint64_t, bool> SortKey(const TimedAction& timed) {
  const bool wrong_bytes = IsOneOf<CorruptAction>(timed.action);
  return {timed.at.stage, timed.at.offset + (wrong_bytes ? 1 : 0), !wrong_bytes};
}

// Whether `earlier` prevents `later` from happening. `later` follows `earlier` in time, or in the
// rule if both happen at the same point.
bool Preempts(const TimedAction& earlier, const TimedAction& later) {
  if (IsOneOf<DropAction, TlsAbortAction>(earlier.action)) return true;
  if (ReplacesResponse(earlier))
    return ReplacesResponse(later) ||
           (earlier.at.stage < Stage::kAfterCommit && later.at.stage < Stage::kAfterCommit);
  if (AffectsCommit(earlier))
    return ReplacesResponse(later) && later.at.stage < Stage::kAfterCommit;
  const auto* const cut = std::get_if<TruncateAction>(&earlier.action);
  if (cut == nullptr) return false;
  switch (cut->kind) {
    case TruncateAction::Kind::kFin:
    case TruncateAction::Kind::kReset: return true;
    case TruncateAction::Kind::kNoTerminator:
      if (later.at.stage > Stage::kBodyOut) return true;
      [[fallthrough]];
    case TruncateAction::Kind::kLengthLie:
      return later.at.stage == Stage::kBodyOut &&
             (std::get<1>(SortKey(later)) > earlier.at.offset ||
              IsOneOf<TruncateAction>(later.action));
  }
  return false;
}

}  // namespace

std::string ConflictingActions(const Rule& rule) {
  std::vector<TimedAction> actions = rule.actions;
  std::stable_sort(actions.begin(), actions.end(), [](const TimedAction& a, const TimedAction& b) {
    return SortKey(a) < SortKey(b);
  });
  for (auto earlier = actions.begin(); earlier != actions.end(); ++earlier) {
    const auto later = std::find_if(earlier + 1, actions.end(), [&](const TimedAction& action) {
      return Preempts(*earlier, action);
    });
    if (later == actions.end()) continue;
    return "its action '" + std::string(later->name) + "' cannot happen after its action '" +
           std::string(earlier->name) +
           "', so the rule would never fire; put each action in its own rule";
  }
  return {};
}

}  // namespace penstock::emulator::faults
