#include "emulator/s3/config/lifecycle_rules.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "base/dates.h"
#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

using std::chrono::days;

constexpr std::uint64_t kMinimumTransitionBytes = 128 << 10;

std::optional<std::int64_t> Number(const Element& group, std::string_view name) {
  const Element* element = group.Find(name);
  return element == nullptr ? std::nullopt : std::optional<std::int64_t>(std::stoll(element->text));
}

std::chrono::sys_days LastDay() { return std::chrono::floor<days>(WallTime::max()); }

std::optional<WallTime> DateOf(const Element& group) {
  const Element* date = group.Find("Date");
  const auto time = date == nullptr ? std::nullopt : ParseCalendarTime(date->text);
  if (!time) return std::nullopt;
  return std::min(std::chrono::floor<days>(*time), LastDay());
}

bool HasTag(const store::Attributes& tags, const store::Attributes::value_type& tag) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

void KeepEarliest(std::optional<LifecycleAction>& earliest, WallTime date,
                  std::string_view rule_id) {
  if (!earliest || date < earliest->date) earliest = LifecycleAction{date, rule_id};
}

void KeepNext(std::optional<WallTime>& next, WallTime date) {
  if (!next || date < *next) next = date;
}

// Objects move only to later classes of this list.
constexpr std::array<std::string_view, 6> kClasses = {
    "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"};

// The place in kClasses; -1: STANDARD and REDUCED_REDUNDANCY; nullopt: never moves.
std::optional<int> RankOf(std::string_view storage_class) {
  if (storage_class == "STANDARD" || storage_class == "REDUCED_REDUNDANCY") return -1;
  const auto found = std::find(kClasses.begin(), kClasses.end(), storage_class);
  if (found == kClasses.end()) return std::nullopt;
  return static_cast<int>(found - kClasses.begin());
}

bool CanMove(std::string_view from, std::string_view to) {
  if (from == "ONEZONE_IA" && to == "GLACIER_IR") return false;
  const auto begin = RankOf(from);
  return begin && *begin < *RankOf(to);
}

// Of two transitions on one day, S3 chooses the one of the cheaper class, but INTELLIGENT_TIERING
// before all classes except GLACIER and DEEP_ARCHIVE.
int PreferenceOf(std::string_view storage_class) {
  if (storage_class == "INTELLIGENT_TIERING") return 2 * *RankOf("GLACIER_IR") + 1;
  return 2 * *RankOf(storage_class);
}

}  // namespace

WallTime MidnightAfter(WallTime begin, std::int64_t count) {
  const auto day = std::chrono::floor<days>(begin);
  const auto last = LastDay();
  return count < (last - day).count() ? day + days(count + 1) : last;
}

LifecycleRules::LifecycleRules(std::string_view document, std::string_view minimum_size)
    : small_objects_move_to_archives_(minimum_size == kMinimumSizeVaries) {
  const auto configuration = ReadBySchema(document, kLifecycleSchema);
  if (!configuration.ok()) return;
  for (const Element& element : configuration->children) {
    if (element.TextOf("Status") == "Enabled") rules_.push_back(ReadRule(element));
  }
}

const LifecycleRules* LifecycleRules::Of(const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, kLifecycleKey);
  if (document == nullptr) return nullptr;
  return &bucket.lifecycle_rules.Get<LifecycleRules>([&] {
    const std::string* size = FindConfiguration(bucket, kMinimumSizeKey);
    return std::make_unique<const LifecycleRules>(
        *document, size == nullptr ? kMinimumSizeDefault : std::string_view(*size));
  });
}

