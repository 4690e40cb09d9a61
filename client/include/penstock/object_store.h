// The operations of S3 as values: a request struct in, a Result<Response> out.
//
// ObjectStore is the only view of S3 in transfer/ and torch/, so they can be tested without HTTP.
// Its two implementations are Client (client.h) and testing::MemoryObjectStore. Retries, signing
// and metrics do not belong here; they are part of the Client.
#ifndef PENSTOCK_OBJECT_STORE_H_
#define PENSTOCK_OBJECT_STORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/blocking.h"
#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/pending.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock {

// Runs exactly once, on an I/O thread or before Start returns. It must not block: blocking calls of
// this library return kInvalidArgument there. Exceptions are logged and counted, and go no further.
template <class T>
using Callback = std::function<void(Result<T>)>;

// Polled about every 100 ms while a thread waits in ObjectStore::Call. True cancels the call
// (kCancelled).
using Interrupt = std::function<bool()>;

// Options of every call.
struct CallOptions {
  Deadline deadline = Deadline::Never();  // For all attempts together.
  std::stop_token cancel;                 // A stop request soon ends the call with kCancelled.
  // A request that was sent before the deadline may receive its response that much later. For a
  // caller who stops waiting at the deadline and only then needs to know what the request did.
  std::chrono::milliseconds grace{0};
};

// Metadata of one object version.
struct ObjectMetadata {
  std::uint64_t size = 0;  // Bytes of the whole object, also if a range was read.
  ETag etag;
  WallTime last_modified{};
  std::string content_type;
  std::string storage_class;  // Empty: STANDARD.
  VersionId version_id;       // Empty: the bucket is not versioned.
  std::string restore;        // x-amz-restore, unparsed. Empty: none.
  // The x-amz-checksum-* headers for the whole object, if present: {"crc64nvme", base64}. COMPOSITE
  // values are left out.
  std::vector<std::pair<std::string, std::string>> checksums;
  std::vector<std::pair<std::string, std::string>> user_metadata;  // Names without "x-amz-meta-".
};

// Destination of a response body. The transport writes into Window(), without a copy.
//
// Call order: Begin, then any number of (Window, Commit) pairs, from one thread at a time. After a
// failure a store may resume at the byte reached, which the sink does not see. Or it reads again
// from the start and calls Begin again; the sink must then discard earlier bytes.
//
// The sink must outlive the call. Errors and exceptions end the call with that error. kCancelled
// from Commit means that the sink needs no more bytes and does not count as a failure. Begin and
// Commit may start other calls on the same store; a download starts the requests for its other
// parts there.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // `body_length`: bytes that follow, if the response declares them. `metadata.size` is the size of
  // the whole object.
  virtual Result<void> Begin(const ObjectMetadata& metadata,
                             std::optional<std::uint64_t> body_length) = 0;
  // Called after Begin. True: the owner of this sink verifies the bytes against metadata.checksums,
  // so the store skips this check.
  virtual bool FollowsChecksum() const { return false; }
  // Memory for the next bytes. Empty only if the sink is full; more bytes are then kDataLoss.
  virtual MutableByteView Window() = 0;
  // The first `count` bytes of the last Window() have been written. Requires count <=
  // Window().size().
  virtual Result<void> Commit(std::size_t count) = 0;
};

// Bytes to send. It is read more than once: a retry calls Rewind. It must outlive the call. An
// exception of a member ends the call with an error.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::uint64_t size() const = 0;
  virtual void Rewind() = 0;
  // Returns the next bytes, at most `limit`, as a view that is valid until the next call. Empty:
  // the end.
  virtual ByteView Next(std::size_t limit) = 0;
  // CRC64NVME of all bytes, if known; it is sent unchanged. Unset: the store first reads the source
  // to compute it.
  virtual std::optional<std::uint64_t> crc64nvme() const { return std::nullopt; }
  // True: the owner computes the CRC64NVME while the bytes are sent, for
  // CompleteMultipartUploadRequest::crc64nvme. The store then need not read the bytes first, and
  // the part has no checksum of its own. PutObject ignores it.
  virtual bool FollowsChecksum() const { return false; }
};

