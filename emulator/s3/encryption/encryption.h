// Server-side encryption as S3's wire shows it: what a write asks for, what is remembered, what
// answers say.
//
// No byte is encrypted: the emulator plays the answers of SSE-S3, SSE-KMS, DSSE-KMS and SSE-C
// (docs/SEMANTICS.md).
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
  std::string kms_key_arn;         // kKms, kKmsDual
  std::string kms_context;         // base64 as sent; empty: none
  bool bucket_key = false;         // kKms
  std::string customer_key_proof;  // kCustomer: salt and HMAC of the key, never the key
  std::string customer_key_md5;    // kCustomer, base64: what the request sent and its answer echoes

  // Spec §2.5 "ETag": an object's ETag is the MD5 of its bytes under SSE-S3 alone.
  bool etag_is_md5() const { return kind == EncryptionKind::kS3; }
};

// What a write asks for: its headers (spec §8, last paragraph), else the bucket's default.
Result<Encryption> ReadEncryption(const Call& call, const store::BucketRecord& bucket);

// The stored form: internal attributes. SSE-S3 stores nothing.
void StoreEncryption(const Encryption& encryption, store::Attributes& attributes);
Encryption StoredEncryption(const store::Attributes& attributes);
bool IsEncryptionAttribute(std::string_view name);

// x-amz-server-side-encryption and what goes with it. The context is answered by Put, Copy and
// Create alone.
void AddEncryptionHeaders(Call& call, const Encryption& encryption);
void AddContextHeader(Call& call, const Encryption& encryption);

// InvalidArgument for x-amz-server-side-encryption* headers that `operation` has no use for. Only
// worth asking when the request carries any.
Result<void> RefuseMisplacedEncryption(const Call& call, std::string_view operation);

// The ARN of the key that `id` (key id, ARN, alias; empty: the account's aws/s3 key) names, or
// KMS.NotFoundException. There is no KMS: every well-formed id names a key, and an alias always the
// same one.
Result<std::string> KmsKeyArn(const Call& call, std::string_view id);

// A fresh ETag for objects and parts whose ETag is not the MD5 of their bytes.
ETag OpaqueETag();

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ENCRYPTION_ENCRYPTION_H_
