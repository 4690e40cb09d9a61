#include "emulator/s3/encryption/encryption.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/core/strict.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using enum EncryptionKind;

constexpr std::string_view kSourcePrefix = "x-amz-copy-source-server-side-encryption-customer-";

// Stored attributes. The leading ':' marks them as internal (metadata.h).
constexpr std::string_view kKind = ":sse";
constexpr std::string_view kKmsKey = ":sse-kms-key";
constexpr std::string_view kContext = ":sse-context";
constexpr std::string_view kBucketKey = ":sse-bucket-key";
constexpr std::string_view kProof = ":sse-customer";

// Operations that accept all encryption headers, operations that accept the customer key, and
// operations with a copy source (Amazon S3 API Reference).
constexpr std::string_view kOperationsWithEncryption[] = {
    "CreateSession", "PutObject", "PostObject", "CopyObject", "CreateMultipartUpload"};
constexpr std::string_view kOperationsWithCustomerKey[] = {
    "PutObject",  "PostObject",          "CopyObject", "CreateMultipartUpload",
    "UploadPart", "UploadPartCopy",      "GetObject",  "CompleteMultipartUpload",
    "HeadObject", "GetObjectAttributes", "ListParts"};
constexpr std::string_view kOperationsWithCopySource[] = {"CopyObject", "UploadPartCopy"};

template <std::size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool AcceptsHeader(std::string_view operation, std::string_view header) {
  if (StartsWithIgnoreCase(header, kSourcePrefix))
    return Contains(kOperationsWithCopySource, operation);
  if (!StartsWithIgnoreCase(header, kEncryptionHeader)) return true;
  if (StartsWithIgnoreCase(header.substr(kEncryptionHeader.size()), "-customer-"))
    return Contains(kOperationsWithCustomerKey, operation);
  return Contains(kOperationsWithEncryption, operation);
}

Error NotFound(std::string message) {
  return MakeError("KMS.NotFoundException", {}, std::move(message));
}

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

// 8-4-4-4-12 hexadecimal digits, or "mrk-" and 32 hexadecimal digits.
bool IsKeyId(std::string_view id) {
  if (id.starts_with("mrk-")) return id.size() == 36 && IsHex(id.substr(4));
  if (id.size() != 36) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? id[i] != '-' : !IsHex(id.substr(i, 1))) return false;
  }
  return true;
}

// The key id of an alias is derived from the alias, so that it never changes.
std::string KeyIdOfAlias(std::string_view account, std::string_view alias) {
  const std::string text = std::string(account) + "/" + std::string(alias);
  const Sha256Digest digest = Sha256(AsBytes(text));
  const std::string hex = HexEncode(ByteView(digest).first(16));
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

// Splits "arn:aws:kms:us-east-1:123456789012:key/..." at its colons.
Result<std::string> KeyOfArn(const Call& call, std::string_view arn) {
  std::array<std::string_view, 6> fields;
  std::string_view rest = arn;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto colon = i + 1 < fields.size() ? rest.find(':') : std::string_view::npos;
    fields[i] = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  const auto& [scheme, partition, service, region, account, resource] = fields;
  if (service != "kms" || account.size() != 12 || !IsHex(account)) return NotFound("Invalid arn");
  if (region != call.options.region) return NotFound("Invalid arn " + std::string(region));
  if (resource.starts_with("key/") && IsKeyId(resource.substr(4))) return std::string(arn);
  if (!resource.starts_with("alias/")) return NotFound("Invalid arn");
  return "arn:" + std::string(partition) + ":kms:" + std::string(region) + ":" +
         std::string(account) + ":key/" + KeyIdOfAlias(account, resource);
}

}  // namespace

