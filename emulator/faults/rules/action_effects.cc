#include "emulator/faults/rules/action_effects.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "emulator/s3/core/operation_traits.h"

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

namespace {

// Whether `operation` can meet `action`, for actions that change what an operation does.
bool CanMeet(const Action& action, const std::string& operation) {
  if (IsOneOf<PartialFailureAction>(action)) return operation == "DeleteObjects";
  const s3::OperationTraits* const traits = s3::FindTraits(operation);
  // Operations without traits are those on buckets: most write.
  if (IsOneOf<DuplicateAction>(action))
    return traits == nullptr || traits->access == s3::Access::kWrite;
  if (IsOneOf<CommitPartialAction>(action)) return traits != nullptr && traits->stores_body;
  if (IsOneOf<DelayVisibilityAction>(action))
    return operation == "DeleteObject" || (traits != nullptr && traits->overwrites);
  return true;
}

}  // namespace

std::string ActionWithoutOperation(const Rule& rule) {
  const std::vector<std::string>& operations = rule.when.operations;
  if (operations.empty()) return {};
  for (const TimedAction& timed : rule.actions) {
    const auto meets = [&](const std::string& operation) {
      return CanMeet(timed.action, operation);
    };
    if (std::any_of(operations.begin(), operations.end(), meets)) continue;
    return "its action '" + std::string(timed.name) + "' never happens to " + operations.front() +
           (operations.size() > 1 ? " or its other operations" : "") +
           ", so the rule would never fire; docs/reference/faults.md lists its operations";
  }
  return {};
}

namespace {

bool IsRetried(const ErrorAction& error) {
  constexpr int kRequestTimeout = 408;
  constexpr int kTooManyRequests = 429;
  constexpr int kMinServerError = 500;
  constexpr std::array<std::string_view, 7> kCodes{"ConditionalRequestConflict",
                                                   "ExpiredToken",
                                                   "OperationAborted",
                                                   "RequestTimeTooSkewed",
                                                   "RequestTimeout",
                                                   "SlowDown",
                                                   "Throttling"};
  return error.status >= kMinServerError || error.status == kRequestTimeout ||
         error.status == kTooManyRequests ||
         std::find(kCodes.begin(), kCodes.end(), error.code) != kCodes.end();
}

}  // namespace

bool FailsAttempt(const Action& action) {
  if (const auto* error = std::get_if<ErrorAction>(&action)) return IsRetried(*error);
  if (const auto* corrupt = std::get_if<CorruptAction>(&action)) return !corrupt->fix_checksum;
  if (const auto* expect = std::get_if<ContinueAction>(&action))
    return expect->kind == ContinueAction::Kind::kRefuse;
  return std::holds_alternative<LateErrorAction>(action) ||
         std::holds_alternative<DropAction>(action) ||
         std::holds_alternative<TruncateAction>(action) ||
         std::holds_alternative<RedirectAction>(action) ||
         std::holds_alternative<CredentialsAction>(action);
}

bool FailsEntry(const PartialFailureAction& failure, const EntryFacts& entry,
                const traffic::Draw& draw) {
  if (failure.most && entry.failed_before >= *failure.most) return false;
  if (failure.entries && !failure.entries->Has(entry.place + 1)) return false;
  const auto matches = [&](const Pattern& pattern) { return pattern.Matches(entry.key); };
  if (!failure.keys.empty() && std::none_of(failure.keys.begin(), failure.keys.end(), matches))
    return false;
  if (failure.probability >= 1) return true;
  // The first number of the draw decided whether the rule applies. The second is unused.
  const traffic::Draws draws(static_cast<std::uint64_t>(draw[1] * 0x1p53));
  return draws.Of(entry.key, 0)[0] < failure.probability;
}

}  // namespace penstock::emulator::faults
