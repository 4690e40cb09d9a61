// What a bucket's kept lifecycle says of its objects and uploads: when they would go, and by which
// rule (spec/protocol.md §2.17 "Lifecycle"). It is told, not done: nothing is removed.
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
#include "emulator/store/cached_value.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

struct LifecycleEnd {
  WallTime date{};           // midnight UTC
  std::string_view rule_id;  // as long as the rules live
};

// The enabled rules of one configuration that end something. Immutable.
class LifecycleRules final : public store::CachedValue::Value {
 public:
  // `document` as it is kept; one that cannot be read has no rules.
  explicit LifecycleRules(std::string_view document);

  // The earliest that a rule sets for a current version; of two that are equal, the first rule's.
  std::optional<LifecycleEnd> ExpirationOf(const store::ObjectRecord& object) const;
  std::optional<LifecycleEnd> AbortOf(const store::UploadRecord& upload) const;

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

// x-amz-expiration, where a rule of the addressed bucket applies to its current version `object`. A
// request that names a version must not ask.
void AddExpirationHeader(Call& call, const store::ObjectRecord& object);
// x-amz-abort-date and x-amz-abort-rule-id likewise.
void AddAbortHeaders(Call& call, const store::UploadRecord& upload);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_LIFECYCLE_H_
