#include "emulator/s3/directory/directory_rules.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "emulator/s3/encryption/encryption.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

enum class Plane : std::uint8_t { kZonal, kControl };

struct ServedOperation {
  std::string_view operation;
  Plane plane;
  bool reads = false;  // Allowed in a ReadOnly session.
};

using enum Plane;

// The operations of directory buckets (Amazon S3 User Guide, "Directory bucket API operations").
// HeadBucket is allowed in ReadOnly sessions. OptionsObject is served and then refused, because
// there are no CORS rules.
constexpr ServedOperation kServed[] = {
    {"GetObject", kZonal, true},
    {"PutObject", kZonal},
    {"HeadObject", kZonal, true},
    {"DeleteObject", kZonal},
    {"ListObjectsV2", kZonal, true},
    {"UploadPart", kZonal},
    {"CreateSession", kZonal, true},
    {"HeadBucket", kZonal, true},
    {"DeleteObjects", kZonal},
    {"CopyObject", kZonal},
    {"RenameObject", kZonal},
    {"GetObjectAttributes", kZonal, true},
    {"CreateMultipartUpload", kZonal},
    {"UploadPartCopy", kZonal},
    {"CompleteMultipartUpload", kZonal},
    {"AbortMultipartUpload", kZonal},
    {"ListParts", kZonal, true},
    {"ListMultipartUploads", kZonal, true},
    {"OptionsObject", kZonal, true},
    {"CreateBucket", kControl},
    {"DeleteBucket", kControl},
    {"GetBucketPolicy", kControl},
    {"PutBucketPolicy", kControl},
    {"DeleteBucketPolicy", kControl},
    {"GetBucketEncryption", kControl},
    {"PutBucketEncryption", kControl},
    {"DeleteBucketEncryption", kControl},
    {"GetBucketLifecycleConfiguration", kControl},
    {"PutBucketLifecycleConfiguration", kControl},
    {"DeleteBucketLifecycle", kControl},
    {"GetBucketInventoryConfiguration", kControl},
    {"PutBucketInventoryConfiguration", kControl},
    {"DeleteBucketInventoryConfiguration", kControl},
    {"ListBucketInventoryConfigurations", kControl},
    {"GetBucketMetricsConfiguration", kControl},
    {"PutBucketMetricsConfiguration", kControl},
    {"DeleteBucketMetricsConfiguration", kControl},
    {"ListBucketMetricsConfigurations", kControl},
};

// Headers that directory buckets do not support in any operation.
constexpr std::string_view kRefusedHeaders[] = {
    "x-amz-tagging", "x-amz-website-redirect-location",  "x-amz-request-payer",
    "x-amz-mfa",     "x-amz-bucket-object-lock-enabled", "x-amz-bucket-namespace"};
constexpr std::string_view kCustomerKeyHeaders[] = {
    kCustomerAlgorithmHeader, kCustomerKeyHeader, kCustomerKeyMd5Header,
    "x-amz-copy-source-server-side-encryption-customer-algorithm"};

// Headers of a single operation of directory buckets.
struct DirectoryHeader {
  std::string_view name;
  std::string_view operation;
};
constexpr DirectoryHeader kDirectoryHeaders[] = {
    {"x-amz-create-session-mode", "CreateSession"},
    {"x-amz-write-offset-bytes", "PutObject"},
    {"x-amz-if-match-size", "DeleteObject"},
    {"x-amz-if-match-last-modified-time", "DeleteObject"},
    {"x-amz-if-match-initiated-time", "AbortMultipartUpload"},
    {"x-amz-rename-source", "RenameObject"},
    {"x-amz-rename-source-if-match", "RenameObject"},
    {"x-amz-rename-source-if-none-match", "RenameObject"},
    {"x-amz-rename-source-if-modified-since", "RenameObject"},
    {"x-amz-rename-source-if-unmodified-since", "RenameObject"},
    {"x-amz-client-token", "RenameObject"},
};

const ServedOperation* FindServed(std::string_view operation) {
  const auto* found =
      std::find_if(std::begin(kServed), std::end(kServed),
                   [&](const ServedOperation& row) { return row.operation == operation; });
  return found == std::end(kServed) ? nullptr : found;
}

// Returns the header name as in the request, like errors for other unknown headers.
std::string_view AsSent(const RequestHead& request, std::string_view name) {
  const auto found =
      std::find_if(request.headers.begin(), request.headers.end(),
                   [&](const HeaderView& header) { return EqualsIgnoreCase(header.name, name); });
  return found == request.headers.end() ? name : found->name;
}

Error NoSuchBucket(const Call& call) {
  return MakeError("NoSuchBucket", {{"BucketName", call.bucket().value}});
}

