// The strict rule: what the emulator does not understand it refuses with 501, never ignores
// (architecture §3).
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_STRICT_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_STRICT_H_

#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Families of x-amz-* headers that a request carries at all: of those it lacks, no single one needs
// to be looked for.
struct HeaderFamilies {
  // x-amz-server-side-encryption*, x-amz-copy-source-server-side-encryption*
  bool encryption = false;
  bool acl = false;          // x-amz-acl, x-amz-grant-*
  bool object_lock = false;  // x-amz-object-lock-*, x-amz-bypass-governance-retention
  bool copy_source = false;  // x-amz-copy-source*
  // x-amz-checksum-* but for its settings, x-amz-sdk-checksum-algorithm, x-amz-trailer
  bool checksum = false;
  bool metadata = false;  // x-amz-meta-*
  bool bucket = false;    // those of one bucket operation each (x-amz-object-ownership, ...)
  // those that only directory buckets know (x-amz-write-offset-bytes, ...)
  bool directory = false;
};

// A query parameter that S3 takes for a header in a query-authenticated request (spec §0): x-amz-*
// in lower case, as SDKs write it. X-Amz-Acl and its like were seen to be ignored (aws-sdk-ruby
// #601), and so are tags and the encryption context (aws-sdk-go-v2 #1017, aws-sdk-go #4949): these
// need real headers.
bool IsHeaderInQuery(std::string_view name);

// What the request carries; RequestHeaderSectionTooLarge above 8 KiB of headers (spec §2.5); or
// NotImplemented + Header for the first x-amz-* header (or, when `presigned`, query parameter) that
// nobody here reads or may safely ignore, and for a valueless query parameter that names no
// sub-resource. Other unknown query parameters are ignored, as S3 does.
Result<HeaderFamilies> RefuseUnknown(const RequestHead& request, const Target& target,
                                     bool presigned);

// The 501 for a header that means something to another operation only; look when `families.bucket`
// says so.
Result<void> RefuseMisplacedBucketHeader(const RequestHead& request, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_STRICT_H_
