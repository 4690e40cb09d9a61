// Checks the rules of a replication configuration.
#include <algorithm>
#include <string>

#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxRules = 1000;
constexpr std::size_t kMaxIdCharacters = 255;

Error NeedsField(std::string_view field) {
  return InvalidRequest(std::string(field) +
                        " must be specified for this version of Cross Region Replication "
                        "configuration schema. Please "
                        "refer to S3 Developer Guide for more information.");
}

Result<void> CheckFilter(const Element& filter) {
  if (filter.children.size() > 1) return MalformedXml();
  const Element* conjunction = filter.Find("And");
  if (conjunction == nullptr) return Ok();
  if (conjunction->children.size() < 2) return MalformedXml();
  return CheckDistinctTagKeys(*conjunction);
}

Result<void> CheckDestination(const CheckContext& context, const Element& destination) {
  const std::string_view arn = destination.TextOf("Bucket");
  const std::string_view name = ResourceOfBucketArn(arn);
  if (name.empty()) return InvalidArgument("Invalid bucket ARN.", "Bucket", arn);
  const auto bucket = context.call.store.FindBucket(BucketName(std::string(name)));
  // Recorded against Amazon S3: the error is the same if the bucket does not exist.
  if (bucket.ok() && (*bucket)->versioning == store::Versioning::kEnabled) return Ok();
  return InvalidRequest("Destination bucket must have versioning enabled.");
}

Result<void> CheckRule(const CheckContext& context, const Element& rule) {
  if (rule.TextOf("ID").size() > kMaxIdCharacters) {
    return InvalidArgument("ID length should not exceed allowed limit of 255", "ID",
                           rule.TextOf("ID"));
  }
  const Element* filter = rule.Find("Filter");
  if (filter != nullptr && rule.Has("Prefix")) return MalformedXml();
  if (filter != nullptr) {
    PENSTOCK_TRY(CheckFilter(*filter));
    if (!rule.Has("Priority")) return NeedsField("Priority");
    if (!rule.Has("DeleteMarkerReplication")) return NeedsField("DeleteMarkerReplication");
  } else if (!rule.Has("Prefix")) {
    return MalformedXml();
  }
  return CheckDestination(context, *rule.Find("Destination"));
}

// Returns a value of `field` that a rule shares with an earlier rule, or null.
const Element* FindRepeated(const Element& document, std::string_view field) {
  for (auto rule = document.children.begin(); rule != document.children.end(); ++rule) {
    const Element* value = rule->Find(field);
    if (value == nullptr || value->text.empty()) continue;
    const auto same = [&](const Element& earlier) { return earlier.TextOf(field) == value->text; };
    if (std::any_of(document.children.begin(), rule, same)) return value;
  }
  return nullptr;
}

}  // namespace

Result<void> CheckReplication(const CheckContext& context, Element& document) {
  if (context.bucket.versioning != store::Versioning::kEnabled) {
    return InvalidRequest(
        "Versioning must be 'Enabled' on the bucket to apply a replication configuration");
  }
  if (const std::string_view role = document.TextOf("Role"); !role.starts_with("arn:aws")) {
    return InvalidArgument("Invalid Role specified in replication configuration", "Role", role);
  }
  const std::vector<const Element*> rules = document.All("Rule");
  if (rules.size() > kMaxRules) return MalformedXml();
  for (const Element* rule : rules) PENSTOCK_TRY(CheckRule(context, *rule));
  if (const Element* id = FindRepeated(document, "ID")) {
    return InvalidArgument("Rule ID must be unique. Found same ID for more than one rule", "ID",
                           id->text);
  }
  if (const Element* priority = FindRepeated(document, "Priority")) {
    return InvalidRequest("Found duplicate priorities " + priority->text +
                          ". Priorities must be unique.");
  }
  FillRuleIds(context.call, document, "Rule", "ID");
  return Ok();
}

}  // namespace penstock::emulator::s3
