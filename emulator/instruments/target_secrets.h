// Texts that a client chose, without what must not be read later: signatures, tokens and customer
// keys.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_TARGET_SECRETS_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_TARGET_SECRETS_H_

#include <string>
#include <string_view>

namespace penstock::emulator::instruments {

// `text`, for example a request target, with "***" in place of each value behind the name of a
// secret and of the user information of a URL. A name counts anywhere in the text, in any case of
// letters and however it is percent-encoded. The rest stays as sent. A view of `text` where it has
// no secret, otherwise of `scratch`.
std::string_view WithoutSecrets(std::string_view text, std::string& scratch);
// The same for texts in which headers or JSON may stand, for example a user agent.
std::string_view FreeTextWithoutSecrets(std::string_view text, std::string& scratch);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_TARGET_SECRETS_H_
