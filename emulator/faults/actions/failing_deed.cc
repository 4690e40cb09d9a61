#include "emulator/faults/actions/failing_deed.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace penstock::emulator::faults {
namespace {

bool IsRetried(const ErrorAction& error) {
  constexpr int kRequestTimeout = 408;
  constexpr int kTooManyRequests = 429;
  constexpr int kLeastOfServers = 500;
  constexpr std::array<std::string_view, 7> kCodes{"ConditionalRequestConflict", "ExpiredToken", "OperationAborted", "RequestTimeTooSkewed",
                                                   "RequestTimeout", "SlowDown", "Throttling"};
  return error.status >= kLeastOfServers || error.status == kRequestTimeout || error.status == kTooManyRequests ||
         std::find(kCodes.begin(), kCodes.end(), error.code) != kCodes.end();
}

}  // namespace

bool FailsAttempt(const Deed& deed) {
  if (const auto* error = std::get_if<ErrorAction>(&deed)) return IsRetried(*error);
  if (const auto* corrupt = std::get_if<CorruptAction>(&deed)) return !corrupt->fix_checksum;
  if (const auto* expect = std::get_if<ContinueAction>(&deed)) return expect->kind == ContinueAction::Kind::kRefuse;
  return std::holds_alternative<LateErrorAction>(deed) || std::holds_alternative<DropAction>(deed) ||
         std::holds_alternative<TruncateAction>(deed) || std::holds_alternative<RedirectAction>(deed) ||
         std::holds_alternative<CredentialsAction>(deed);
}

}  // namespace penstock::emulator::faults
