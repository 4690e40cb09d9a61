// Checks the rules of a replication configuration.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxRules = 1000;
constexpr std::size_t kMaxIdCharacters = 255;
constexpr std::int64_t kMaxPriority = INT32_MAX;  // AWS's service model: an integer of 32 bits
constexpr std::string_view kTimeControlMinutes = "15";  // API_ReplicationTimeValue

Error NeedsField(std::string_view field) {
  return InvalidRequest(std::string(field) +
                        " must be specified for this version of Cross Region Replication "
                        "configuration schema. Please "
                        "refer to S3 Developer Guide for more information.");
}

// "arn:partition:iam::account:role/name".
bool IsRoleArn(std::string_view arn) {
  if (!arn.starts_with("arn:aws:") && !arn.starts_with("arn:aws-")) return false;
  const auto partition = arn.find(':', std::string_view("arn:").size());
  constexpr std::string_view kService = ":iam::";
  if (partition == std::string_view::npos || !arn.substr(partition).starts_with(kService))
    return false;
  const std::string_view account = arn.substr(partition + kService.size());
  constexpr std::string_view kRole = ":role/";
  const auto role = account.find(kRole);
  return role != std::string_view::npos && role > 0 && role + kRole.size() < account.size();
}

bool HasTags(const Element& filter) {
  const Element* conjunction = filter.Find("And");
  return filter.Has("Tag") || (conjunction != nullptr && conjunction->Has("Tag"));
}

Result<void> CheckFilter(const Element& filter) {
  if (filter.children.size() > 1) return MalformedXml();
  PENSTOCK_TRY(CheckCriteria(filter));
  const Element* conjunction = filter.Find("And");
  if (conjunction == nullptr) return Ok();
  if (conjunction->children.size() < 2) return MalformedXml();
  return CheckCriteria(*conjunction);
}

Result<void> CheckMinutes(const Element& group, std::string_view name) {
  const std::string_view minutes = group.Find(name)->TextOf("Minutes");
  if (minutes == kTimeControlMinutes) return Ok();
  return InvalidArgument("The minutes of " + group.name + " must be 15", "Minutes", minutes);
}

// API_Destination: ReplicationTime "must be specified together with a Metrics block".
Result<void> CheckTimeControl(const Element& destination) {
  const Element* time = destination.Find("ReplicationTime");
  const Element* metrics = destination.Find("Metrics");
  if (time != nullptr && metrics == nullptr)
    return InvalidRequest("ReplicationTime must be specified together with Metrics.");
  if (time != nullptr) PENSTOCK_TRY(CheckMinutes(*time, "Time"));
  if (metrics == nullptr || !metrics->Has("EventThreshold")) return Ok();
  if (time == nullptr || time->TextOf("Status") != "Enabled") {
    return InvalidArgument(
        "Metrics cannot contain an event threshold when ReplicationTime is not specified or "
        "Disabled",
        "Metrics", {});
  }
  return CheckMinutes(*metrics, "EventThreshold");
}

// API_SourceSelectionCriteria; API_Destination, EncryptionConfiguration.
Result<void> CheckSelection(const Element& rule) {
  const Element* criteria = rule.Find("SourceSelectionCriteria");
  if (criteria != nullptr && criteria->children.empty())
    return InvalidRequest("SourceSelectionCriteria cannot be empty.");
  if (criteria != nullptr && criteria->Has("ReplicaModifications") && !rule.Has("Filter"))
    return InvalidRequest("ReplicaModifications needs a rule with a Filter.");
  const bool kms = criteria != nullptr && criteria->Has("SseKmsEncryptedObjects");
  const Element* encryption = rule.Find("Destination")->Find("EncryptionConfiguration");
  const Element* source = encryption ? encryption->Find("UseSourceMultiRegionKey") : nullptr;
  const bool uses_source = source != nullptr && source->TextOf("Status") == "Enabled";
  if (kms && !uses_source &&
      (encryption == nullptr || encryption->TextOf("ReplicaKmsKeyID").empty())) {
    return InvalidRequest(
        "ReplicaKmsKeyID must be specified if SseKmsEncryptedObjects tag is present.");
  }
  if (kms || encryption == nullptr) return Ok();
  return InvalidRequest(
      "SseKmsEncryptedObjects must be specified if EncryptionConfiguration is present.");
}

Result<void> CheckDestination(const CheckContext& context, const Element& destination) {
  // AWS::S3::Bucket ReplicationDestination: "If you specify the AccessControlTranslation property,
  // the Account property is required."
  if (destination.Has("AccessControlTranslation") && destination.TextOf("Account").empty())
    return InvalidRequest("Account must be specified if AccessControlTranslation is specified.");
  PENSTOCK_TRY(CheckTimeControl(destination));
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
    const Element* markers = rule.Find("DeleteMarkerReplication");
    if (markers == nullptr) return NeedsField("DeleteMarkerReplication");
    if (markers->TextOf("Status") == "Enabled" && HasTags(*filter)) {
      return InvalidRequest(
          "Delete marker replication is not supported if any Tag filter is specified. Please refer "
          "to S3 Developer Guide for more information.");
    }
  } else if (!rule.Has("Prefix")) {
    return MalformedXml();
  } else {
    PENSTOCK_TRY(CheckCriteria(rule));
  }
  if (const Element* priority = rule.Find("Priority");
      priority != nullptr && std::stoll(priority->text) > kMaxPriority)
    return MalformedXml();
  PENSTOCK_TRY(CheckSelection(rule));
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
  if (const std::string_view role = document.TextOf("Role"); !IsRoleArn(role)) {
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
