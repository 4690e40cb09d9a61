// Request targets without what must not be read later: signatures and session tokens of presigned URLs.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_TARGET_SECRETS_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_TARGET_SECRETS_H_

#include <string>
#include <string_view>

namespace penstock::emulator::instruments {

// `target` with "***" in place of the values of signatures, tokens and customer keys in its query; the rest stays as sent. A
// view of `target` where it has none, otherwise of `scratch`.
std::string_view WithoutSecrets(std::string_view target, std::string& scratch);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_TARGET_SECRETS_H_
