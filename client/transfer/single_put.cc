#include "client/transfer/single_put.h"

#include <string>
#include <utility>

#include "client/transfer/memory_source.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/settle.h"

namespace penstock::transfer {

Result<void> CheckUploadOptions(const UploadOptions& options) {
  const auto invalid = [](std::string message) { return Error::Make(ErrorKind::kInvalidArgument, std::move(message)); };
  if (options.part_size_bytes == 0 || options.part_size_bytes < options.min_part_size_bytes ||
      options.part_size_bytes > kMaxPartBytes) {
    return invalid("part_size_bytes is " + std::to_string(options.part_size_bytes) + "; S3 takes " +
                   std::to_string(options.min_part_size_bytes) + " (5 MiB) to " + std::to_string(kMaxPartBytes) +
                   " (5 GiB)");
  }
  if (options.single_put_limit_bytes > kMaxPartBytes) {
    return invalid("single_put_limit_bytes is " + std::to_string(options.single_put_limit_bytes) +
                   "; a single PUT takes at most " + std::to_string(kMaxPartBytes) + " (5 GiB)");
  }
  if (options.max_parallel_parts < 1) {
    return invalid("max_parallel_parts is " + std::to_string(options.max_parallel_parts) + "; it takes at least 1");
  }
  return Ok();
}

Result<UploadResponse> PutWhole(ObjectStore& store, const BucketName& bucket, const ObjectKey& key, ByteView data,
                                const UploadOptions& options, const Interrupt& interrupt) {
  ProgressMeter progress(options.progress);
  progress.SetTotal(data.size());
  MemorySource source(data, &progress);
  PutObjectRequest request;
  request.bucket = bucket;
  request.key = key;
  request.body = &source;
  request.attributes = options.attributes;
  request.if_none_match_any = options.if_none_match_any;
  request.options = options.call;
  Result<PutObjectResponse> put = store.Call(std::move(request), interrupt);
  if (put.ok()) {
    progress.Finish(data.size());
    return UploadResponse{put->etag, data.size()};
  }
  if (OutcomeUnknown(put.error())) {
    const ETag etag = ContentETag(data);
    const bool interrupted = put.error().kind == ErrorKind::kCancelled;
    if (IsPublished(store, bucket, key, etag, data.size(), CleanupOptions(interrupted))) {
      progress.Finish(data.size());
      return UploadResponse{etag, data.size()};
    }
  }
  return std::move(put).error();
}

}  // namespace penstock::transfer