LifecycleRules::Rule LifecycleRules::ReadRule(const Element& element) {
  Rule rule;
  rule.id = element.TextOf("ID");
  rule.prefix = element.TextOf("Prefix");  // The old form without a filter.
  if (const Element* filter = element.Find("Filter")) {
    const Element* conjunction = filter->Find("And");
    const Element& group = conjunction == nullptr ? *filter : *conjunction;
    rule.prefix = group.TextOf("Prefix");
    for (const Element* tag : group.All("Tag"))
      rule.tags.emplace_back(tag->TextOf("Key"), tag->TextOf("Value"));
    rule.size_above = Number(group, "ObjectSizeGreaterThan").value_or(rule.size_above);
    rule.size_below = Number(group, "ObjectSizeLessThan").value_or(rule.size_below);
    rule.filters_size = group.Has("ObjectSizeGreaterThan") || group.Has("ObjectSizeLessThan");
  }
  if (const Element* expiration = element.Find("Expiration")) {
    rule.expiration_days = Number(*expiration, "Days");
    rule.expiration_date = DateOf(*expiration);
    rule.expires_markers = expiration->TextOf("ExpiredObjectDeleteMarker") == "true";
  }
  if (const Element* noncurrent = element.Find("NoncurrentVersionExpiration")) {
    rule.noncurrent_days = Number(*noncurrent, "NoncurrentDays");
    rule.newer_versions =
        static_cast<std::uint64_t>(Number(*noncurrent, "NewerNoncurrentVersions").value_or(0));
  }
  for (const Element* each : element.All("Transition")) {
    rule.transitions.push_back(
        {std::string(each->TextOf("StorageClass")), Number(*each, "Days"), DateOf(*each)});
  }
  for (const Element* each : element.All("NoncurrentVersionTransition")) {
    rule.noncurrent_transitions.push_back(
        {std::string(each->TextOf("StorageClass")), Number(*each, "NoncurrentDays"), std::nullopt,
         static_cast<std::uint64_t>(Number(*each, "NewerNoncurrentVersions").value_or(0))});
  }
  if (const Element* abort = element.Find("AbortIncompleteMultipartUpload")) {
    rule.abort_days = Number(*abort, "DaysAfterInitiation");
  }
  return rule;
}

// Delete markers have no tags and no size: rules with such a filter do not apply to them.
bool LifecycleRules::Applies(const Rule& rule, const LifecycleVersion& version) {
  if (!version.key.starts_with(rule.prefix)) return false;
  if (version.is_delete_marker) return rule.tags.empty() && !rule.filters_size;
  const auto has_tag = [&](const auto& tag) {
    return version.tags != nullptr && HasTag(*version.tags, tag);
  };
  return std::cmp_greater(version.size, rule.size_above) &&
         std::cmp_less(version.size, rule.size_below) &&
         std::all_of(rule.tags.begin(), rule.tags.end(), has_tag);
}

std::optional<WallTime> LifecycleRules::RemovalDate(const Rule& rule,
                                                    const LifecycleVersion& version) {
  std::optional<WallTime> date;
  if (version.noncurrent_since) {
    if (rule.noncurrent_days && version.newer_noncurrent >= rule.newer_versions)
      date = MidnightAfter(*version.noncurrent_since, *rule.noncurrent_days);
    return date;
  }
  if (rule.expiration_days) date = MidnightAfter(version.last_modified, *rule.expiration_days);
  if (version.is_delete_marker)
    return rule.expires_markers ? MidnightAfter(version.last_modified, 0) : date;
  return rule.expiration_date ? rule.expiration_date : date;
}

bool LifecycleRules::IsTooSmall(const Rule& rule, const LifecycleVersion& version,
                                std::string_view storage_class) const {
  if (rule.filters_size || version.size >= kMinimumTransitionBytes) return false;
  const bool archive = storage_class == "GLACIER" || storage_class == "DEEP_ARCHIVE";
  return !(small_objects_move_to_archives_ && archive);
}

void LifecycleRules::AddMoves(const Rule& rule, const LifecycleVersion& version,
                              std::vector<Move>& moves) const {
  const bool current = !version.noncurrent_since;
  for (const Transition& each : current ? rule.transitions : rule.noncurrent_transitions) {
    if (version.newer_noncurrent < each.newer_versions ||
        IsTooSmall(rule, version, each.storage_class))
      continue;
    const WallTime begin = current ? version.last_modified : *version.noncurrent_since;
    moves.push_back({each.date ? *each.date : MidnightAfter(begin, *each.days), &rule, &each});
  }
}

