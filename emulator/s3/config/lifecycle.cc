#include "emulator/s3/config/lifecycle.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/dates.h"
#include "emulator/s3/config/lifecycle_rules.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// Rule ids may contain any XML character. Ids that are not printable ASCII are percent-encoded.
std::string HeaderText(std::string_view id) {
  const bool printable =
      std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable ? std::string(id) : PercentEncode(id);
}

}  // namespace

void AddExpirationHeader(Call& call, const store::ObjectRecord& object) {
  if (IsDirectoryBucketName(call.bucket().value)) {
    // Amazon S3 API Reference, x-amz-expiration of these operations: the value in all responses for
    // directory buckets.
    const std::string_view operation = call.exchange.operation;
    if (operation == "GetObject" || operation == "HeadObject" || operation == "PutObject" ||
        operation == "CopyObject")
      call.response().Add("x-amz-expiration", "NotImplemented");
    return;
  }
  const LifecycleRules* rules = LifecycleRules::Of(*call.opened);
  if (rules == nullptr) return;
  const auto action = rules->ExpirationOf(object);
  if (!action) return;
  call.response().Add("x-amz-expiration", "expiry-date=\"" + FormatHttpDate(action->date) +
                                              "\", rule-id=\"" + PercentEncode(action->rule_id) +
                                              "\"");
}

void AddAbortHeaders(Call& call, const store::UploadRecord& upload) {
  if (IsDirectoryBucketName(call.bucket().value)) return;  // as the API Reference says
  const LifecycleRules* rules = LifecycleRules::Of(*call.opened);
  if (rules == nullptr) return;
  const auto action = rules->AbortOf(upload);
  if (!action) return;
  call.response().Add("x-amz-abort-date", FormatHttpDate(action->date));
  call.response().Add("x-amz-abort-rule-id", HeaderText(action->rule_id));
}

}  // namespace penstock::emulator::s3
