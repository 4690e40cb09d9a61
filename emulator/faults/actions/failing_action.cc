#include "emulator/faults/actions/failing_action.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace penstock::emulator::faults {
namespace {

bool IsRetried(const ErrorAction& error) {
  constexpr int kRequestTimeout = 408;
  constexpr int kTooManyRequests = 429;
  constexpr int kLeastOfServers = 500;
  constexpr std::array<std::string_view, 7> kCodes{"ConditionalRequestConflict",
                                                   "ExpiredToken",
                                                   "OperationAborted",
                                                   "RequestTimeTooSkewed",
                                                   "RequestTimeout",
                                                   "SlowDown",
                                                   "Throttling"};
  return error.status >= kLeastOfServers || error.status == kRequestTimeout ||
         error.status == kTooManyRequests ||
         std::find(kCodes.begin(), kCodes.end(), error.code) != kCodes.end();
}

}  // namespace

bool FailsAttempt(const Action& action) {
  if (const auto* error = std::get_if<ErrorAction>(&action)) return IsRetried(*error);
  if (const auto* corrupt = std::get_if<CorruptAction>(&action)) return !corrupt->fix_checksum;
  if (const auto* expect = std::get_if<ContinueAction>(&action))
    return expect->kind == ContinueAction::Kind::kRefuse;
  return std::holds_alternative<LateErrorAction>(action) ||
         std::holds_alternative<DropAction>(action) ||
         std::holds_alternative<TruncateAction>(action) ||
         std::holds_alternative<RedirectAction>(action) ||
         std::holds_alternative<CredentialsAction>(action);
}

}  // namespace penstock::emulator::faults