struct NoResponse {};

// A range of an object. Unset members are open ends. `suffix` (the last N bytes) cannot be combined
// with the other two.
struct RangeRequest {
  std::optional<std::uint64_t> begin;
  std::optional<std::uint64_t> end;  // Half-open.
  std::optional<std::uint64_t> suffix;
};

struct GetObjectRequest {
  using Response = ObjectMetadata;
  BucketName bucket;
  ObjectKey key;
  std::optional<RangeRequest> range;  // Unset: the whole object.
  std::optional<ETag> if_match;
  VersionId version_id;
  BodySink* sink = nullptr;  // Required.
  CallOptions options;
};

struct HeadObjectRequest {
  using Response = ObjectMetadata;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id;
  CallOptions options;
};

// Attributes of a new object, for PutObject and CreateMultipartUpload.
struct ObjectAttributes {
  std::string content_type;   // Empty: S3's default, binary/octet-stream.
  std::string storage_class;  // Empty: STANDARD.
  std::vector<std::pair<std::string, std::string>> user_metadata;
};

struct PutObjectResponse {
  ETag etag;
  VersionId version_id;
  std::optional<std::uint64_t>
      object_size;  // Of an append: the new size of the whole object, in bytes.
};
struct PutObjectRequest {
  using Response = PutObjectResponse;
  BucketName bucket;
  ObjectKey key;
  BodySource* body = nullptr;  // Required.
  ObjectAttributes attributes;
  std::optional<ETag> if_match;
  bool if_none_match_any = false;  // Only if the key has no object.
  CallOptions options;
  // Directory buckets only. The body is appended at this offset, which must equal the object's
  // size. 0 creates the object.
  std::optional<std::uint64_t> write_offset;
  // The CRC to send ("crc64nvme", "crc32c" or "crc32"), or "none". Empty: as configured. With
  // write_offset it must match the object's checksum.
  std::string checksum_algorithm;
};

struct DeleteObjectRequest {
  using Response = NoResponse;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id;
  CallOptions options;
  std::optional<ETag>
      if_match;  // For any other ETag the call returns kPreconditionFailed and the object stays.
};

struct DeleteObjectsResponse {
  struct Failure {
    ObjectKey key;
    std::string code;
    std::string message;
  };
  std::vector<Failure> failures;  // All other keys of the request have been deleted.
};
struct DeleteObjectsRequest {
  using Response = DeleteObjectsResponse;
  BucketName bucket;
  std::vector<ObjectKey> keys;  // 1 to 1000.
  CallOptions options;
};

struct CopyObjectResponse {
  ETag etag;
  WallTime last_modified{};
  VersionId version_id;  // Of the copy. Empty: the bucket is not versioned.
};
struct CopyObjectRequest {
  using Response = CopyObjectResponse;
  BucketName source_bucket;
  ObjectKey source_key;
  BucketName bucket;
  ObjectKey key;
  std::optional<ETag> source_if_match;
  CallOptions options;
  VersionId source_version_id;  // Empty: the current version.
};

struct ObjectSummary {
  ObjectKey key;
  std::uint64_t size = 0;
  ETag etag;
  WallTime last_modified{};
  std::string storage_class;
};
struct ListObjectsResponse {
  std::vector<ObjectSummary> objects;
  std::vector<std::string> common_prefixes;
  std::string next_token;  // Empty: the last page.
};
struct ListObjectsRequest {
  using Response = ListObjectsResponse;
  BucketName bucket;
  std::string prefix;
  std::string delimiter;
  std::string continuation_token;
  std::string start_after;
  int max_keys = 1000;  // 0 or more. S3 returns at most 1000.
  CallOptions options;
};

