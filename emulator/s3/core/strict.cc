#include "emulator/s3/core/strict.h"

#include <string>

#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kPrefix = "x-amz-";
constexpr std::size_t kMaxHeaderSectionBytes = 8192;
constexpr std::size_t kHeaderLineExtra = 4;  // ": " and the end of the line.

enum class Family {
  kNone,
  kEncryption,
  kAcl,
  kObjectLock,
  kCopySource,
  kChecksum,
  kBucket,
  kDirectory
};
using enum Family;

struct KnownHeader {
  std::string_view name;  // Without the prefix "x-amz-".
  Family family = kNone;
};

// The headers that every request may have come first.
constexpr KnownHeader kHeaders[] = {
    {"date"},
    {"content-sha256"},
    {"security-token"},
    {"s3session-token"},
    {"user-agent"},
    {"checksum-mode"},
    // Integrity. Unlisted checksum-* headers are also accepted here and checked in
    // checksum_claims.cc.
    {"sdk-checksum-algorithm", kChecksum},
    {"trailer", kChecksum},
    {"decoded-content-length"},
    {"checksum-algorithm"},
    {"checksum-type"},
    // Requester and payer. MFA Delete cannot be enabled (versioning.cc), so x-amz-mfa has no
    // effect.
    {"expected-bucket-owner"},
    {"source-expected-bucket-owner"},
    {"request-payer"},
    {"api-version"},
    {"mfa"},
    // Properties of the object. The code that reads them checks the values.
    {"acl", kAcl},
    {"storage-class"},
    {"tagging"},
    {"website-redirect-location"},
    // Copies.
    {"copy-source", kCopySource},
    {"copy-source-range", kCopySource},
    {"copy-source-if-match", kCopySource},
    {"copy-source-if-none-match", kCopySource},
    {"copy-source-if-modified-since", kCopySource},
    {"copy-source-if-unmodified-since", kCopySource},
    {"metadata-directive"},
    {"tagging-directive"},
    // Single operations.
    {"mp-object-size"},
    {"object-attributes"},
    {"max-parts"},
    {"part-number-marker"},
    {"optional-object-attributes"},
    // Directory buckets only (directory_rules.cc).
    {"create-session-mode", kDirectory},
    {"write-offset-bytes", kDirectory},
    {"if-match-size", kDirectory},
    {"if-match-last-modified-time", kDirectory},
    {"if-match-initiated-time", kDirectory},
    {"rename-source", kDirectory},
    {"rename-source-if-match", kDirectory},
    {"rename-source-if-none-match", kDirectory},
    {"rename-source-if-modified-since", kDirectory},
    {"rename-source-if-unmodified-since", kDirectory},
    {"client-token", kDirectory},
    // For one or two bucket operations each (kBucketHeaders).
    {"object-ownership", kBucket},
    {"bucket-object-lock-enabled", kBucket},
    {"bucket-namespace", kBucket},
    {"bucket-object-lock-token", kBucket},
    {"transition-default-minimum-object-size", kBucket},
    {"skip-destination-validation", kBucket},
    {"confirm-remove-self-bucket-access", kBucket},
    // Refused by the code of their family for operations that do not accept them.
    {"server-side-encryption", kEncryption},
    {"server-side-encryption-aws-kms-key-id", kEncryption},
    {"server-side-encryption-context", kEncryption},
    {"server-side-encryption-bucket-key-enabled", kEncryption},
    {"server-side-encryption-customer-algorithm", kEncryption},
    {"server-side-encryption-customer-key", kEncryption},
    {"server-side-encryption-customer-key-md5", kEncryption},
    {"copy-source-server-side-encryption-customer-algorithm", kEncryption},
    {"copy-source-server-side-encryption-customer-key", kEncryption},
    {"copy-source-server-side-encryption-customer-key-md5", kEncryption},
    {"grant-full-control", kAcl},
    {"grant-read", kAcl},
    {"grant-read-acp", kAcl},
    {"grant-write", kAcl},
    {"grant-write-acp", kAcl},
    {"object-lock-mode", kObjectLock},
    {"object-lock-retain-until-date", kObjectLock},
    {"object-lock-legal-hold", kObjectLock},
    {"bypass-governance-retention", kObjectLock}};

