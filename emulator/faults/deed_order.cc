#include "emulator/faults/deed_order.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <variant>
#include <vector>

namespace penstock::emulator::faults {
namespace {

template <class... Kinds>
bool IsOneOf(const Deed& deed) {
  return (... || std::holds_alternative<Kinds>(deed));
}

// It answers in the operation's place, or leaves the request without an answer: one deed alone can.
bool TakesPlace(const Action& action) {
  if (IsOneOf<DropAction>(action.deed)) return action.at.stage <= Stage::kAfterCommit;
  const auto* const expect = std::get_if<ContinueAction>(&action.deed);
  if (expect != nullptr) return expect->kind == ContinueAction::Kind::kRefuse;
  return IsOneOf<ErrorAction, LateErrorAction, RedirectAction, CredentialsAction>(action.deed);
}

// It is about what the operation does.
bool IsOfTheCommit(const Action& action) {
  return IsOneOf<PartialFailureAction, DuplicateAction, CommitPartialAction, DelayVisibilityAction>(action.deed);
}

// Wrong bytes are wrong once the first of them has left; before a cut that comes right behind it.
std::tuple<Stage, std::uint64_t, bool> MomentOf(const Action& action) {
  const bool wrong_bytes = IsOneOf<CorruptAction>(action.deed);
  return {action.at.stage, action.at.offset + (wrong_bytes ? 1 : 0), !wrong_bytes};
}

// `later` comes behind `earlier`, or stands behind it in the rule.
bool Forestalls(const Action& earlier, const Action& later) {
  if (IsOneOf<DropAction, TlsAbortAction>(earlier.deed)) return true;
  if (TakesPlace(earlier)) return TakesPlace(later) || (earlier.at.stage < Stage::kAfterCommit && later.at.stage < Stage::kAfterCommit);
  if (IsOfTheCommit(earlier)) return TakesPlace(later) && later.at.stage < Stage::kAfterCommit;
  const auto* const cut = std::get_if<TruncateAction>(&earlier.deed);
  if (cut == nullptr) return false;
  switch (cut->kind) {
    case TruncateAction::Kind::kFin:
    case TruncateAction::Kind::kReset: return true;
    case TruncateAction::Kind::kNoTerminator:
      if (later.at.stage > Stage::kBodyOut) return true;
      [[fallthrough]];
    case TruncateAction::Kind::kLengthLie:
      return later.at.stage == Stage::kBodyOut && (std::get<1>(MomentOf(later)) > earlier.at.offset || IsOneOf<TruncateAction>(later.deed));
  }
  return false;
}

}  // namespace

std::string ImpossibleDeeds(const Rule& rule) {
  std::vector<Action> deeds = rule.deeds;
  std::stable_sort(deeds.begin(), deeds.end(), [](const Action& a, const Action& b) { return MomentOf(a) < MomentOf(b); });
  for (auto earlier = deeds.begin(); earlier != deeds.end(); ++earlier) {
    const auto later = std::find_if(earlier + 1, deeds.end(), [&](const Action& deed) { return Forestalls(*earlier, deed); });
    if (later == deeds.end()) continue;
    return "its '" + std::string(later->name) + "' can never happen where its '" + std::string(earlier->name) +
           "' does, so that the rule would never fire; give each a rule of its own";
  }
  return {};
}

}  // namespace penstock::emulator::faults
