// GetBucketEncryption, PutBucketEncryption and DeleteBucketEncryption.
#include "emulator/s3/encryption/bucket_encryption.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

using enum EncryptionKind;

constexpr std::string_view kSubResource = "encryption";

std::string_view NameOf(EncryptionKind kind) {
  return kind == kS3 ? "AES256" : kind == kKms ? kKmsName : kKmsDualName;
}

std::optional<EncryptionKind> KindOf(std::string_view name) {
  for (const EncryptionKind kind : {kS3, kKms, kKmsDual}) {
    if (NameOf(kind) == name) return kind;
  }
  return std::nullopt;
}

// Returns the stored form, one line each: algorithm, key id, bucket key, blocked types. It is not
// XML, because every put of an object reads it.
std::string Pack(const BucketEncryption& encryption) {
  std::string packed(NameOf(encryption.kind));
  packed += '\n' + encryption.kms_key_id;
  packed += encryption.bucket_key ? "\ntrue" : "\nfalse";
  packed += !encryption.blocks_configured      ? "\n"
            : encryption.customer_keys_blocked ? "\nSSE-C"
                                               : "\nNONE";
  return packed;
}

BucketEncryption Unpack(std::string_view packed) {
  std::array<std::string_view, 4> lines;
  for (std::string_view& line : lines) {
    const auto end = packed.find('\n');
    line = packed.substr(0, end);
    packed = end == std::string_view::npos ? std::string_view() : packed.substr(end + 1);
  }
  BucketEncryption encryption;
  encryption.kind = KindOf(lines[0]).value_or(kS3);
  encryption.kms_key_id = lines[1];
  encryption.bucket_key = lines[2] == "true";
  encryption.blocks_configured = !lines[3].empty();
  encryption.customer_keys_blocked = lines[3] == "SSE-C";
  return encryption;
}

Result<void> ReadDefault(const Element* element, BucketEncryption& encryption) {
  if (element == nullptr) return Ok();
  const auto kind = KindOf(element->TextOf("SSEAlgorithm"));
  if (!kind) return MalformedXml();
  encryption.kind = *kind;
  encryption.kms_key_id = element->TextOf("KMSMasterKeyID");
  if (*kind != kS3 || encryption.kms_key_id.empty()) {
    return encryption.kms_key_id.find('\n') == std::string::npos ? Ok() : MalformedXml();
  }
  return MakeError("InvalidArgument", {{"ArgumentName", "ApplyServerSideEncryptionByDefault"}},
                   "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms "
                   "or aws:kms:dsse");
}

void ReadBlocked(const Element* element, BucketEncryption& encryption) {
  if (element == nullptr) return;
  encryption.blocks_configured = true;
  encryption.customer_keys_blocked =
      std::any_of(element->children.begin(), element->children.end(),
                  [](const Element& type) { return type.text == "SSE-C"; });
}

std::string Document(const BucketEncryption& encryption) {
  XmlWriter xml;
  xml.Open("ServerSideEncryptionConfiguration", kXmlNamespace);
  xml.Open("Rule");
  xml.Open("ApplyServerSideEncryptionByDefault");
  xml.Element("SSEAlgorithm", NameOf(encryption.kind));
  if (!encryption.kms_key_id.empty()) xml.Element("KMSMasterKeyID", encryption.kms_key_id);
  xml.Close("ApplyServerSideEncryptionByDefault");
  WriteFlag(xml, "BucketKeyEnabled", encryption.bucket_key);
  if (encryption.blocks_configured) {
    xml.Open("BlockedEncryptionTypes");
    xml.Element("EncryptionType", encryption.customer_keys_blocked ? "SSE-C" : "NONE");
    xml.Close("BlockedEncryptionTypes");
  }
  xml.Close("Rule");
  xml.Close("ServerSideEncryptionConfiguration");
  return xml.Take();
}

}  // namespace

BucketEncryption EncryptionOfBucket(const store::BucketRecord& bucket) {
  for (const auto& [name, packed] : bucket.configuration) {
    if (name == kSubResource) return Unpack(packed);
  }
  return {};
}

bool HasOwnEncryption(const store::BucketRecord& bucket) {
  return std::any_of(bucket.configuration.begin(), bucket.configuration.end(),
                     [](const auto& entry) { return entry.first == kSubResource; });
}

Result<BucketEncryption> ParseBucketEncryption(std::string_view text) {
  PENSTOCK_ASSIGN(const Element document, ReadBySchema(text, kEncryptionSchema));
  const Element& rule = *document.Find("Rule");
  const Element* by_default = rule.Find("ApplyServerSideEncryptionByDefault");
  const Element* blocked = rule.Find("BlockedEncryptionTypes");
  if (by_default == nullptr && blocked == nullptr) return MalformedXml();
  BucketEncryption encryption;
  PENSTOCK_TRY(ReadDefault(by_default, encryption));
  ReadBlocked(blocked, encryption);
  encryption.bucket_key = rule.TextOf("BucketKeyEnabled") == "true";
  return encryption;
}

Result<void> GetBucketEncryption(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  call.RespondXml(Document(EncryptionOfBucket(*bucket)));
  return Ok();
}

Result<void> PutBucketEncryption(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.require_checksum = true}));
  PENSTOCK_ASSIGN(BucketEncryption encryption, ParseBucketEncryption(text));
  // A document without blocked types leaves them unchanged (observed in
  // terraform-provider-aws#47320).
  if (const BucketEncryption before = EncryptionOfBucket(*bucket); !encryption.blocks_configured) {
    encryption.blocks_configured = before.blocks_configured;
    encryption.customer_keys_blocked = before.customer_keys_blocked;
  }
  return call.store.SetConfiguration(bucket->name, std::string(kSubResource), Pack(encryption));
}

Result<void> DeleteBucketEncryption(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_TRY(call.store.SetConfiguration(bucket->name, std::string(kSubResource), std::nullopt));
  call.response().status = 204;
  return Ok();
}

}  // namespace penstock::emulator::s3
