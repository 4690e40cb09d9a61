// Evaluates a bucket's lifecycle rules: when objects would expire and uploads would be aborted, and
// by which rule. Responses contain the dates, but the emulator removes nothing.
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/records/cached_value.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

// When an object expires or an upload is aborted, and the rule that says so.
struct LifecycleAction {
  WallTime date{};           // Midnight UTC.
  std::string_view rule_id;  // Valid as long as the LifecycleRules.
};

// The enabled rules of a configuration that expire objects or abort uploads. Immutable.
class LifecycleRules final : public store::CachedValue::Value {
 public:
  // `document`: the stored configuration. An unreadable document has no rules.
  explicit LifecycleRules(std::string_view document);

  // Returns the earliest expiration of a current version, or nullopt. If two rules have the same
  // date, the first one is returned.
  std::optional<LifecycleAction> ExpirationOf(const store::ObjectRecord& object) const;
  // Returns the earliest abort of an upload, by the same rule.
  std::optional<LifecycleAction> AbortOf(const store::UploadRecord& upload) const;

 private:
  struct Rule {
    std::string id;
    std::string prefix;
    store::Attributes tags;
    std::int64_t size_above = -1;
    std::int64_t size_below = std::numeric_limits<std::int64_t>::max();
    std::optional<std::int64_t> expiration_days;
    std::optional<WallTime> expiration_date;
    std::optional<std::int64_t> abort_days;
  };
  static Rule ReadRule(const Element& element);
  static bool Applies(const Rule& rule, const store::ObjectRecord& object);

  std::vector<Rule> rules_;
};

// Adds x-amz-expiration if a rule of the addressed bucket applies to `object`, its current version.
// Not for requests with a version id.
void AddExpirationHeader(Call& call, const store::ObjectRecord& object);
// Adds x-amz-abort-date and x-amz-abort-rule-id if a rule applies to the upload.
void AddAbortHeaders(Call& call, const store::UploadRecord& upload);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_H_
