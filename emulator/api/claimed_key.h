// Whose access key a request says it was signed with.
#ifndef PENSTOCK_EMULATOR_API_CLAIMED_KEY_H_
#define PENSTOCK_EMULATOR_API_CLAIMED_KEY_H_

#include <string_view>

#include "emulator/api/exchange.h"

namespace penstock::emulator::api {

// As claimed by header or query, of either version of signatures; nothing is verified. Empty: none. A view into the
// arguments. A form's claim is in its body and not found.
std::string_view ClaimedAccessKey(const RequestHead& head, const Target& target);

}  // namespace penstock::emulator::api

#endif  // PENSTOCK_EMULATOR_API_CLAIMED_KEY_H_
