// Removes secrets from texts that a client chose: signatures, tokens and customer keys.
#ifndef PENSTOCK_EMULATOR_JOURNAL_TARGET_SECRETS_H_
#define PENSTOCK_EMULATOR_JOURNAL_TARGET_SECRETS_H_

#include <string>
#include <string_view>

namespace penstock::emulator::journal {

// Returns `text`, for example a request target, with "***" instead of each value of a secret
// parameter and of URL user information. Parameter names match anywhere, in any case, and with any
// percent-encoding. Returns a view of `text` if it has no secret, otherwise of `scratch`.
std::string_view WithoutSecrets(std::string_view text, std::string& scratch);
// The same for texts that may contain headers or JSON, for example a user agent.
std::string_view FreeTextWithoutSecrets(std::string_view text, std::string& scratch);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_TARGET_SECRETS_H_
