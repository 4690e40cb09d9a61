// What S3 checks in a configuration beyond its schema: limits, contradictions, things that must
// exist. One function per sub-resource, named in the table of sub_resources.cc; each may fill in
// what S3 adds (rule ids, defaults).
//
// Codes and texts: spec/protocol.md §2.17 where it states them, otherwise as S3's answers are known
// from its documentation and from published recordings.
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_CONFIGURATION_CHECKS_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_CONFIGURATION_CHECKS_H_

#include <string_view>

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct CheckContext {
  Call& call;
  const store::BucketRecord& bucket;
};
using ConfigurationCheck = Result<void> (*)(const CheckContext& context, Element& document);

// configuration_checks.cc
Result<void> CheckAccelerate(const CheckContext& context, Element& document);
Result<void> CheckCors(const CheckContext& context, Element& document);
Result<void> CheckLogging(const CheckContext& context, Element& document);
Result<void> CheckObjectLock(const CheckContext& context, Element& document);
Result<void> CheckOwnership(const CheckContext& context, Element& document);
Result<void> CheckPublicAccessBlock(const CheckContext& context, Element& document);
Result<void> CheckTagging(const CheckContext& context, Element& document);
// lifecycle_checks.cc
Result<void> CheckLifecycle(const CheckContext& context, Element& document);
// notification_checks.cc
Result<void> CheckNotification(const CheckContext& context, Element& document);
// replication_checks.cc
Result<void> CheckReplication(const CheckContext& context, Element& document);
// website_checks.cc
Result<void> CheckWebsite(const CheckContext& context, Element& document);
// report_checks.cc: the four that have ids.
Result<void> CheckAnalytics(const CheckContext& context, Element& document);
Result<void> CheckIntelligentTiering(const CheckContext& context, Element& document);
Result<void> CheckInventory(const CheckContext& context, Element& document);
Result<void> CheckMetrics(const CheckContext& context, Element& document);

// Gives every `rule` without a text in `id_field` (its first field) one, as S3 does: 48 characters.
void FillRuleIds(const Call& call, Element& document, std::string_view rule,
                 std::string_view id_field);

// The tags directly below `group` name each key once; "Duplicate Tag Keys are not allowed."
// otherwise.
Result<void> CheckDistinctTagKeys(const Element& group);

// The bucket of "arn:aws:s3:::name" (any partition); empty when `arn` is not one.
std::string_view BucketOfArn(std::string_view arn);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_CONFIGURATION_CHECKS_H_
