#include "client/transfer/upload/single_put.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/progress_meter.h"
#include "client/transfer/upload/upload_outcome.h"

namespace penstock::transfer {
namespace {

constexpr std::string_view kProgress = "the progress callback of an upload";

}  // namespace

Result<void> CheckUploadOptions(const UploadOptions& options) {
  const auto invalid = [](std::string message) {
    return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
  };
  const std::uint64_t part_size =
      options.part_size_bytes.value_or(std::max(options.min_part_size_bytes, std::uint64_t{1}));
  if (part_size == 0 || part_size < options.min_part_size_bytes || part_size > kMaxPartBytes) {
    return invalid("part_size_bytes must be " + std::to_string(options.min_part_size_bytes) +
                   " (5 MiB) to " + std::to_string(kMaxPartBytes) + " (5 GiB), not " +
                   std::to_string(part_size));
  }
  if (options.single_put_limit_bytes > kMaxPartBytes) {
    return invalid("single_put_limit_bytes must be at most " + std::to_string(kMaxPartBytes) +
                   " (5 GiB), the maximum of a single PUT, not " +
                   std::to_string(options.single_put_limit_bytes));
  }
  if (options.if_match && options.if_none_match_any)
    return invalid("if_match and if_none_match_any are mutually exclusive");
  if (options.max_parallel_parts && *options.max_parallel_parts < 1) {
    return invalid("max_parallel_parts must be 1 or more, not " +
                   std::to_string(*options.max_parallel_parts));
  }
  return Ok();
}

Result<UploadResponse> PutWhole(ObjectStore& store, const BucketName& bucket, const ObjectKey& key,
                                PartBody& body, const UploadOptions& options,
                                const Interrupt& interrupt) {
  ProgressMeter progress(options.progress);
  progress.SetTotal(body.size());
  body.set_progress(&progress);
  PutObjectRequest request;
  request.bucket = bucket;
  request.key = key;
  request.body = &body;
  request.attributes = options.attributes;
  request.if_match = options.if_match;
  request.if_none_match_any = options.if_none_match_any;
  request.options = options.call;
  Result<PutObjectResponse> put = store.Call(std::move(request), interrupt);
  body.set_progress(nullptr);  // bytes read from here on are not sent
  if (put.ok()) {
    // The object is published, even if the callback throws.
    Contain(kProgress, [&] { progress.Finish(body.size()); });
    return UploadResponse{put->etag, body.size()};
  }
  // After an interrupt, the caller does not wait for the outcome.
  const bool interrupted = put.error().kind == ErrorKind::kCancelled;
  if (OutcomeUnknown(put.error()) && !interrupted) {
    const Fingerprint sent{body.size(), ContentETag(body), body.crc64nvme()};
    std::optional<ETag> etag =
        FindPublished(store, bucket, key, sent, CustomerKeyOf(options.attributes.encryption),
                      CleanupOptions(options.call, false));
    if (etag) {
      Contain(kProgress, [&] { progress.Finish(body.size()); });
      return UploadResponse{*std::move(etag), body.size()};
    }
  }
  return std::move(put).error();
}

}  // namespace penstock::transfer
