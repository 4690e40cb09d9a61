// How a request to the emulator was signed, and what authentication decided about the signature.
#ifndef PENSTOCK_REQUEST_SIGNATURE_H_
#define PENSTOCK_REQUEST_SIGNATURE_H_

#include <cstdint>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {
namespace emulator {

enum class SignatureVersion : std::uint8_t {
  kNone,       // unsigned, or refused before the signature was looked at
  kV4,         // in the Authorization header
  kV4Query,    // in a presigned URL
  kV4Chunked,  // kV4, and the chunks of the body are signed too
  kV4Form,     // in a form of a browser
  kV2,         // Signature Version 2
  kV2Query,
  kV2Form,
};

enum class SignatureVerdict : std::uint8_t {
  kUnverified,  // no signature, or it was not checked (AuthMode)
  kValid,
  kInvalid,  // authentication refused the request; its error code has the reason
};

struct RequestSignature {
  SignatureVersion version = SignatureVersion::kNone;
  SignatureVerdict verdict = SignatureVerdict::kUnverified;
};

}  // namespace emulator
}  // namespace penstock

#endif  // PENSTOCK_REQUEST_SIGNATURE_H_
