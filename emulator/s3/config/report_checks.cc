// Checks the configurations with ids, of which a bucket can have many: analytics, metrics,
// inventory and intelligent-tiering.
#include <algorithm>
#include <string>

#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::int64_t kArchiveDays = 90;
constexpr std::int64_t kDeepArchiveDays = 180;
constexpr std::int64_t kMaxTierDays = 730;

// A filter has one criterion. `And` has at least two.
Result<void> CheckFilter(const Element& document) {
  const Element* filter = document.Find("Filter");
  if (filter == nullptr) return Ok();
  if (filter->children.size() != 1) return MalformedXml();
  PENSTOCK_TRY(CheckCriteria(*filter));
  const Element* conjunction = filter->Find("And");
  if (conjunction == nullptr) return Ok();
  if (conjunction->children.size() < 2) return MalformedXml();
  return CheckCriteria(*conjunction);
}

// A bucket that does not exist is accepted.
Result<void> CheckDestination(const CheckContext& context, const Element& destination) {
  const std::string_view name = ResourceOfBucketArn(destination.TextOf("Bucket"));
  if (name.empty()) return MakeError("InvalidS3DestinationBucket", {}, "Invalid bucket ARN.");
  const auto bucket = context.call.store.FindBucket(BucketName(std::string(name)));
  if (!bucket.ok() ||
      RegionOfConstraint((*bucket)->region) == RegionOfConstraint(context.bucket.region))
    return Ok();
  return MakeError("InvalidS3DestinationBucket", {},
                   "The destination bucket must be in the same Region as the source bucket.");
}

}  // namespace

Result<void> CheckAnalytics(const CheckContext& context, Element& document) {
  PENSTOCK_TRY(CheckFilter(document));
  const Element* data_export = document.Find("StorageClassAnalysis")->Find("DataExport");
  if (data_export == nullptr) return Ok();
  return CheckDestination(context, *data_export->Find("Destination")->Find("S3BucketDestination"));
}

Result<void> CheckIntelligentTiering(const CheckContext&, Element& document) {
  PENSTOCK_TRY(CheckFilter(document));
  const std::vector<const Element*> tiers = document.All("Tiering");
  for (auto tier = tiers.begin(); tier != tiers.end(); ++tier) {
    const std::string_view access = (*tier)->TextOf("AccessTier");
    if (std::any_of(tiers.begin(), tier, [&](const Element* earlier) {
          return earlier->TextOf("AccessTier") == access;
        })) {
      return MalformedXml();
    }
    const std::string_view text = (*tier)->TextOf("Days");
    const std::int64_t days = std::stoll(std::string(text));
    const std::int64_t least = access == "ARCHIVE_ACCESS" ? kArchiveDays : kDeepArchiveDays;
    if (days >= least && days <= kMaxTierDays) continue;
    return InvalidArgument("'Days' for the " + std::string(access) + " tier must be between " +
                               std::to_string(least) + " and " + std::to_string(kMaxTierDays),
                           "Days", text);
  }
  return Ok();
}

Result<void> CheckInventory(const CheckContext& context, Element& document) {
  const Element& bucket = *document.Find("Destination")->Find("S3BucketDestination");
  const Element* encryption = bucket.Find("Encryption");
  if (encryption != nullptr && encryption->children.size() != 1) return MalformedXml();
  return CheckDestination(context, bucket);
}

Result<void> CheckMetrics(const CheckContext&, Element& document) { return CheckFilter(document); }

}  // namespace penstock::emulator::s3
