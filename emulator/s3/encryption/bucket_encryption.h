// The default encryption of a bucket: the sub-resource `encryption` and its effect on new objects.
#ifndef PENSTOCK_EMULATOR_S3_ENCRYPTION_BUCKET_ENCRYPTION_H_
#define PENSTOCK_EMULATOR_S3_ENCRYPTION_BUCKET_ENCRYPTION_H_

#include <string>
#include <string_view>

#include "emulator/s3/encryption/encryption.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct BucketEncryption {
  EncryptionKind kind = EncryptionKind::kS3;  // Never kCustomer.
  std::string kms_key_id;                     // As configured. Empty: the account's aws/s3 key.
  bool bucket_key = false;
  bool blocks_configured = false;      // The document has BlockedEncryptionTypes.
  bool customer_keys_blocked = false;  // Writes with SSE-C are refused.
};

// Returns SSE-S3 if nothing is configured. Reads only the record in memory.
BucketEncryption EncryptionOfBucket(const store::BucketRecord& bucket);

// True if a default encryption was configured explicitly.
bool HasOwnEncryption(const store::BucketRecord& bucket);

// Parses a <ServerSideEncryptionConfiguration> document, or returns S3's error.
Result<BucketEncryption> ParseBucketEncryption(std::string_view document);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ENCRYPTION_BUCKET_ENCRYPTION_H_
