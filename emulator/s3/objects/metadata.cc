#include "emulator/s3/objects/metadata.h"

#include <algorithm>
#include <iterator>

#include "base/ascii.h"
#include "base/encoding.h"
#include "emulator/s3/access/acl.h"
#include "emulator/s3/core/strict.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/encoded_words.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/tags.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxUserMetadataBytes = 2048;
constexpr std::string_view kMetaPrefix = "x-amz-meta-";

constexpr std::size_t kMaxRedirectBytes = 2048;
constexpr std::string_view kRedirectPrefixes[] = {"/", "http://", "https://"};

constexpr std::string_view kContentHeaders[] = {"Content-Type",        "Cache-Control",
                                                "Content-Disposition", "Content-Language",
                                                "Content-Encoding",    "Expires"};

constexpr std::string_view kStorageClasses[] = {"STANDARD",   "REDUCED_REDUNDANCY",  "STANDARD_IA",
                                                "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER",
                                                "GLACIER_IR", "DEEP_ARCHIVE"};

// "aws-chunked,gzip" -> "gzip": aws-chunked is a transfer framing and is not stored. Other values
// are stored byte for byte.
std::string WithoutAwsChunked(std::string_view encoding) {
  const std::string_view whole = encoding;
  bool stripped = false;
  std::string kept;
  for (;;) {
    const auto comma = encoding.find(',');
    const std::string_view token = TrimBlanks(encoding.substr(0, comma));
    if (EqualsIgnoreCase(token, "aws-chunked")) {
      stripped = true;
    } else if (!token.empty()) {
      if (!kept.empty()) kept += ',';
      kept += token;
    }
    if (comma == std::string_view::npos) return stripped ? kept : std::string(whole);
    encoding.remove_prefix(comma + 1);
  }
}

Result<void> AddContentHeaders(const Call& call, store::Attributes& attributes) {
  for (const std::string_view name : kContentHeaders) {
    const auto value = call.Header(name);
    if (!value) continue;
    std::string stored =
        name == "Content-Encoding" ? WithoutAwsChunked(*value) : std::string(*value);
    if (!stored.empty()) attributes.emplace_back(name, std::move(stored));
  }
  const auto redirect = call.Header(kWebsiteRedirect);
  if (!redirect) return Ok();
  const bool starts =
      std::any_of(std::begin(kRedirectPrefixes), std::end(kRedirectPrefixes),
                  [&](std::string_view prefix) { return redirect->starts_with(prefix); });
  if (!starts) return MakeError("InvalidRedirectLocation");
  if (redirect->size() > kMaxRedirectBytes) {
    return MakeError("InvalidRedirectLocation", {},
                     "The length of website redirect location cannot exceed 2,048 characters.");
  }
  attributes.emplace_back(kWebsiteRedirect, *redirect);
  return Ok();
}

// Adds a user metadata header. Repeated headers become one value, joined by commas.
void AddUserHeader(store::Attributes& attributes, std::string_view name, std::string value) {
  if (!StartsWithIgnoreCase(name, kMetaPrefix)) return;
  std::string lower = AsciiLower(name);
  const auto same = std::find_if(attributes.begin(), attributes.end(),
                                 [&](const auto& entry) { return entry.first == lower; });
  if (same == attributes.end()) {
    attributes.emplace_back(std::move(lower), std::move(value));
  } else {
    same->second += "," + value;
  }
}

