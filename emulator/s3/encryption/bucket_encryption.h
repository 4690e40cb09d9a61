// A bucket's default encryption: the `encryption` sub-resource and what it means for new objects.
#ifndef PENSTOCK_EMULATOR_S3_ENCRYPTION_BUCKET_ENCRYPTION_H_
#define PENSTOCK_EMULATOR_S3_ENCRYPTION_BUCKET_ENCRYPTION_H_

#include <string>
#include <string_view>

#include "emulator/s3/encryption/encryption.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct BucketEncryption {
  EncryptionKind kind = EncryptionKind::kS3;  // never kCustomer
  std::string kms_key_id;                     // as configured; empty: the account's aws/s3 key
  bool bucket_key = false;
  bool blocks_configured = false;      // the document names BlockedEncryptionTypes
  bool customer_keys_blocked = false;  // SSE-C writes are refused
};

// The default when nothing was put. Reads only the record in memory.
BucketEncryption EncryptionOfBucket(const store::BucketRecord& bucket);

// Somebody put a default encryption.
bool HasOwnEncryption(const store::BucketRecord& bucket);

// The <ServerSideEncryptionConfiguration> document, or S3's refusal.
Result<BucketEncryption> ParseBucketEncryption(std::string_view document);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ENCRYPTION_BUCKET_ENCRYPTION_H_
