#include "emulator/s3/encryption/customer_key.h"

#include <array>
#include <string_view>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSaltBytes = 16;

struct KeyHeaders {
  std::string_view algorithm;
  std::string_view key;
  std::string_view key_md5;
};
constexpr KeyHeaders kObject{kCustomerAlgorithmHeader, kCustomerKeyHeader, kCustomerKeyMd5Header};
constexpr KeyHeaders kSource{"x-amz-copy-source-server-side-encryption-customer-algorithm",
                             "x-amz-copy-source-server-side-encryption-customer-key",
                             "x-amz-copy-source-server-side-encryption-customer-key-MD5"};

struct SentKey {
  std::string raw;
  std::string md5;  // Base64.
};

Error Refuse(std::string message) {
  return MakeError("InvalidArgument", {{"ArgumentName", std::string(kEncryptionHeader)}},
                   std::move(message));
}

// Returns nullopt if all three headers are absent. The order of the checks was recorded against
// Amazon S3: algorithm, key, MD5. Callers check the length of the key, because reads accept any
// length.
Result<std::optional<SentKey>> ReadKey(const Call& call, const KeyHeaders& headers) {
  if (!call.families.encryption) return std::optional<SentKey>();
  const auto algorithm = call.Header(headers.algorithm);
  const auto key = call.Header(headers.key);
  const auto md5 = call.Header(headers.key_md5);
  if (!algorithm && !key && !md5) return std::optional<SentKey>();
  const std::string subject =
      "Requests specifying Server Side Encryption with Customer provided keys must provide ";
  if (!algorithm) return Refuse(subject + "a valid encryption algorithm.");
  if (!key) return Refuse(subject + "an appropriate secret key.");
  if (*algorithm != "AES256") {
    return MakeError("InvalidEncryptionAlgorithmError",
                     {{"ArgumentName", std::string(kEncryptionHeader)},
                      {"ArgumentValue", std::string(*algorithm)}});
  }
  if (!md5) return Refuse(subject + "the client calculated MD5 of the secret key.");
  auto raw = Base64Decode(*key);
  if (!raw) return Refuse("The secret key was invalid for the specified algorithm.");
  SentKey sent{std::move(*raw), std::string(*md5)};
  if (Base64Encode(Md5(AsBytes(sent.raw))) != sent.md5) {
    return Refuse("The calculated MD5 hash of the key did not match the hash that was provided.");
  }
  return std::optional<SentKey>(std::move(sent));
}

std::string ProofOf(std::string_view salt, std::string_view key) {
  return HexEncode(AsBytes(salt)) + HexEncode(HmacSha256(AsBytes(salt), AsBytes(key)));
}

std::string NewProof(std::string_view key) {
  std::array<std::byte, kSaltBytes> salt;
  RandomBytes(salt);
  return ProofOf(AsText(salt), key);
}

bool MatchesProof(std::string_view proof, std::string_view key) {
  const auto salt = HexDecode(proof.substr(0, 2 * kSaltBytes));
  return salt && ConstantTimeEqual(AsBytes(ProofOf(*salt, key)), AsBytes(proof));
}

Result<void> CheckStoredKey(const Encryption& stored, const std::optional<SentKey>& sent) {
  const bool required = stored.kind == EncryptionKind::kCustomer;
  if (!required && !sent) return Ok();
  if (!required)
    return InvalidRequest("The encryption parameters are not applicable to this object.");
  if (!sent) {
    return InvalidRequest(
        "The object was stored using a form of Server Side Encryption. The correct parameters must "
        "be provided to retrieve "
        "the object.");
  }
  if (MatchesProof(stored.customer_key_proof, sent->raw)) return Ok();
  return MakeError("AccessDenied", {},
                   "Requests specifying Server Side Encryption with Customer provided keys must "
                   "provide the correct secret "
                   "key.");
}

}  // namespace

Result<std::optional<Encryption>> ReadCustomerKey(const Call& call) {
  PENSTOCK_ASSIGN(std::optional<SentKey> sent, ReadKey(call, kObject));
  if (!sent) return std::optional<Encryption>();
  if (sent->raw.size() != kKeyBytes)
    return Refuse("The secret key was invalid for the specified algorithm.");
  Encryption encryption;
  encryption.kind = EncryptionKind::kCustomer;
  encryption.customer_key_proof = NewProof(sent->raw);
  encryption.customer_key_md5 = std::move(sent->md5);
  return std::optional<Encryption>(std::move(encryption));
}

Result<void> CheckObjectKey(const Call& call, Encryption& stored) {
  if (!call.families.encryption && stored.kind != EncryptionKind::kCustomer) return Ok();
  PENSTOCK_ASSIGN(std::optional<SentKey> sent, ReadKey(call, kObject));
  PENSTOCK_TRY(CheckStoredKey(stored, sent));
  if (sent) stored.customer_key_md5 = std::move(sent->md5);
  return Ok();
}

Result<void> CheckSourceKey(const Call& call, const store::ObjectRecord& source) {
  PENSTOCK_ASSIGN(const std::optional<SentKey> sent, ReadKey(call, kSource));
  return CheckStoredKey(StoredEncryption(source.attributes), sent);
}

Result<void> CheckOptionalUploadKey(const Call& call, Encryption& upload) {
  PENSTOCK_ASSIGN(std::optional<SentKey> sent, ReadKey(call, kObject));
  if (!sent) return Ok();
  return CheckUploadKey(call, upload);
}

Result<void> CheckUploadKey(const Call& call, Encryption& upload) {
  const bool required = upload.kind == EncryptionKind::kCustomer;
  if (!required && !call.families.encryption) return Ok();
  PENSTOCK_ASSIGN(std::optional<SentKey> sent, ReadKey(call, kObject));
  if (required != sent.has_value()) {
    return InvalidRequest(
        "The multipart upload initiate requested encryption. Subsequent part requests must include "
        "the appropriate "
        "encryption parameters.");
  }
  if (!sent) return Ok();
  if (!MatchesProof(upload.customer_key_proof, sent->raw)) {
    return InvalidRequest(
        "The provided encryption parameters did not match the ones used originally.");
  }
  upload.customer_key_md5 = std::move(sent->md5);
  return Ok();
}

}  // namespace penstock::emulator::s3
