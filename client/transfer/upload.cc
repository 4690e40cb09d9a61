// Memory to one object without copying it: the parts are slices of the caller's memory.
#include <algorithm>
#include <memory>
#include <utility>

#include "client/transfer/multipart_upload.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/single_put.h"
#include "penstock/transfer.h"

namespace penstock {

Result<UploadResponse> Upload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key, ByteView data,
                              UploadOptions options, const Interrupt& interrupt) {
  PENSTOCK_TRY(transfer::CheckUploadOptions(options));
  if (data.size() <= options.single_put_limit_bytes) {
    return transfer::PutWhole(*store, bucket, key, data, options, interrupt);
  }
  PENSTOCK_ASSIGN(const std::uint64_t part_size, transfer::PartSizeFor(data.size(), options.part_size_bytes));
  // The caller's memory is there anyway: only the number of parts in flight is bounded.
  transfer::MultipartUpload upload(std::move(store), std::move(bucket), std::move(key), std::move(options), UINT64_MAX);
  upload.ExpectTotal(data.size());
  PENSTOCK_TRY(upload.Create(interrupt));
  while (!data.empty()) {
    const ByteView part = data.first(std::min<std::uint64_t>(part_size, data.size()));
    PENSTOCK_TRY(upload.Send(part, [] {}, interrupt));
    data = data.subspan(part.size());
  }
  return upload.Complete(interrupt);
}

}  // namespace penstock
