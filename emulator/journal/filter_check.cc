#include "emulator/journal/filter_check.h"

#include <algorithm>
#include <vector>

#include "emulator/json/json_fields.h"
#include "emulator/s3/dispatch/operations.h"
#include "penstock/base/check.h"

namespace penstock::emulator::journal {
namespace {

constexpr int kHighestClass = 5;
constexpr int kLowestStatus = 100;
constexpr int kHighestStatus = 599;

bool IsStatus(int status) {
  return (status >= 0 && status <= kHighestClass) ||
         (status >= kLowestStatus && status <= kHighestStatus);
}

// Method names are case-sensitive and in upper case (RFC 9110, section 9.1).
bool IsMethod(const std::string& method) {
  return !method.empty() &&
         std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

Result<void> CheckFilter(const JournalFilter& filter, const std::string& place) {
  const std::string before = place.empty() ? "" : place + ".";
  const std::vector<std::string_view>& known = s3::OperationNames();
  for (const std::string& operation : filter.operations) {
    if (operation.empty() || std::binary_search(known.begin(), known.end(), operation)) continue;
    return FieldError(before + "operations",
                      "unknown S3 operation '" + operation +
                          "': expected a name such as GetObject or UploadPart, or \"\" for "
                          "requests that are not S3 operations");
  }
  if (filter.method && !IsMethod(*filter.method)) {
    return FieldError(before + "method", "invalid method '" + *filter.method +
                                             "': expected GET, HEAD, PUT, POST or DELETE");
  }
  if (filter.status && !IsStatus(*filter.status)) {
    return FieldError(before + "status", "invalid status '" + std::to_string(*filter.status) +
                                             "': expected a status such as 503, a class from 1 to "
                                             "5, or 0 for requests without a response");
  }
  if (filter.key && filter.key_prefix && !filter.key->starts_with(*filter.key_prefix)) {
    return FieldError(before + "key_prefix", "'" + *filter.key_prefix +
                                                 "' is not a prefix of the key '" + *filter.key +
                                                 "'; set only one of them");
  }
  return Ok();
}

void RequireFilter(const JournalFilter& filter) {
  const Result<void> checked = CheckFilter(filter, "JournalFilter");
  if (!checked.ok()) CheckFailed(checked.error().message.c_str(), __FILE__, __LINE__);
}

}  // namespace penstock::emulator::journal

namespace penstock::emulator {

Result<void> CheckJournalFilter(const JournalFilter& filter) {
  return journal::CheckFilter(filter, "");
}

}  // namespace penstock::emulator
