// S3's checks of configurations beyond their schemas: limits, contradictions, and references that
// must exist. The table in sub_resources.cc names one function per sub-resource. A check may add
// what S3 adds (rule ids, defaults).
//
// Codes and texts follow AWS's documentation and published recordings of Amazon S3.
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
// report_checks.cc: the four kinds that have ids.
Result<void> CheckAnalytics(const CheckContext& context, Element& document);
Result<void> CheckIntelligentTiering(const CheckContext& context, Element& document);
Result<void> CheckInventory(const CheckContext& context, Element& document);
Result<void> CheckMetrics(const CheckContext& context, Element& document);

// Adds a 48-character id, as S3 does, to every `rule` whose `id_field` is empty. `id_field` is the
// first field of the rule.
void FillRuleIds(const Call& call, Element& document, std::string_view rule,
                 std::string_view id_field);

// Checks the lengths of the prefix and of the tags directly below `group`, a filter or its `And`,
// and that no key is repeated.
Result<void> CheckCriteria(const Element& group);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_CONFIGURATION_CHECKS_H_
