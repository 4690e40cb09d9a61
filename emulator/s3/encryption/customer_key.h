// SSE-C: the encryption key that a client sends with every request for an object's bytes.
//
// The key itself is not stored, only a random salt and an HMAC of the key.
#ifndef PENSTOCK_EMULATOR_S3_ENCRYPTION_CUSTOMER_KEY_H_
#define PENSTOCK_EMULATOR_S3_ENCRYPTION_CUSTOMER_KEY_H_

#include <optional>
#include <string>

#include "emulator/s3/core/call.h"
#include "emulator/s3/encryption/encryption.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// For a write: returns the customer key as an Encryption of kind kCustomer, nullopt without the
// three headers, or S3's error if they are inconsistent.
Result<std::optional<Encryption>> ReadCustomerKey(const Call& call);

// For a read: the request must have a key exactly if the object was stored with one, and the keys
// must match. Sets the fields that the response returns.
Result<void> CheckObjectKey(const Call& call, Encryption& stored);
// CheckObjectKey for the source of a copy, with its own three headers.
Result<void> CheckSourceKey(const Call& call, const store::ObjectRecord& source);
// For a part: the key must be that of the upload.
Result<void> CheckUploadKey(const Call& call, Encryption& upload);
// For CompleteMultipartUpload and ListParts, where the key is optional.
Result<void> CheckOptionalUploadKey(const Call& call, Encryption& upload);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ENCRYPTION_CUSTOMER_KEY_H_
