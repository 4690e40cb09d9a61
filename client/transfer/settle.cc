#include "client/transfer/settle.h"

#include <string>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"

namespace penstock::transfer {

bool OutcomeUnknown(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUnavailable:
    case ErrorKind::kTimeout:
    case ErrorKind::kCancelled:
    case ErrorKind::kDataLoss:
    case ErrorKind::kInternal:
      return true;
    default:
      return error.attempts > 1 || error.http_status >= 500;
  }
}

std::optional<ETag> MultipartETag(const std::vector<CompletedPart>& parts) {
  std::string digests;
  for (const CompletedPart& part : parts) {
    const std::optional<std::string> raw = HexDecode(part.etag.value);
    if (!raw || raw->size() != sizeof(Md5Digest)) return std::nullopt;
    digests += *raw;
  }
  return ETag(ContentETag(AsBytes(digests)).value + "-" + std::to_string(parts.size()));
}

ETag ContentETag(ByteView content) { return ETag(HexEncode(Md5(content))); }

bool IsPublished(ObjectStore& store, const BucketName& bucket, const ObjectKey& key, const ETag& etag,
                 std::uint64_t size_bytes, CallOptions cleanup) {
  HeadObjectRequest request;
  request.bucket = bucket;
  request.key = key;
  request.options = std::move(cleanup);
  const Result<ObjectMetadata> head = store.Call(std::move(request));
  return head.ok() && head->etag == etag && head->size == size_bytes;
}

CallOptions CleanupOptions(bool interrupted) {
  CallOptions options;
  options.deadline = Deadline::After(SystemClock(), interrupted ? kInterruptedCleanupLimit : kCleanupLimit);
  return options;
}

}  // namespace penstock::transfer