struct BucketHeader {
  std::string_view name;
  std::string_view operation;
  std::string_view other_operation = {};
};
constexpr BucketHeader kBucketHeaders[] = {
    {"x-amz-object-ownership", "CreateBucket"},
    {"x-amz-bucket-object-lock-enabled", "CreateBucket"},
    {"x-amz-bucket-namespace", "CreateBucket"},
    {"x-amz-bucket-object-lock-token", "PutObjectLockConfiguration", "PutBucketReplication"},
    {"x-amz-transition-default-minimum-object-size", "PutBucketLifecycleConfiguration"},
    {"x-amz-skip-destination-validation", "PutBucketNotificationConfiguration"},
    {"x-amz-confirm-remove-self-bucket-access", "PutBucketPolicy"}};

// Parameters of query authentication, without the prefix "X-Amz-".
constexpr std::string_view kPresign[] = {"algorithm", "credential", "expires", "signedheaders",
                                         "signature"};

template <std::size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  for (const std::string_view known : names) {
    if (known.size() == name.size() && EqualsIgnoreCase(known, name)) return true;
  }
  return false;
}

// Records the family of a header. Returns false if the header is unknown.
bool RecordFamily(std::string_view name, HeaderFamilies& families) {
  const std::string_view rest = name.substr(kPrefix.size());
  if (StartsWithIgnoreCase(rest, "meta-")) return families.metadata = true;
  for (const KnownHeader& known : kHeaders) {
    if (known.name.size() != rest.size() || !EqualsIgnoreCase(known.name, rest)) continue;
    families.encryption = families.encryption || known.family == kEncryption;
    families.acl = families.acl || known.family == kAcl;
    families.object_lock = families.object_lock || known.family == kObjectLock;
    families.copy_source = families.copy_source || known.family == kCopySource;
    families.checksum = families.checksum || known.family == kChecksum;
    families.bucket = families.bucket || known.family == kBucket;
    families.directory = families.directory || known.family == kDirectory;
    return true;
  }
  if (!StartsWithIgnoreCase(rest, "checksum-")) return false;
  return families.checksum = true;
}

}  // namespace

bool IsHeaderInQuery(std::string_view name) {
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         !EqualsIgnoreCase(name, "x-amz-tagging") &&
         !EqualsIgnoreCase(name, "x-amz-server-side-encryption-context");
}

Result<HeaderFamilies> RefuseUnknown(const RequestHead& request, const Target& target,
                                     bool presigned) {
  HeaderFamilies families;
  std::size_t section_bytes = 0;
  for (const HeaderView& header : request.headers) {
    section_bytes += header.name.size() + header.value.size() + kHeaderLineExtra;
    if (StartsWithIgnoreCase(header.name, kPrefix) && !RecordFamily(header.name, families)) {
      return NotImplementedHeader(header.name);
    }
  }
  if (section_bytes > kMaxHeaderSectionBytes) {
    return MakeError("RequestHeaderSectionTooLarge",
                     {{"MaxSizeAllowed", std::to_string(kMaxHeaderSectionBytes)}});
  }
  if (!presigned) return families;
  for (const QueryParameter& parameter : target.query) {
    if (!StartsWithIgnoreCase(parameter.name, kPrefix)) continue;
    const std::string_view rest = std::string_view(parameter.name).substr(kPrefix.size());
    HeaderFamilies ignored;
    HeaderFamilies& recorded = IsHeaderInQuery(parameter.name) ? families : ignored;
    const bool known = Contains(kPresign, rest) || RecordFamily(parameter.name, recorded);
    if (!known || ignored.directory) return NotImplementedHeader(parameter.name);
  }
  return families;
}

Result<void> RefuseMisplacedBucketHeader(const RequestHead& request, std::string_view operation) {
  for (const BucketHeader& header : kBucketHeaders) {
    const bool has_place = header.operation == operation || header.other_operation == operation;
    if (!has_place && request.Find(header.name)) return NotImplementedHeader(header.name);
  }
  return Ok();
}

}  // namespace penstock::emulator::s3