// Applies the transitions in the order of their dates, as daily runs would: the class at `now` does
// not depend on how often the rules ran before.
std::optional<LifecycleTransition> LifecycleRules::ChooseTransition(const LifecycleVersion& version,
                                                                    std::vector<Move> moves,
                                                                    WallTime now) {
  std::erase_if(moves, [&](const Move& move) { return move.date > now; });
  std::stable_sort(moves.begin(), moves.end(), [](const Move& left, const Move& right) {
    if (left.date != right.date) return left.date < right.date;
    return PreferenceOf(left.transition->storage_class) >
           PreferenceOf(right.transition->storage_class);
  });
  std::optional<LifecycleTransition> chosen;
  std::string_view at = version.storage_class;
  for (std::size_t i = 0; i < moves.size();) {
    const WallTime date = moves[i].date;
    bool decided = false;
    for (; i < moves.size() && moves[i].date == date; ++i) {
      const std::string_view to = moves[i].transition->storage_class;
      if (decided || (to != at && !CanMove(at, to))) continue;
      decided = true;
      if (to == at) continue;
      at = to;
      chosen = LifecycleTransition{{date, moves[i].rule->id}, to};
    }
  }
  return chosen;
}

LifecycleDecision LifecycleRules::Decide(const LifecycleVersion& version, WallTime now) const {
  LifecycleDecision decision;
  std::vector<Move> moves;
  for (const Rule& rule : rules_) {
    if (!Applies(rule, version)) continue;
    if (const auto date = RemovalDate(rule, version)) {
      if (*date <= now) {
        KeepEarliest(decision.removal, *date, rule.id);
      } else {
        KeepNext(decision.next, *date);
      }
    }
    if (!version.is_delete_marker && RankOf(version.storage_class)) AddMoves(rule, version, moves);
  }
  for (const Move& move : moves) {
    if (move.date > now && CanMove(version.storage_class, move.transition->storage_class))
      KeepNext(decision.next, move.date);
  }
  if (!moves.empty()) decision.transition = ChooseTransition(version, std::move(moves), now);
  return decision;
}

bool LifecycleRules::NeedsTags(std::string_view key, std::uint64_t size) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return !rule.tags.empty() && key.starts_with(rule.prefix) &&
           std::cmp_greater(size, rule.size_above) && std::cmp_less(size, rule.size_below);
  });
}

std::optional<LifecycleAction> LifecycleRules::ExpirationOf(
    const store::ObjectRecord& object) const {
  const LifecycleVersion version{.key = object.key.value,
                                 .size = object.size,
                                 .last_modified = object.last_modified,
                                 .storage_class = object.storage_class,
                                 .tags = &object.tags};
  std::optional<LifecycleAction> earliest;
  for (const Rule& rule : rules_) {
    const bool expires = rule.expiration_days || rule.expiration_date;
    if (expires && Applies(rule, version))
      KeepEarliest(earliest, *RemovalDate(rule, version), rule.id);
  }
  return earliest;
}

std::optional<LifecycleAction> LifecycleRules::AbortOf(const store::UploadRecord& upload) const {
  std::optional<LifecycleAction> earliest;
  for (const Rule& rule : rules_) {
    if (!rule.abort_days || !upload.key.value.starts_with(rule.prefix)) continue;
    KeepEarliest(earliest, MidnightAfter(upload.initiated, *rule.abort_days), rule.id);
  }
  return earliest;
}

std::vector<std::string_view> LifecycleRules::RuleIds() const {
  std::vector<std::string_view> ids;
  ids.reserve(rules_.size());
  for (const Rule& rule : rules_) ids.push_back(rule.id);
  return ids;
}

bool LifecycleRules::AbortsUploads() const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [](const Rule& rule) { return rule.abort_days.has_value(); });
}

}  // namespace penstock::emulator::s3