void StoreEncryption(const Encryption& encryption, store::Attributes& attributes) {
  switch (encryption.kind) {
    case kS3: return;
    case kCustomer:
      attributes.emplace_back(kKind, "customer");
      attributes.emplace_back(kProof, encryption.customer_key_proof);
      return;
    case kKms:
    case kKmsDual: break;
  }
  attributes.emplace_back(kKind, encryption.kind == kKms ? kKmsName : kKmsDualName);
  attributes.emplace_back(kKmsKey, encryption.kms_key_arn);
  if (!encryption.kms_context.empty()) attributes.emplace_back(kContext, encryption.kms_context);
  if (encryption.bucket_key) attributes.emplace_back(kBucketKey, "true");
}

Encryption StoredEncryption(const store::Attributes& attributes) {
  Encryption encryption;
  for (const auto& [name, value] : attributes) {
    if (!IsEncryptionAttribute(name)) continue;
    if (name == kKind)
      encryption.kind = value == kKmsName ? kKms : value == kKmsDualName ? kKmsDual : kCustomer;
    if (name == kKmsKey) encryption.kms_key_arn = value;
    if (name == kContext) encryption.kms_context = value;
    if (name == kBucketKey) encryption.bucket_key = true;
    if (name == kProof) encryption.customer_key_proof = value;
  }
  return encryption;
}

bool IsEncryptionAttribute(std::string_view name) { return name.starts_with(kKind); }

void AddEncryptionHeaders(Call& call, const Encryption& encryption) {
  Response& response = call.response();
  switch (encryption.kind) {
    case kS3: response.Add(std::string(kEncryptionHeader), "AES256"); return;
    case kCustomer:
      response.Add(std::string(kCustomerAlgorithmHeader), "AES256");
      response.Add(std::string(kCustomerKeyMd5Header), encryption.customer_key_md5);
      return;
    case kKms:
    case kKmsDual: break;
  }
  response.Add(std::string(kEncryptionHeader),
               std::string(encryption.kind == kKms ? kKmsName : kKmsDualName));
  response.Add(std::string(kKmsKeyHeader), encryption.kms_key_arn);
  if (encryption.bucket_key) response.Add(std::string(kBucketKeyHeader), "true");
}

void AddContextHeader(Call& call, const Encryption& encryption) {
  if (encryption.kms_context.empty()) return;
  call.response().Add(std::string(kKmsContextHeader), encryption.kms_context);
}

Result<void> RefuseMisplacedEncryption(const Call& call, std::string_view operation) {
  const auto check = [&](std::string_view name, std::string_view value) -> Result<void> {
    if (AcceptsHeader(operation, name)) return Ok();
    // The value may be a customer key, so the error does not contain it.
    const bool secret = name.ends_with('y') || name.ends_with('Y');
    return InvalidArgument(AsciiLower(name) + " header is not supported for this operation.",
                           AsciiLower(name), secret ? std::string_view("null") : value);
  };
  for (const HeaderView& header : call.exchange.request.headers)
    PENSTOCK_TRY(check(header.name, header.value));
  if (!call.presigned) return Ok();
  for (const QueryParameter& parameter : call.exchange.target.query) {
    if (IsHeaderInQuery(parameter.name)) PENSTOCK_TRY(check(parameter.name, parameter.value));
  }
  return Ok();
}

Result<std::string> KmsKeyArn(const Call& call, std::string_view id) {
  if (id.starts_with("arn:")) return KeyOfArn(call, id);
  const std::string& account = call.exchange.identity.account_id;
  const std::string prefix = "arn:aws:kms:" + call.options.region + ":" + account + ":key/";
  if (IsKeyId(id)) return prefix + std::string(id);
  if (id.empty()) return prefix + KeyIdOfAlias(account, "alias/aws/s3");
  if (id.starts_with("alias/") && id.size() > 6) return prefix + KeyIdOfAlias(account, id);
  return NotFound("Invalid keyId '" + std::string(id) + "'");
}

ETag OpaqueETag() {
  std::array<std::byte, 16> random;
  RandomBytes(random);
  return ETag(HexEncode(random));
}

}  // namespace penstock::emulator::s3
