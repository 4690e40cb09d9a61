// The strict rule: the emulator refuses what it does not implement with 501 instead of ignoring it.
#ifndef PENSTOCK_EMULATOR_S3_CORE_STRICT_H_
#define PENSTOCK_EMULATOR_S3_CORE_STRICT_H_

#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Families of x-amz-* headers in a request. If a family is absent, its headers need no lookup.
struct HeaderFamilies {
  // x-amz-server-side-encryption*, x-amz-copy-source-server-side-encryption*
  bool encryption = false;
  bool acl = false;          // x-amz-acl, x-amz-grant-*
  bool object_lock = false;  // x-amz-object-lock-*, x-amz-bypass-governance-retention
  bool copy_source = false;  // x-amz-copy-source*
  // x-amz-checksum-*, except x-amz-checksum-mode, -algorithm and -type;
  // x-amz-sdk-checksum-algorithm; x-amz-trailer.
  bool checksum = false;
  bool metadata = false;  // x-amz-meta-*
  bool bucket = false;    // Headers of one bucket operation each (x-amz-object-ownership, ...).
  // Headers of directory buckets (x-amz-write-offset-bytes, ...).
  bool directory = false;
};

// True if S3 reads this query parameter as a header in a query-authenticated request: x-amz-* in
// lower case, as SDKs write it. S3 ignores other spellings such as X-Amz-Acl (aws-sdk-ruby #601),
// tags and the encryption context (aws-sdk-go-v2 #1017, aws-sdk-go #4949).
bool IsHeaderInQuery(std::string_view name);

// Returns the families of headers in the request. Errors:
// - RequestHeaderSectionTooLarge for more than 8 KiB of headers.
// - NotImplemented with Header for the first unknown x-amz-* header or, if `presigned`, query
//   parameter.
Result<HeaderFamilies> RefuseUnknown(const RequestHead& request, const Target& target,
                                     bool presigned);

// Returns the 501 for a header of another bucket operation. Call it if `families.bucket` is set.
Result<void> RefuseMisplacedBucketHeader(const RequestHead& request, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_STRICT_H_