// S3's hosts serve only objects of one zone or buckets of one region. Other hosts serve everything.
Result<void> CheckEndpoint(const Call& call, const ServedOperation& served) {
  const Target& target = call.exchange.target;
  switch (target.directory_endpoint) {
    case DirectoryEndpoint::kNone:
      if (target.on_s3_domain) return NoSuchBucket(call);  // Recorded against Amazon S3.
      return Ok();
    case DirectoryEndpoint::kControl:
      if (served.plane == kControl) return Ok();
      return InvalidRequest("The operation " + std::string(served.operation) +
                            " is only available at the zonal endpoint "
                            "BUCKET.s3express-ZONE.REGION.amazonaws.com, not at "
                            "s3express-control.");
    case DirectoryEndpoint::kZonal:
      if (ZoneOf(call.bucket().value) != target.host_zone) return NoSuchBucket(call);
      if (served.plane != kZonal) {
        return InvalidRequest(
            "The operation " + std::string(served.operation) +
            " is only available at the regional endpoint "
            "s3express-control.REGION.amazonaws.com/BUCKET, not at a zonal endpoint.");
      }
      if (!target.virtual_hosted)
        return InvalidRequest(
            "Address a zonal endpoint as BUCKET.s3express-ZONE.REGION.amazonaws.com.");
      return Ok();
  }
  return Ok();
}

Error NotServed(std::string_view operation) {
  // Recorded against Amazon S3 only for ListObjects.
  if (operation == "ListObjects") {
    return MakeError("NotSupported", {},
                     "This bucket does not support Object List V1; use ListObjectsV2.");
  }
  return NotImplemented("The operation " + std::string(operation) +
                        " is not supported by directory buckets.");
}

Result<void> CheckHeaders(const Call& call, const ServedOperation& served) {
  const RequestHead& request = call.exchange.request;
  for (const std::string_view name : kRefusedHeaders) {
    if (call.Header(name)) return NotImplementedHeader(name);
  }
  if (call.families.acl) return NotImplementedHeader("x-amz-acl", "Directory buckets have no ACLs");
  if (call.families.object_lock)
    return NotImplementedHeader("x-amz-object-lock-mode", "Directory buckets have no Object Lock");
  if (call.families.encryption) {
    for (const std::string_view name : kCustomerKeyHeaders) {
      if (call.Header(name))
        return NotImplementedHeader(name, "Directory buckets do not support SSE-C");
    }
    if (call.Header(kEncryptionHeader) == kKmsDualName) {
      return NotImplementedHeader(kEncryptionHeader, "Directory buckets do not support DSSE-KMS");
    }
  }
  if (served.plane == kZonal && request.Find("content-md5")) {
    return NotImplemented("This bucket does not support Content Md5 header.");
  }
  if (call.Header("x-amz-checksum-md5")) return NotImplementedHeader("x-amz-checksum-md5");
  if (served.plane == kControl && call.Header("x-amz-expected-bucket-owner")) {
    return NotImplementedHeader("x-amz-expected-bucket-owner");
  }
  return Ok();
}

Result<void> CheckVersion(const Call& call) {
  const auto version = call.Query("versionId");
  if (!version || *version == "null") return Ok();
  return InvalidArgument("Directory buckets have no versions: only the version id null is accepted",
                         "versionId", *version);
}

Result<void> CheckPlainBucket(const Call& call, std::string_view operation) {
  if (call.exchange.target.directory_endpoint != DirectoryEndpoint::kNone && !call.bucket().empty())
    return NoSuchBucket(call);
  if (operation == "CreateSession" && call.bucket().empty()) return Ok();  // See create_session.cc.
  if (operation == "RenameObject" || operation == "CreateSession") {
    return NotImplemented("The operation " + std::string(operation) +
                          " is for directory buckets only.");
  }
  if (!call.families.directory) return Ok();
  for (const DirectoryHeader& header : kDirectoryHeaders) {
    if (call.Header(header.name))
      return NotImplementedHeader(AsSent(call.exchange.request, header.name));
  }
  return Ok();
}

}  // namespace

Result<void> CheckDirectoryRules(const Call& call, std::string_view operation) {
  if (!IsDirectoryBucketName(call.bucket().value)) return CheckPlainBucket(call, operation);
  const ServedOperation* const served = FindServed(operation);
  if (served == nullptr) return NotServed(operation);
  PENSTOCK_TRY(CheckEndpoint(call, *served));
  const auto& session = call.exchange.identity.session;
  if (session && session->read_only && !served->reads) return MakeError("AccessDenied");
  PENSTOCK_TRY(CheckHeaders(call, *served));
  if (call.families.directory) {
    for (const DirectoryHeader& header : kDirectoryHeaders) {
      if (header.operation != operation && call.Header(header.name))
        return NotImplementedHeader(header.name);
    }
  }
  return CheckVersion(call);
}

}  // namespace penstock::emulator::s3
