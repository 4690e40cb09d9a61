#include "emulator/s3/config/configuration_checks.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/access/acl.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/tags.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxCorsRules = 100;
constexpr std::size_t kMaxIdCharacters = 255;
constexpr std::size_t kMaxPrefixBytes = 1024;
constexpr std::int64_t kMaxLockDays = 36'500;
constexpr std::int64_t kMaxLockYears = 100;

bool HasManyWildcards(std::string_view text) {
  return std::count(text.begin(), text.end(), '*') > 1;
}

Error TooManyWildcards(std::string_view element, std::string_view value) {
  return InvalidRequest(std::string(element) + " \"" + std::string(value) +
                        "\" can not have more than one wildcard.");
}

Result<void> CheckCorsRule(const Element& rule) {
  static constexpr std::array<std::string_view, 5> kMethods = {"GET", "PUT", "HEAD", "POST",
                                                               "DELETE"};
  if (rule.TextOf("ID").size() > kMaxIdCharacters) {
    return InvalidRequest("The ID of a CORS rule must not have more than 255 characters.");
  }
  for (const Element* method : rule.All("AllowedMethod")) {
    if (std::find(kMethods.begin(), kMethods.end(), method->text) == kMethods.end()) {
      return InvalidRequest("Found unsupported HTTP method in CORS config. Unsupported method is " +
                            method->text);
    }
  }
  for (const std::string_view element : {"AllowedOrigin", "AllowedHeader"}) {
    for (const Element* pattern : rule.All(element)) {
      if (HasManyWildcards(pattern->text)) return TooManyWildcards(element, pattern->text);
    }
  }
  for (const Element* header : rule.All("ExposeHeader")) {
    if (header->text.find('*') == std::string::npos) continue;
    return InvalidRequest(
        "ExposeHeader \"" + header->text +
        "\" contains wildcard. We currently do not support wildcard for ExposeHeader.");
  }
  return Ok();
}

Error InvalidLoggingTarget(std::string_view bucket, std::string message) {
  return MakeError("InvalidTargetBucketForLogging", {{"TargetBucket", std::string(bucket)}},
                   std::move(message));
}

Result<void> CheckRetention(const Element& retention) {
  const bool days = retention.Has("Days");
  if (days == retention.Has("Years")) return MalformedXml();
  const std::int64_t period = std::stoll(std::string(retention.TextOf(days ? "Days" : "Years")));
  if (period <= 0) {
    return InvalidArgument("Default retention period must be a positive integer value.",
                           days ? "Days" : "Years", std::to_string(period));
  }
  if (period > (days ? kMaxLockDays : kMaxLockYears)) {
    return InvalidArgument("Default retention period too large.", days ? "Days" : "Years",
                           std::to_string(period));
  }
  return Ok();
}

}  // namespace

Result<void> CheckAccelerate(const CheckContext& context, Element&) {
  if (context.bucket.name.value.find('.') == std::string::npos) return Ok();
  return InvalidRequest(
      "S3 Transfer Acceleration is not supported for buckets with periods (.) in their names");
}

Result<void> CheckCors(const CheckContext&, Element& document) {
  if (document.children.size() > kMaxCorsRules) {
    return InvalidRequest("The number of CORS rules should not exceed allowed limit of 100 rules.");
  }
  for (const Element& rule : document.children) PENSTOCK_TRY(CheckCorsRule(rule));
  return Ok();
}

