// SSE-C: the key that a client sends with every request about an object's bytes (spec/protocol.md
// §8, last paragraph).
//
// The key is checked and forgotten. What stays is a random salt and an HMAC of the key under it.
#ifndef PENSTOCK_EMULATOR_S3_ENCRYPTION_CUSTOMER_KEY_H_
#define PENSTOCK_EMULATOR_S3_ENCRYPTION_CUSTOMER_KEY_H_

#include <optional>
#include <string>

#include "emulator/s3/core/call.h"
#include "emulator/s3/encryption/encryption.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// For a write: the request's customer key as an Encryption of kind kCustomer; nullopt when it sends
// none of the three headers; S3's refusal when they do not fit together.
Result<std::optional<Encryption>> ReadCustomerKey(const Call& call);

// For a read: the key must be there exactly when the object was stored with one, and be that one.
// Fills in what the answer echoes. Costs nothing where neither side knows of a key.
Result<void> CheckObjectKey(const Call& call, Encryption& stored);
// The same for a copy's source and its own three headers.
Result<void> CheckSourceKey(const Call& call, const store::ObjectRecord& source);
// For a part: the key of the upload.
Result<void> CheckUploadKey(const Call& call, Encryption& upload);
// For Complete and ListParts, which may carry the key but need not.
Result<void> CheckOptionalUploadKey(const Call& call, Encryption& upload);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ENCRYPTION_CUSTOMER_KEY_H_
