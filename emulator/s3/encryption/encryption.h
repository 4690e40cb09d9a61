// Server-side encryption in requests, stored attributes and responses.
//
// The emulator does not encrypt: it only imitates the responses of SSE-S3, SSE-KMS, DSSE-KMS and
// SSE-C (docs/explanation/emulator/encryption-and-locks.md).
#ifndef PENSTOCK_EMULATOR_S3_ENCRYPTION_ENCRYPTION_H_
#define PENSTOCK_EMULATOR_S3_ENCRYPTION_ENCRYPTION_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr std::string_view kEncryptionHeader = "x-amz-server-side-encryption";
inline constexpr std::string_view kKmsKeyHeader = "x-amz-server-side-encryption-aws-kms-key-id";
inline constexpr std::string_view kKmsContextHeader = "x-amz-server-side-encryption-context";
inline constexpr std::string_view kBucketKeyHeader =
    "x-amz-server-side-encryption-bucket-key-enabled";
inline constexpr std::string_view kCustomerAlgorithmHeader =
    "x-amz-server-side-encryption-customer-algorithm";
inline constexpr std::string_view kCustomerKeyHeader = "x-amz-server-side-encryption-customer-key";
inline constexpr std::string_view kCustomerKeyMd5Header =
    "x-amz-server-side-encryption-customer-key-MD5";
inline constexpr std::string_view kKmsName = "aws:kms";
inline constexpr std::string_view kKmsDualName = "aws:kms:dsse";

enum class EncryptionKind { kS3, kKms, kKmsDual, kCustomer };

struct Encryption {
  EncryptionKind kind = EncryptionKind::kS3;
  std::string kms_key_arn;         // For kKms and kKmsDual.
  std::string kms_context;         // Base64 as sent. Empty: none.
  bool bucket_key = false;         // For kKms.
  std::string customer_key_proof;  // For kCustomer: salt and HMAC of the key, never the key.
  // For kCustomer: base64, from the request; returned in the response.
  std::string customer_key_md5;

  // The ETag is the MD5 of the bytes only with SSE-S3.
  bool etag_is_md5() const { return kind == EncryptionKind::kS3; }
};

// Returns the encryption of a write: from its headers, or else the bucket's default.
Result<Encryption> ReadEncryption(const Call& call, const store::BucketRecord& bucket);

// Adds the encryption in its stored form: internal attributes. SSE-S3 adds none.
void StoreEncryption(const Encryption& encryption, store::Attributes& attributes);
Encryption StoredEncryption(const store::Attributes& attributes);
bool IsEncryptionAttribute(std::string_view name);

// Adds x-amz-server-side-encryption and the related headers. Only Put, Copy and Create return the
// context.
void AddEncryptionHeaders(Call& call, const Encryption& encryption);
void AddContextHeader(Call& call, const Encryption& encryption);

// Returns InvalidArgument for x-amz-server-side-encryption* headers that `operation` does not
// accept. Call it only if the request has such headers.
Result<void> RefuseMisplacedEncryption(const Call& call, std::string_view operation);

// Returns the ARN of a KMS key, or KMS.NotFoundException. `id`: key id, ARN or alias; empty: the
// account's aws/s3 key. There is no KMS: every well-formed id is a key, and an alias always maps to
// the same key.
Result<std::string> KmsKeyArn(const Call& call, std::string_view id);

// Returns a random ETag, for objects and parts whose ETag is not the MD5 of their bytes.
ETag OpaqueETag();

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ENCRYPTION_ENCRYPTION_H_
