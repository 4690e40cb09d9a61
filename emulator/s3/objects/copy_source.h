// Parses x-amz-copy-source and opens the source of CopyObject and UploadPartCopy.
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_COPY_SOURCE_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_COPY_SOURCE_H_

#include <optional>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/names.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct CopySource {
  BucketName bucket;
  ObjectKey key;
  std::optional<VersionId> version;
};

// Parses "[/]bucket/key[?versionId=id]", URL-encoded, or a full URL with that path.
Result<CopySource> ParseCopySource(std::string_view header,
                                   BucketNameRules allowed = BucketNameRules::kCurrent);

struct OpenedSource {
  CopySource address;
  store::BucketPtr bucket;
  store::ObjectPtr object;
};
// Finds the source and checks the x-amz-copy-source-if-* conditions.
Result<OpenedSource> OpenCopySource(Call& call);

// Adds x-amz-copy-source-version-id if the source bucket is or was versioned.
void AddSourceVersionHeader(Call& call, const OpenedSource& source);

// Refuses x-amz-copy-source on operations that do not copy, and x-amz-copy-source-range on all but
// UploadPartCopy. Call it only if the request has such a header.
Result<void> RefuseCopySource(const Call& call, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_COPY_SOURCE_H_
