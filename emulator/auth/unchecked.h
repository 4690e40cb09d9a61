// Mode::kOff: admission without checking claims.
#ifndef PENSTOCK_EMULATOR_AUTH_UNCHECKED_H_
#define PENSTOCK_EMULATOR_AUTH_UNCHECKED_H_

#include "emulator/auth/verifier.h"

namespace penstock::emulator::auth {

// Admits the request as the default identity in the default namespace. Sets signing_region to the
// region of the claim, else of the host, so that bucket regions keep their meaning, and
// signature.version. Removes signature parameters that would be read as sub-resources from
// exchange.target.query. Returns an error for a streaming body with unknown framing.
Result<Admission> AdmitUnchecked(s3::Exchange& exchange, const AuthOptions& options,
                                 const Directory& directory);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_UNCHECKED_H_
