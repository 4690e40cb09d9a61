// Checks the rules of a lifecycle configuration.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/dates.h"
#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxRules = 1000;
constexpr std::size_t kMaxIdCharacters = 255;
constexpr std::int64_t kInfrequentAccessDays = 30;
constexpr std::int64_t kMaxDays = INT32_MAX;  // AWS's service model: an integer of 32 bits
constexpr std::int64_t kMaxNewerVersions = 100;
constexpr std::int64_t kMaxObjectSize = 1'099'511'627'776'000;

std::int64_t Number(const Element& element) { return std::stoll(element.text); }

Error WrongDays(std::string message, const Element& days) {
  return InvalidArgument(std::move(message), days.name, days.text);
}

Result<void> CheckMidnight(const Element& action) {
  const Element* date = action.Find("Date");
  if (date == nullptr) return Ok();
  const CalendarTime time = *ParseCalendarTime(date->text);
  if (time == std::chrono::floor<std::chrono::days>(time)) return Ok();
  return InvalidArgument("'Date' must be at midnight GMT", "Date", date->text);
}

// Returns S3's error if the number `name` in `action` is not positive.
Result<void> CheckPositive(const Element& action, std::string_view name) {
  const Element* days = action.Find(name);
  if (days == nullptr || Number(*days) > 0) return Ok();
  return WrongDays(
      "'" + std::string(name) + "' for " + action.name + " action must be a positive integer",
      *days);
}

// API_NoncurrentVersionExpiration, API_NoncurrentVersionTransition: "up to 100 noncurrent
// versions". Amazon S3 User Guide, "Expiring objects": they need a filter.
Result<void> CheckNewerVersions(const Element& action, const Element* filter) {
  const Element* versions = action.Find("NewerNoncurrentVersions");
  if (versions == nullptr) return Ok();
  PENSTOCK_TRY(CheckPositive(action, versions->name));
  if (filter == nullptr)
    return InvalidRequest("NewerNoncurrentVersions cannot be specified without a Filter.");
  if (Number(*versions) <= kMaxNewerVersions) return Ok();
  return WrongDays("'NewerNoncurrentVersions' for " + action.name + " action must be at most 100",
                   *versions);
}

bool HasTags(const Element& filter) {
  const Element* conjunction = filter.Find("And");
  return filter.Has("Tag") || (conjunction != nullptr && conjunction->Has("Tag"));
}

bool HasSizes(const Element& filter) {
  const Element* conjunction = filter.Find("And");
  const auto sized = [](const Element& group) {
    return group.Has("ObjectSizeGreaterThan") || group.Has("ObjectSizeLessThan");
  };
  return sized(filter) || (conjunction != nullptr && sized(*conjunction));
}

Result<void> CheckSizes(const Element& group) {
  const Element* least = group.Find("ObjectSizeGreaterThan");
  const Element* most = group.Find("ObjectSizeLessThan");
  if (least != nullptr && (Number(*least) < 0 || Number(*least) > kMaxObjectSize))
    return InvalidRequest("'ObjectSizeGreaterThan' should be between 0 and 1099511627776000.");
  if (most != nullptr && (Number(*most) < 1 || Number(*most) > kMaxObjectSize))
    return InvalidRequest("'ObjectSizeLessThan' should be between 1 and 1099511627776000.");
  if (least == nullptr || most == nullptr || Number(*most) > Number(*least)) return Ok();
  return InvalidRequest(
      "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.");
}

// A filter has at most one of Prefix, Tag, a size and `And`. `And` has at least two conditions.
Result<void> CheckFilter(const Element& filter) {
  if (filter.children.size() > 1) return MalformedXml();
  PENSTOCK_TRY(CheckSizes(filter));
  PENSTOCK_TRY(CheckCriteria(filter));
  const Element* conjunction = filter.Find("And");
  if (conjunction == nullptr) return Ok();
  if (conjunction->children.size() < 2) return MalformedXml();
  PENSTOCK_TRY(CheckCriteria(*conjunction));
  return CheckSizes(*conjunction);
}

Result<void> CheckExpiration(const Element& expiration, const Element* filter) {
  if (expiration.children.size() != 1) return MalformedXml();
  PENSTOCK_TRY(CheckMidnight(expiration));
  PENSTOCK_TRY(CheckPositive(expiration, "Days"));
  if (!expiration.Has("ExpiredObjectDeleteMarker") || filter == nullptr) return Ok();
  if (HasTags(*filter))
    return InvalidRequest("ExpiredObjectDeleteMarker cannot be specified with Tags.");
  if (HasSizes(*filter))
    return InvalidRequest("ExpiredObjectDeleteMarker cannot be specified with Object Size.");
  return Ok();
}

