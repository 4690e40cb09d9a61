// Mode::kOff: what is left of authentication when nobody's claims are looked at.
#ifndef PENSTOCK_EMULATOR_AUTH_UNCHECKED_H_
#define PENSTOCK_EMULATOR_AUTH_UNCHECKED_H_

#include "emulator/auth/verifier.h"

namespace penstock::emulator::auth {

// Admits the request as the default identity in the default namespace. signing_region becomes the
// one a claim names, else the host's, so that bucket regions keep their meaning. Parameters of a
// signature that would read as sub-resources leave exchange.target.query. Error: a streaming body
// whose framing is not understood.
Result<Admission> AdmitUnchecked(s3::Exchange& exchange, const AuthOptions& options,
                                 const Directory& directory);

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_UNCHECKED_H_
