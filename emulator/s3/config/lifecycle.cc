#include "emulator/s3/config/lifecycle.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/dates.h"
#include "emulator/s3/config/sub_resources.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using std::chrono::days;

std::optional<std::int64_t> Number(const Element& group, std::string_view name) {
  const Element* element = group.Find(name);
  return element == nullptr ? std::nullopt : std::optional<std::int64_t>(std::stoll(element->text));
}

// Returns the midnight after `begin` plus `count` days, capped at the last midnight that WallTime
// can represent.
WallTime MidnightAfter(WallTime begin, std::int64_t count) {
  const auto day = std::chrono::floor<days>(begin);
  const auto last = std::chrono::floor<days>(WallTime::max());
  return count < (last - day).count() ? day + days(count + 1) : last;
}

bool HasTag(const store::Attributes& tags, const store::Attributes::value_type& tag) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

void KeepEarliest(std::optional<LifecycleAction>& earliest, WallTime date,
                  std::string_view rule_id) {
  if (!earliest || date < earliest->date) earliest = LifecycleAction{date, rule_id};
}

// Rule ids may contain any XML character. Ids that are not printable ASCII are percent-encoded.
std::string HeaderText(std::string_view id) {
  const bool printable =
      std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable ? std::string(id) : PercentEncode(id);
}

const LifecycleRules* RulesOf(const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, "lifecycle");
  if (document == nullptr) return nullptr;
  return &bucket.lifecycle_rules.Get<LifecycleRules>(
      [&] { return std::make_unique<const LifecycleRules>(*document); });
}

}  // namespace

LifecycleRules::LifecycleRules(std::string_view document) {
  const auto configuration = ReadBySchema(document, kLifecycleSchema);
  if (!configuration.ok()) return;
  for (const Element& element : configuration->children) {
    if (element.TextOf("Status") != "Enabled") continue;
    Rule rule = ReadRule(element);
    if (rule.expiration_days || rule.expiration_date || rule.abort_days)
      rules_.push_back(std::move(rule));
  }
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
  }
  if (const Element* expiration = element.Find("Expiration")) {
    rule.expiration_days = Number(*expiration, "Days");
    if (const Element* date = expiration->Find("Date"))
      rule.expiration_date = ParseIso8601(date->text);
  }
  if (const Element* abort = element.Find("AbortIncompleteMultipartUpload")) {
    rule.abort_days = Number(*abort, "DaysAfterInitiation");
  }
  return rule;
}

bool LifecycleRules::Applies(const Rule& rule, const store::ObjectRecord& object) {
  return object.key.value.starts_with(rule.prefix) &&
         std::cmp_greater(object.size, rule.size_above) &&
         std::cmp_less(object.size, rule.size_below) &&
         std::all_of(rule.tags.begin(), rule.tags.end(),
                     [&](const auto& tag) { return HasTag(object.tags, tag); });
}

std::optional<LifecycleAction> LifecycleRules::ExpirationOf(
    const store::ObjectRecord& object) const {
  std::optional<LifecycleAction> earliest;
  for (const Rule& rule : rules_) {
    if (!(rule.expiration_days || rule.expiration_date) || !Applies(rule, object)) continue;
    if (rule.expiration_date) KeepEarliest(earliest, *rule.expiration_date, rule.id);
    if (rule.expiration_days)
      KeepEarliest(earliest, MidnightAfter(object.last_modified, *rule.expiration_days), rule.id);
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

void AddExpirationHeader(Call& call, const store::ObjectRecord& object) {
  const LifecycleRules* rules = RulesOf(*call.opened);
  if (rules == nullptr) return;
  const auto action = rules->ExpirationOf(object);
  if (!action) return;
  call.response().Add("x-amz-expiration", "expiry-date=\"" + FormatHttpDate(action->date) +
                                              "\", rule-id=\"" + PercentEncode(action->rule_id) +
                                              "\"");
}

void AddAbortHeaders(Call& call, const store::UploadRecord& upload) {
  const LifecycleRules* rules = RulesOf(*call.opened);
  if (rules == nullptr) return;
  const auto action = rules->AbortOf(upload);
  if (!action) return;
  call.response().Add("x-amz-abort-date", FormatHttpDate(action->date));
  call.response().Add("x-amz-abort-rule-id", HeaderText(action->rule_id));
}

}  // namespace penstock::emulator::s3
