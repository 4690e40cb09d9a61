// The source of CopyObject and UploadPartCopy: x-amz-copy-source taken apart and opened
// (spec/protocol.md §2.10).
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

// "[/]bucket/key[?versionId=id]", URL-encoded, or a full URL of that path.
Result<CopySource> ParseCopySource(std::string_view header,
                                   BucketNames allowed = BucketNames::kOfS3);

struct OpenedSource {
  CopySource address;
  store::BucketPtr bucket;
  store::ObjectPtr object;
};
// Finds the source and holds the x-amz-copy-source-if-* conditions against it.
Result<OpenedSource> OpenCopySource(Call& call);

// x-amz-copy-source-version-id, where the source bucket is or was versioned.
void AddSourceVersionHeader(Call& call, const OpenedSource& source);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_COPY_SOURCE_H_
