// ReadEncryption: determines the encryption of a new object or upload.
#include <optional>
#include <string>

#include "base/encoding.h"
#include "emulator/s3/encryption/bucket_encryption.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/encryption/encryption.h"
#include "emulator/s3/encryption/json_map.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using enum EncryptionKind;

Error CustomerKeysBlocked(const Call& call) {
  const Identity& identity = call.exchange.identity;
  return MakeError(
      "AccessDenied", {},
      "User: arn:aws:iam::" + identity.account_id + ":user/" + identity.display_name +
          " is not authorized to perform: s3:PutObject on resource: \"arn:aws:s3:::" +
          call.bucket().value + "/" + call.key().value +
          "\" because this bucket has blocked upload requests that specify Server Side Encryption "
          "with "
          "Customer provided keys (SSE-C). Please specify a different server-side encryption type");
}

Result<std::string> ReadContext(const Call& call) {
  const auto header = call.Header(kKmsContextHeader);
  if (!header) return std::string();
  const auto json = Base64Decode(*header);
  if (json && IsJsonStringMap(*json)) return std::string(*header);
  return InvalidArgument(
      "The header 'x-amz-server-side-encryption-context' shall be Base64-encoded UTF-8 string "
      "holding "
      "JSON which represents a string-string map",
      kKmsContextHeader, *header);
}

Result<std::optional<bool>> ReadBucketKey(const Call& call) {
  const auto header = call.Header(kBucketKeyHeader);
  if (!header) return std::optional<bool>();
  if (EqualsIgnoreCase(*header, "true")) return std::optional<bool>(true);
  if (EqualsIgnoreCase(*header, "false")) return std::optional<bool>(false);
  return InvalidArgument("The value of this header must be 'true' or 'false'", kBucketKeyHeader,
                         *header);
}

Result<Encryption> DefaultEncryption(const Call& call, const BucketEncryption& fallback) {
  Encryption encryption;
  encryption.kind = fallback.kind;
  if (fallback.kind == kS3) return encryption;
  PENSTOCK_ASSIGN(encryption.kms_key_arn, KmsKeyArn(call, fallback.kms_key_id));
  encryption.bucket_key = fallback.bucket_key && fallback.kind == kKms;
  return encryption;
}

// `algorithm`: one of the two KMS algorithms.
Result<Encryption> KmsEncryption(const Call& call, std::string_view algorithm,
                                 const BucketEncryption& fallback) {
  Encryption encryption;
  encryption.kind = algorithm == kKmsName ? kKms : kKmsDual;
  PENSTOCK_ASSIGN(encryption.kms_key_arn, KmsKeyArn(call, call.Header(kKmsKeyHeader).value_or("")));
  PENSTOCK_ASSIGN(encryption.kms_context, ReadContext(call));
  PENSTOCK_ASSIGN(const std::optional<bool> bucket_key, ReadBucketKey(call));
  // DSSE-KMS does not support bucket keys.
  encryption.bucket_key = encryption.kind == kKms && bucket_key.value_or(fallback.bucket_key);
  return encryption;
}

Result<void> RefuseKmsHeaders(const Call& call) {
  if (!call.Header(kKmsKeyHeader) && !call.Header(kKmsContextHeader)) return Ok();
  return InvalidArgument(
      "Server Side Encryption with AWS KMS managed key requires HTTP header "
      "x-amz-server-side-encryption : aws:kms",
      kEncryptionHeader, call.Header(kEncryptionHeader).value_or("null"));
}

// Writes in a session use the session's encryption. Headers may only repeat it.
Result<Encryption> SessionEncryption(const Call& call, const DirectorySession& session) {
  const auto same = [&](std::string_view header, const std::string& value) {
    const auto sent = call.Header(header);
    return !sent || *sent == value;
  };
  if (!same(kEncryptionHeader, session.encryption) || !same(kKmsKeyHeader, session.kms_key_id) ||
      !same(kKmsContextHeader, session.kms_context)) {
    return InvalidRequest(
        "The server-side encryption headers must match those of the session, or be absent.");
  }
  Encryption encryption;
  if (session.encryption != kKmsName) return encryption;
  encryption.kind = kKms;
  PENSTOCK_ASSIGN(encryption.kms_key_arn, KmsKeyArn(call, session.kms_key_id));
  encryption.kms_context = session.kms_context;
  encryption.bucket_key = true;
  return encryption;
}

}  // namespace

Result<Encryption> ReadEncryption(const Call& call, const store::BucketRecord& bucket) {
  if (const auto& session = call.exchange.identity.session;
      session && !session->encryption.empty()) {
    return SessionEncryption(call, *session);
  }
  const BucketEncryption fallback = EncryptionOfBucket(bucket);
  if (!call.families.encryption) return DefaultEncryption(call, fallback);
  const auto algorithm = call.Header(kEncryptionHeader);
  if (algorithm && (call.Header(kCustomerAlgorithmHeader) || call.Header(kCustomerKeyHeader))) {
    return InvalidArgument(
        "Server Side Encryption with Customer provided key is incompatible with the encryption "
        "method specified",
        kEncryptionHeader, *algorithm);
  }
  PENSTOCK_ASSIGN(std::optional<Encryption> customer, ReadCustomerKey(call));
  if (customer) {
    if (fallback.customer_keys_blocked) return CustomerKeysBlocked(call);
    return std::move(*customer);
  }
  if (algorithm && (*algorithm == kKmsName || *algorithm == kKmsDualName)) {
    return KmsEncryption(call, *algorithm, fallback);
  }
  if (algorithm && algorithm->empty()) {
    return InvalidArgument("The encryption method specified is not supported", kEncryptionHeader,
                           *algorithm);
  }
  if (algorithm && *algorithm != "AES256") {
    return MakeError("InvalidEncryptionAlgorithmError",
                     {{"ArgumentName", std::string(kEncryptionHeader)},
                      {"ArgumentValue", std::string(*algorithm)}});
  }
  PENSTOCK_TRY(RefuseKmsHeaders(call));
  PENSTOCK_ASSIGN(const std::optional<bool> bucket_key, ReadBucketKey(call));
  if (algorithm) return Encryption{};
  PENSTOCK_ASSIGN(Encryption encryption, DefaultEncryption(call, fallback));
  if (bucket_key && encryption.kind == kKms) encryption.bucket_key = *bucket_key;
  return encryption;
}

}  // namespace penstock::emulator::s3
