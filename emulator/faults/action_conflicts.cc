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

// It answers in the operation's place, or leaves the request without an answer: one action alone
// can.
bool TakesPlace(const TimedAction& timed) {
  if (IsOneOf<DropAction>(timed.action)) return timed.at.stage <= Stage::kAfterCommit;
  const auto* const expect = std::get_if<ContinueAction>(&timed.action);
  if (expect != nullptr) return expect->kind == ContinueAction::Kind::kRefuse;
  return IsOneOf<ErrorAction, LateErrorAction, RedirectAction, CredentialsAction>(timed.action);
}

// It is about what the operation does.
bool IsOfTheCommit(const TimedAction& timed) {
  return IsOneOf<PartialFailureAction, DuplicateAction, CommitPartialAction, DelayVisibilityAction>(
      timed.action);
}

// Wrong bytes are wrong once the first of them has left; before a cut that comes right behind it.
std::tuple<Stage, std::uint64_t, bool> MomentOf(const TimedAction& timed) {
  const bool wrong_bytes = IsOneOf<CorruptAction>(timed.action);
  return {timed.at.stage, timed.at.offset + (wrong_bytes ? 1 : 0), !wrong_bytes};
}

// `later` comes behind `earlier`, or stands behind it in the rule.
bool Preempts(const TimedAction& earlier, const TimedAction& later) {
  if (IsOneOf<DropAction, TlsAbortAction>(earlier.action)) return true;
  if (TakesPlace(earlier))
    return TakesPlace(later) ||
           (earlier.at.stage < Stage::kAfterCommit && later.at.stage < Stage::kAfterCommit);
  if (IsOfTheCommit(earlier)) return TakesPlace(later) && later.at.stage < Stage::kAfterCommit;
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
             (std::get<1>(MomentOf(later)) > earlier.at.offset ||
              IsOneOf<TruncateAction>(later.action));
  }
  return false;
}

}  // namespace

std::string ConflictingActions(const Rule& rule) {
  std::vector<TimedAction> actions = rule.actions;
  std::stable_sort(actions.begin(), actions.end(), [](const TimedAction& a, const TimedAction& b) {
    return MomentOf(a) < MomentOf(b);
  });
  for (auto earlier = actions.begin(); earlier != actions.end(); ++earlier) {
    const auto later = std::find_if(earlier + 1, actions.end(), [&](const TimedAction& action) {
      return Preempts(*earlier, action);
    });
    if (later == actions.end()) continue;
    return "its '" + std::string(later->name) + "' can never happen where its '" +
           std::string(earlier->name) +
           "' does, so that the rule would never fire; give each a rule of its own";
  }
  return {};
}

}  // namespace penstock::emulator::faults