Result<void> CheckTransition(const Element& transition) {
  const Element* days = transition.Find("Days");
  if ((days != nullptr) == transition.Has("Date")) return MalformedXml();
  PENSTOCK_TRY(CheckMidnight(transition));
  if (days == nullptr) return Ok();
  if (Number(*days) < 0)
    return WrongDays("'Days' for Transition action must be nonnegative", *days);
  const std::string_view storage_class = transition.TextOf("StorageClass");
  if (storage_class.ends_with("_IA") && Number(*days) < kInfrequentAccessDays) {
    return WrongDays(
        "'Days' in Transition action must be greater than or equal to 30 for storageClass '" +
            std::string(storage_class) + "'",
        *days);
  }
  return Ok();
}

Result<void> CheckAbort(const Element& abort, const Element* filter) {
  PENSTOCK_TRY(CheckPositive(abort, "DaysAfterInitiation"));
  if (filter == nullptr) return Ok();
  if (HasTags(*filter))
    return InvalidRequest("AbortIncompleteMultipartUpload cannot be specified with Tags.");
  if (HasSizes(*filter))
    return InvalidRequest("AbortIncompleteMultipartUpload cannot be specified with Object Size.");
  return Ok();
}

Result<void> CheckAction(const Element& action, const Element* filter) {
  if (action.name == "Expiration") return CheckExpiration(action, filter);
  if (action.name == "Transition") return CheckTransition(action);
  if (action.name == "AbortIncompleteMultipartUpload") return CheckAbort(action, filter);
  if (action.name == "NoncurrentVersionExpiration")
    PENSTOCK_TRY(CheckPositive(action, "NoncurrentDays"));
  return CheckNewerVersions(action, filter);
}

Result<void> CheckDayRange(const Element& action) {
  for (const Element& member : action.children) {
    const bool days = member.name == "Days" || member.name == "NoncurrentDays" ||
                      member.name == "DaysAfterInitiation";
    if (days && Number(member) > kMaxDays) return MalformedXml();
  }
  return Ok();
}

// The rule's filter as S3's messages contain it; only its prefix.
std::string FilterText(const Element& rule) {
  const Element* filter = rule.Find("Filter");
  if (filter == nullptr) return "prefix '" + std::string(rule.TextOf("Prefix")) + "'";
  const Element* conjunction = filter->Find("And");
  const Element& group = conjunction == nullptr ? *filter : *conjunction;
  return "filter '(prefix=" + std::string(group.TextOf("Prefix")) + ")'";
}

// The member that determines when an action happens; null: a delete marker's expiration.
const Element* TimeOf(const Element& action) {
  for (const std::string_view name : {"Days", "NoncurrentDays", "Date"}) {
    if (const Element* found = action.Find(name); found != nullptr) return found;
  }
  return nullptr;
}

std::int64_t DaysOf(const Element& time) {
  if (time.name != "Date") return Number(time);
  return std::chrono::floor<std::chrono::days>(*ParseCalendarTime(time.text))
      .time_since_epoch()
      .count();
}

struct NamedAction {
  const Element& action;
  std::string text;  // in S3's messages
};

// `actions`: the kinds of both, in S3's message about their times.
Result<void> CheckFollows(const Element& rule, const NamedAction& later, const NamedAction& earlier,
                          const std::string& actions) {
  const Element* const end = TimeOf(later.action);
  const Element* const begin = TimeOf(earlier.action);
  if (end == nullptr || begin == nullptr) return Ok();
  if (end->name != begin->name) {
    return InvalidRequest("Found mixed 'Date' and 'Days' based " + actions +
                          " actions in lifecycle rule for " + FilterText(rule));
  }
  if (DaysOf(*end) > DaysOf(*begin)) return Ok();
  const std::string unit = "'" + end->name + "' in the ";
  return WrongDays(unit + later.text + " must be greater than " + unit + earlier.text, *end);
}

// Objects move only to later classes of this list (Amazon S3 User Guide, "Transitioning objects
// using Amazon S3 Lifecycle").
int RankOf(const Element& transition) {
  static constexpr std::array<std::string_view, 6> kClasses = {
      "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"};
  const auto found = std::find(kClasses.begin(), kClasses.end(), transition.TextOf("StorageClass"));
  return static_cast<int>(found - kClasses.begin());
}