// One version of an object, or a delete marker, which has no size and no ETag.
struct ObjectVersionSummary {
  ObjectKey key;
  VersionId version_id;  // "null": written while the bucket was not versioned.
  bool is_latest = false;
  bool is_delete_marker = false;
  std::uint64_t size = 0;
  ETag etag;
  WallTime last_modified{};
  std::string storage_class;  // Empty: STANDARD.
};
struct ListObjectVersionsResponse {
  std::vector<ObjectVersionSummary>
      versions;  // Ascending by key; versions of one key newest first.
  std::vector<std::string> common_prefixes;
  std::string next_key_marker;  // Empty: the last page.
  // Empty: the next page starts after all versions of that key, or after that prefix.
  VersionId next_version_id_marker;
};
struct ListObjectVersionsRequest {
  using Response = ListObjectVersionsResponse;
  BucketName bucket;
  std::string prefix;
  std::string delimiter;
  std::string key_marker;  // The last key of the previous page.
  VersionId
      version_id_marker;  // With key_marker: the last version of that key on the previous page.
  int max_keys = 1000;    // 0 or more. S3 returns at most 1000.
  CallOptions options;
};

struct CreateMultipartUploadResponse {
  UploadId upload_id;
  // The upload keeps a CRC64NVME of the whole object. Parts need no checksum of their own, and
  // CompleteMultipartUpload may send the checksum of the whole.
  bool keeps_crc64nvme = false;
};
struct CreateMultipartUploadRequest {
  using Response = CreateMultipartUploadResponse;
  BucketName bucket;
  ObjectKey key;
  ObjectAttributes attributes;
  CallOptions options;
};

// One uploaded part, as CompleteMultipartUpload expects it.
struct CompletedPart {
  int part_number = 0;  // 1 to 10,000.
  ETag etag;
  std::string checksum_crc64nvme;  // Base64, as computed by S3. Empty: none.
};
struct UploadPartRequest {
  using Response = CompletedPart;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  int part_number = 0;
  BodySource* body = nullptr;  // Required.
  CallOptions options;
};

struct UploadPartCopyRequest {
  using Response = CompletedPart;
  BucketName source_bucket;
  ObjectKey source_key;
  std::optional<ByteRange> source_range;
  std::optional<ETag> source_if_match;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  int part_number = 0;
  CallOptions options;
  VersionId source_version_id;  // Empty: the current version.
};

struct CompleteMultipartUploadRequest {
  using Response = PutObjectResponse;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  std::vector<CompletedPart> parts;  // Ascending part numbers.
  std::uint64_t object_size = 0;     // Sum of the part sizes; S3 checks it.
  bool if_none_match_any = false;
  CallOptions options;
  // Of the whole object. If the parts do not match it, S3 does not publish the object
  // (kInvalidArgument, BadDigest).
  std::optional<std::uint64_t> crc64nvme;
  std::optional<ETag> if_match;  // Only if the current object has this ETag.
};

struct AbortMultipartUploadRequest {
  using Response = NoResponse;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  CallOptions options;
};

struct PartSummary {
  int part_number = 0;
  std::uint64_t size = 0;
  ETag etag;
};
struct ListPartsResponse {
  std::vector<PartSummary> parts;
  int next_part_number_marker = 0;  // 0: the last page.
};
struct ListPartsRequest {
  using Response = ListPartsResponse;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  int part_number_marker = 0;
  CallOptions options;
};

struct UploadSummary {
  ObjectKey key;
  UploadId upload_id;
  WallTime initiated{};
};
struct ListMultipartUploadsResponse {
  std::vector<UploadSummary> uploads;
  std::string next_key_marker;  // Empty: the last page.
  std::string next_upload_id_marker;
};
// Lists one page of at most 1,000 uploads. For the next page, copy the response's markers into the
// request.
struct ListMultipartUploadsRequest {
  using Response = ListMultipartUploadsResponse;
  BucketName bucket;
  std::string prefix;
  std::string key_marker;
  std::string upload_id_marker;
  CallOptions options;
};

