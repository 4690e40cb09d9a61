#include "client/transfer/upload/upload_outcome.h"

#include <string>
#include <utility>

#include "base/crc/named_crc.h"
#include "base/digest.h"
#include "base/encoding.h"

namespace penstock::transfer {
namespace {

constexpr std::size_t kStep = 1 << 20;

}  // namespace

bool OutcomeUnknown(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kUnavailable:
    case ErrorKind::kTimeout:
    case ErrorKind::kCancelled:
    case ErrorKind::kDataLoss:
    case ErrorKind::kInternal: return true;
    default: {
      const bool another_document =
          error.kind == ErrorKind::kUnsupported && error.http_status == 200;
      return another_document || error.attempts > 1 || error.http_status >= 500;
    }
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

ETag ContentETag(BodySource& content) {
  Digester digester(DigestAlgorithm::kMd5);
  content.Rewind();
  for (ByteView next = content.Next(kStep); !next.empty(); next = content.Next(kStep))
    digester.Update(next);
  content.Rewind();
  return ETag(HexEncode(AsBytes(digester.Finish())));
}

std::optional<ETag> FindPublished(ObjectStore& store, const BucketName& bucket,
                                  const ObjectKey& key, const Fingerprint& sent,
                                  CustomerKey customer_key, CallOptions cleanup) {
  HeadObjectRequest request;
  request.bucket = bucket;
  request.key = key;
  request.options = std::move(cleanup);
  request.customer_key = std::move(customer_key);
  Result<ObjectMetadata> head = store.Call(std::move(request));
  if (!head.ok() || head->size != sent.size_bytes) return std::nullopt;
  const bool same_etag = sent.etag && head->etag == *sent.etag;
  const ExpectedCrc stored = FindCrc(head->checksums);
  const bool same_crc =
      sent.crc64nvme && stored.crc == Crc::kCrc64Nvme && CompareCrc(stored, *sent.crc64nvme).ok();
  if (!same_etag && !same_crc) return std::nullopt;
  return std::move(head->etag);
}

CallOptions CleanupOptions(const CallOptions& of_caller, bool interrupted) {
  CallOptions options;
  options.expected_bucket_owner = of_caller.expected_bucket_owner;
  options.requester_pays = of_caller.requester_pays;
  options.extra_headers = of_caller.extra_headers;
  options.extra_query = of_caller.extra_query;
  options.deadline =
      Deadline::After(SystemClock(), interrupted ? kInterruptedCleanupLimit : kCleanupLimit);
  return options;
}

}  // namespace penstock::transfer