Result<void> AddUserMetadata(const Call& call, store::Attributes& attributes) {
  if (!call.families.metadata) return Ok();
  // Recorded against Amazon S3: the encoded words of a form's fields are kept.
  const bool verbatim = call.exchange.form != nullptr;
  for (const HeaderView& header : call.exchange.request.headers) {
    AddUserHeader(attributes, header.name,
                  verbatim ? std::string(header.value) : NormaliseMetadataValue(header.value));
  }
  if (call.presigned) {
    for (const QueryParameter& parameter : call.exchange.target.query) {
      if (!IsHeaderInQuery(parameter.name)) continue;
      // Authentication has already made it a header.
      if (call.exchange.request.Find(parameter.name)) continue;
      AddUserHeader(attributes, parameter.name,
                    NormaliseMetadataValue(EncodeMetadataText(parameter.value)));
    }
  }
  std::size_t bytes = 0;
  for (const auto& [name, value] : attributes) {
    if (name.starts_with(kMetaPrefix))
      bytes += name.size() - kMetaPrefix.size() + DecodedBytes(value);
  }
  if (bytes <= kMaxUserMetadataBytes) return Ok();
  return MakeError("MetadataTooLarge", {{"Size", std::to_string(bytes)},
                                        {"MaxSizeAllowed", std::to_string(kMaxUserMetadataBytes)}});
}

// Directory buckets have the single storage class of their zone.
Result<std::string> ReadExpressClass(const Call& call, const store::BucketRecord& bucket) {
  const bool local = IsLocalZone(ZoneOf(bucket.name.value).value_or(""));
  const auto name = call.Header("x-amz-storage-class");
  if (!name || *name == kExpressStorageClass || (local && *name == "ONEZONE_IA")) {
    return std::string(name.value_or(kExpressStorageClass));
  }
  return MakeError("InvalidStorageClass", {{"StorageClassRequested", std::string(*name)}});
}

Result<std::string> ReadStorageClass(const Call& call, const store::BucketRecord& bucket) {
  if (IsDirectoryBucket(bucket)) return ReadExpressClass(call, bucket);
  const auto name = call.Header("x-amz-storage-class");
  if (!name) return std::string("STANDARD");
  if (std::find(std::begin(kStorageClasses), std::end(kStorageClasses), *name) ==
      std::end(kStorageClasses)) {
    return MakeError("InvalidStorageClass", {{"StorageClassRequested", std::string(*name)}});
  }
  return std::string(*name);
}

}  // namespace

void StoreSettings(ObjectSettings& settings, store::Attributes& attributes) {
  StoreEncryption(settings.encryption, attributes);
  StoreObjectLock(settings.lock, attributes);
  StoreAcl(std::move(settings.acl), attributes);
}

Result<ObjectSettings> ReadObjectSettings(const Call& call, const store::BucketRecord& bucket) {
  ObjectSettings settings;
  if (call.families.acl) {
    PENSTOCK_ASSIGN(settings.acl, AclOfNewObject(call, bucket));
  }
  PENSTOCK_ASSIGN(settings.encryption, ReadEncryption(call, bucket));
  PENSTOCK_ASSIGN(settings.storage_class, ReadStorageClass(call, bucket));
  PENSTOCK_ASSIGN(settings.lock, ReadObjectLock(call, bucket));
  PENSTOCK_TRY(AddContentHeaders(call, settings.attributes));
  PENSTOCK_TRY(AddUserMetadata(call, settings.attributes));
  if (const auto tagging = call.Header("x-amz-tagging")) {
    PENSTOCK_ASSIGN(settings.tags, ParseTagHeader(*tagging));
  }
  return settings;
}

store::ObjectRecord NewObjectRecord(const Call& call, ObjectSettings& settings,
                                    const ChecksumClaim& claim, ReceivedBody body) {
  store::ObjectRecord record;
  record.key = call.key();
  record.owner_id = OwnerOfNewObject(call, *call.opened);
  record.size = body.size;
  record.etag = EtagIsMd5(*call.opened, settings.encryption) ? ETag(HexEncode(AsBytes(body.md5)))
                                                             : OpaqueETag();
  record.storage_class = std::move(settings.storage_class);
  record.checksum_algorithm =
      claim.info ? claim.info->name : InfoOf(ChecksumAlgorithm::kCrc64Nvme).name;
  record.checksum_type = kFullObject;
  record.checksum = claim.info ? std::move(body.claimed) : std::move(body.computed.front());
  record.attributes = std::move(settings.attributes);
  StoreSettings(settings, record.attributes);
  record.tags = std::move(settings.tags);
  record.content = std::move(body.content);
  return record;
}

}  // namespace penstock::emulator::s3