Result<void> CheckLogging(const CheckContext& context, Element& document) {
  const Element* enabled = document.Find("LoggingEnabled");
  if (enabled == nullptr) return Ok();
  const BucketName target{std::string(enabled->TextOf("TargetBucket"))};
  const auto found = context.call.store.FindBucket(target);
  if (!found.ok())
    return InvalidLoggingTarget(target.value, "The target bucket for logging does not exist");
  if ((*found)->owner_id != context.bucket.owner_id) {
    return InvalidLoggingTarget(
        target.value,
        "The owner for the bucket to be logged and the target bucket must be the same.");
  }
  const std::string_view region = RegionOfConstraint((*found)->region);
  if (region != RegionOfConstraint(context.bucket.region)) {
    ErrorDetails details{{"TargetBucketLocation", std::string(region)}};
    // Recorded against Amazon S3: the source's region is returned unless it is us-east-1.
    const std::string_view own = RegionOfConstraint(context.bucket.region);
    if (own != "us-east-1")
      details.insert(details.begin(), {"SourceBucketLocation", std::string(own)});
    return MakeError("CrossLocationLoggingProhibitted", std::move(details));
  }
  // API_TargetObjectKeyFormat: "Only one format, PartitionedPrefix or SimplePrefix, is allowed."
  if (const Element* format = enabled->Find("TargetObjectKeyFormat");
      format != nullptr && format->children.size() > 1)
    return MalformedXml();
  if (enabled->Has("TargetGrants") && OwnershipOf(**found) == kBucketOwnerEnforced) {
    return InvalidLoggingTarget(
        target.value,
        "The target bucket's ObjectOwnership is BucketOwnerEnforced: remove TargetGrants");
  }
  return Ok();
}

Result<void> CheckObjectLock(const CheckContext& context, Element& document) {
  if (const Element* rule = document.Find("Rule"))
    PENSTOCK_TRY(CheckRetention(*rule->Find("DefaultRetention")));
  if (context.bucket.versioning == store::Versioning::kEnabled) return Ok();
  return MakeError(
      "InvalidBucketState", {},
      "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration");
}

Result<void> CheckOwnership(const CheckContext& context, Element& document) {
  if (document.children.front().TextOf("ObjectOwnership") != kBucketOwnerEnforced) return Ok();
  return RequirePrivateAcl(context.bucket);
}

Result<void> CheckPublicAccessBlock(const CheckContext&, Element& document) {
  if (document.children.empty()) return InvalidRequest("Must specify at least one configuration.");
  std::vector<Element> all;
  for (const std::string_view name :
       {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"}) {
    Element flag;
    flag.name = name;
    flag.text = document.Has(name) ? document.TextOf(name) : "false";
    all.push_back(std::move(flag));
  }
  document.children = std::move(all);
  return Ok();
}

Result<void> CheckTagging(const CheckContext&, Element& document) {
  return CheckBucketTags(TagsOf(document.Find("TagSet")), BucketTagging::kPut);
}

void FillRuleIds(const Call& call, Element& document, std::string_view rule,
                 std::string_view id_field) {
  std::size_t number = 0;
  for (Element& element : document.children) {
    if (element.name != rule || !element.TextOf(id_field).empty()) continue;
    // Like S3's ids: base64 of the 36 characters of a UUID.
    const Sha256Digest digest = Sha256(
        AsBytes(call.exchange.request_id + "/" + element.name + "/" + std::to_string(number++)));
    std::string uuid = HexEncode(ByteView(digest).first(16));
    uuid[12] = '4';
    uuid[16] = 'a';
    for (const std::size_t at : {8u, 13u, 18u, 23u}) uuid.insert(at, 1, '-');
    if (Element* id = element.Find(id_field)) {
      id->text = Base64Encode(AsBytes(uuid));
    } else {
      Element made;
      made.name = id_field;
      made.text = Base64Encode(AsBytes(uuid));
      element.children.insert(element.children.begin(), std::move(made));
    }
  }
}

Result<void> CheckCriteria(const Element& group) {
  if (group.TextOf("Prefix").size() > kMaxPrefixBytes)
    return InvalidRequest("The maximum size of a prefix is 1024");
  const std::vector<const Element*> tags = group.All("Tag");
  for (auto tag = tags.begin(); tag != tags.end(); ++tag) {
    const std::string_view key = (*tag)->TextOf("Key");
    if (key.empty() || CountCharacters(key) > kMaxTagKeyCharacters)
      return InvalidRequest("A Tag's Key must be a length between 1 and 128.");
    if (CountCharacters((*tag)->TextOf("Value")) > kMaxTagValueCharacters)
      return InvalidRequest("A Tag's Value must be a length between 0 and 256.");
    const auto same = [&](const Element* earlier) { return earlier->TextOf("Key") == key; };
    if (std::any_of(tags.begin(), tag, same))
      return InvalidRequest("Duplicate Tag Keys are not allowed.");
  }
  return Ok();
}

}  // namespace penstock::emulator::s3