struct CreateBucketRequest {
  using Response = NoResponse;
  BucketName bucket;
  CallOptions options;
};
struct HeadBucketResponse {
  std::string region;
};
struct HeadBucketRequest {
  using Response = HeadBucketResponse;
  BucketName bucket;
  CallOptions options;
};
struct DeleteBucketRequest {
  using Response = NoResponse;
  BucketName bucket;
  CallOptions options;
};
struct BucketSummary {
  BucketName name;
  WallTime created{};
};
struct ListBucketsResponse {
  std::vector<BucketSummary> buckets;
};
struct ListBucketsRequest {
  using Response = ListBucketsResponse;
  CallOptions options;
};

namespace internal {

// Starts a call of any store.
template <class Store, class Request>
Pending<typename Request::Response> StartPending(Store& store, Request request) {
  auto call = MakePending<typename Request::Response>(request.options.cancel);
  request.options.cancel = std::move(call.cancel);
  store.Start(std::move(request), std::move(call.done));
  return std::move(call.pending);
}

template <class Store, class Request>
Result<typename Request::Response> CallAndWait(Store& store, Request request,
                                               const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("a blocking call"));
  return StartPending(store, std::move(request)).Get(interrupt);
}

}  // namespace internal

// Thread safety: all members may be called from any thread.
//
// `Start` does not block on the network. Requests are taken by value. Sinks, sources and everything
// that the callback captures must live until the callback has run.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  virtual void Start(GetObjectRequest request, Callback<ObjectMetadata> done) = 0;
  virtual void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) = 0;
  virtual void Start(PutObjectRequest request, Callback<PutObjectResponse> done) = 0;
  virtual void Start(DeleteObjectRequest request, Callback<NoResponse> done) = 0;
  virtual void Start(DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) = 0;
  virtual void Start(CopyObjectRequest request, Callback<CopyObjectResponse> done) = 0;
  virtual void Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) = 0;
  virtual void Start(ListObjectVersionsRequest request,
                     Callback<ListObjectVersionsResponse> done) = 0;
  virtual void Start(CreateMultipartUploadRequest request,
                     Callback<CreateMultipartUploadResponse> done) = 0;
  virtual void Start(UploadPartRequest request, Callback<CompletedPart> done) = 0;
  virtual void Start(UploadPartCopyRequest request, Callback<CompletedPart> done) = 0;
  virtual void Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) = 0;
  virtual void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) = 0;
  virtual void Start(ListPartsRequest request, Callback<ListPartsResponse> done) = 0;
  virtual void Start(ListMultipartUploadsRequest request,
                     Callback<ListMultipartUploadsResponse> done) = 0;
  virtual void Start(CreateBucketRequest request, Callback<NoResponse> done) = 0;
  virtual void Start(HeadBucketRequest request, Callback<HeadBucketResponse> done) = 0;
  virtual void Start(DeleteBucketRequest request, Callback<NoResponse> done) = 0;
  virtual void Start(ListBucketsRequest request, Callback<ListBucketsResponse> done) = 0;

  // Whether a request that failed may be sent again. If not (max_attempts is 1), a transfer does
  // not repeat reads either.
  virtual bool may_repeat() const { return true; }
  // Returns the deadline of a call that starts now: that of its options, or earlier if the store
  // limits the time of calls (operation_timeout).
  virtual Deadline DeadlineOf(const CallOptions& options) const { return options.deadline; }

  // Calls Start and waits. On an interrupt it cancels the call and still waits for the callback, so
  // the memory of the request is no longer in use on return. In a callback it returns
  // kInvalidArgument and starts nothing.
  template <class Request>
  Result<typename Request::Response> Call(Request request, const Interrupt& interrupt = {}) {
    return internal::CallAndWait(*this, std::move(request), interrupt);
  }
  // Calls Start. The result arrives in the Pending (penstock/base/pending.h): a future, a callback
  // with an executor, or an awaitable. This store, and everything that the request points to, must
  // live until the call has ended.
  template <class Request>
  Pending<typename Request::Response> CallAsync(Request request) {
    return internal::StartPending(*this, std::move(request));
  }
};

}  // namespace penstock

#endif  // PENSTOCK_OBJECT_STORE_H_
