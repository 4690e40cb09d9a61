// Uploads memory as one object without copying it: the parts are slices of the caller's memory.
#include <algorithm>
#include <memory>
#include <utility>

#include "client/transfer/upload/multipart_upload.h"
#include "client/transfer/upload/part_body.h"
#include "client/transfer/upload/single_put.h"
#include "client/transfer/upload/upload_plan.h"
#include "penstock/base/blocking.h"
#include "penstock/transfer.h"

namespace penstock {

Result<UploadResponse> Upload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                              ByteView data, UploadOptions options, const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("Upload"));
  PENSTOCK_TRY(transfer::CheckUploadOptions(options));
  if (data.size() <= options.single_put_limit_bytes) {
    transfer::PartBody body = transfer::PartBody::Of(data);
    return transfer::PutWhole(*store, bucket, key, body, options, interrupt);
  }
  PENSTOCK_ASSIGN(const std::uint64_t part_size, transfer::KnownPartSize(data.size(), options));
  transfer::MultipartUpload upload(std::move(store), std::move(bucket), std::move(key),
                                   std::move(options));
  upload.ExpectTotal(data.size());
  PENSTOCK_TRY(upload.Create(interrupt));
  while (!data.empty()) {
    const ByteView part = data.first(std::min<std::uint64_t>(part_size, data.size()));
    PENSTOCK_TRY(upload.Send(transfer::PartBody::Of(part), interrupt));
    data = data.subspan(part.size());
  }
  return upload.Complete(interrupt);
}

}  // namespace penstock