Result<void> CheckOrderOfTransitions(const Element& rule, const std::string& name,
                                     const std::vector<const Element*>& transitions) {
  const auto named = [&](const Element& transition) {
    return NamedAction{transition, name + " action for StorageClass '" +
                                       std::string(transition.TextOf("StorageClass")) + "' for " +
                                       FilterText(rule)};
  };
  for (const Element* later : transitions) {
    for (const Element* earlier : transitions) {
      if (RankOf(*earlier) >= RankOf(*later)) continue;
      PENSTOCK_TRY(CheckFollows(rule, named(*later), named(*earlier), name));
    }
  }
  return Ok();
}

// `kind`: empty, or "NoncurrentVersion" for the actions on noncurrent versions.
Result<void> CheckOrder(const Element& rule, const std::string& kind) {
  const std::string transition = kind + "Transition";
  const std::vector<const Element*> transitions = rule.All(transition);
  std::set<std::string_view> classes;
  for (const Element* each : transitions) {
    if (!classes.insert(each->TextOf("StorageClass")).second) {
      return InvalidRequest("'StorageClass' must be different for '" + transition +
                            "' actions in same 'Rule' with " + FilterText(rule));
    }
  }
  PENSTOCK_TRY(CheckOrderOfTransitions(rule, transition, transitions));
  const Element* const expiration = rule.Find(kind + "Expiration");
  if (expiration == nullptr) return Ok();
  const NamedAction end{*expiration, expiration->name + " action for " + FilterText(rule)};
  for (const Element* each : transitions) {
    PENSTOCK_TRY(CheckFollows(rule, end, {*each, transition + " action"},
                              expiration->name + " and " + transition));
  }
  return Ok();
}

bool IsAction(const Element& element) {
  return element.name != "ID" && element.name != "Prefix" && element.name != "Filter" &&
         element.name != "Status";
}

Result<void> CheckRule(const Element& rule) {
  if (rule.TextOf("ID").size() > kMaxIdCharacters) {
    return InvalidArgument("ID length should not exceed allowed limit of 255", "ID",
                           rule.TextOf("ID"));
  }
  const Element* filter = rule.Find("Filter");
  if ((filter != nullptr) == rule.Has("Prefix")) return MalformedXml();
  PENSTOCK_TRY(filter != nullptr ? CheckFilter(*filter) : CheckCriteria(rule));
  if (std::none_of(rule.children.begin(), rule.children.end(), IsAction)) {
    return InvalidRequest("At least one action needs to be specified in a rule");
  }
  for (const Element& action : rule.children) {
    if (!IsAction(action)) continue;
    PENSTOCK_TRY(CheckDayRange(action));
    PENSTOCK_TRY(CheckAction(action, filter));
  }
  PENSTOCK_TRY(CheckOrder(rule, ""));
  return CheckOrder(rule, "NoncurrentVersion");
}

// Rules with a top-level prefix and rules with a filter must not be mixed.
Result<void> CheckOneRuleVersion(const Element& document) {
  const bool filters = document.children.front().Has("Filter");
  for (const Element& rule : document.children) {
    if (rule.Has("Filter") == filters) continue;
    return InvalidRequest(filters ? "Base level prefix cannot be used in Lifecycle V2, prefixes "
                                    "are only supported in the Filter."
                                  : "Filter element can only be used in Lifecycle V2.");
  }
  return Ok();
}

}  // namespace

Result<void> CheckLifecycle(const CheckContext& context, Element& document) {
  if (document.children.size() > kMaxRules) return MalformedXml();
  for (auto rule = document.children.begin(); rule != document.children.end(); ++rule) {
    PENSTOCK_TRY(CheckRule(*rule));
    const std::string_view id = rule->TextOf("ID");
    const auto same = [&](const Element& earlier) {
      return !id.empty() && earlier.TextOf("ID") == id;
    };
    if (std::any_of(document.children.begin(), rule, same)) {
      return InvalidArgument("Rule ID must be unique. Found same ID for more than one rule", "ID",
                             id);
    }
  }
  PENSTOCK_TRY(CheckOneRuleVersion(document));
  FillRuleIds(context.call, document, "Rule", "ID");
  return Ok();
}

}  // namespace penstock::emulator::s3
