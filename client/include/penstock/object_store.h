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
#include "penstock/base/export.h"
#include "penstock/base/pending.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"
#include "penstock/object_attributes.h"

namespace PENSTOCK_EXPORT penstock {

// Runs exactly once, on an I/O thread or before Start returns. It must not block: blocking calls of
// this library return kInvalidArgument there. Exceptions are logged and counted, and go no further.
template <class T>
using Callback = std::function<void(Result<T>)>;

// Polled about every 100 ms while a thread waits in ObjectStore::Call. True cancels the call
// (kCancelled).
using Interrupt = std::function<bool()>;

// Names and values of headers or query parameters.
using NameValueList = std::vector<std::pair<std::string, std::string>>;

// Facts about the response of a successful request. Errors have them in Error.
struct ResponseInfo {
  int http_status = 0;
  std::string request_id;  // x-amz-request-id
  std::string host_id;     // x-amz-id-2
  int attempts = 0;        // Number of times the request was sent.
  NameValueList headers;   // All headers of the response, in wire order.
};

// Options of every call.
struct CallOptions {
  Deadline deadline = Deadline::Never();  // For all attempts together.
  std::stop_token cancel = {};            // A stop request soon ends the call with kCancelled.
  // A request that was sent before the deadline may receive its response that much later. For a
  // caller who stops waiting at the deadline and only then needs to know what the request did.
  std::chrono::milliseconds grace{0};
  // The account id of the bucket's owner. For any other owner S3 returns kAccessDenied. Operations
  // without a bucket, CreateBucket and RenameObject return kInvalidArgument. Empty: any owner.
  std::string expected_bucket_owner = {};
  // The caller pays for the request, as ClientConfig::requester_pays for all requests.
  bool requester_pays = false;
  // Sent with the request and signed. Names that this client sets itself, and values with control
  // characters, are kInvalidArgument. Query parameters are given unencoded.
  NameValueList extra_headers = {};
  NameValueList extra_query = {};
  // Runs once for every successful request, before its callback and on the same thread. A transfer
  // runs it for each of its requests, on several threads at a time. It must not block. Exceptions
  // are logged and have no other effect.
  std::function<void(const ResponseInfo&)> on_response = {};
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
  // The part of the object that was requested by range or part number, else all of it.
  ByteRange range;
  EncryptionKind encryption = EncryptionKind::kNone;
  std::optional<int> parts_count;  // Reported for reads by part_number of multipart objects.
  Sparse<ObjectDetails> details;
};

// Destination of a response body. The transport writes into Window(), without a copy.
//
// Call order: Begin, then any number of (Window, Commit) pairs, from one thread at a time. After a
// failure a store may resume at the byte reached, which the sink does not see. Or it reads again
// from the start and calls Begin again; the sink must then discard earlier bytes.
//
// The sink must outlive the call. Errors and exceptions end the call with that error, but kDataLoss
// from Begin refuses only this response: a store may read again. kCancelled from Commit is no
// failure: the sink needs no more bytes. Begin and Commit may start other calls on the same store;
// a download starts the requests for its other parts there.
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
  std::optional<std::uint64_t> begin = {};
  std::optional<std::uint64_t> end = {};  // Half-open.
  std::optional<std::uint64_t> suffix = {};
};

// Headers that S3 returns instead of the stored ones. S3 rejects them in unsigned requests.
struct ResponseOverrides {
  std::string content_type = {};
  std::string content_language = {};
  std::string expires = {};
  std::string cache_control = {};
  std::string content_disposition = {};
  std::string content_encoding = {};
};

// Conditions of reads. If `if_none_match` or `if_modified_since` does not hold, the call returns
// kNotModified; Error::details then has the ETag and Last-Modified of the response. If `if_match`
// or `if_unmodified_since` does not hold, it returns kPreconditionFailed.
struct GetObjectRequest {
  using Response = ObjectMetadata;
  BucketName bucket;
  ObjectKey key;
  std::optional<RangeRequest> range = {};  // Unset: the whole object.
  std::optional<ETag> if_match = {};
  VersionId version_id = {};
  BodySink* sink = nullptr;  // Required.
  CallOptions options = {};
  std::optional<ETag> if_none_match = {};
  std::optional<WallTime> if_modified_since = {};
  std::optional<WallTime> if_unmodified_since = {};
  std::optional<int> part_number = {};  // Only this part of a multipart object. Not with `range`.
  CustomerKey customer_key = {};        // Of an object with SSE-C.
  Sparse<ResponseOverrides> overrides = {};
  // The ETag in a listing. It is not a condition. A store with a cache may return this version
  // without a request if it has all bytes of it; others ignore it.
  std::optional<ETag> listed_etag = {};
};

// Conditions as for GetObjectRequest.
struct HeadObjectRequest {
  using Response = ObjectMetadata;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id = {};
  CallOptions options = {};
  std::optional<ETag> if_match = {};
  std::optional<ETag> if_none_match = {};
  std::optional<WallTime> if_modified_since = {};
  std::optional<WallTime> if_unmodified_since = {};
  std::optional<int> part_number = {};
  CustomerKey customer_key = {};
  Sparse<ResponseOverrides> overrides = {};
};

struct PutObjectResponse {
  ETag etag;
  VersionId version_id;
  std::optional<std::uint64_t>
      object_size;  // Of an append: the new size of the whole object, in bytes.
  // The checksums that S3 stored, as in ObjectMetadata.
  std::vector<std::pair<std::string, std::string>> checksums;
  EncryptionKind encryption = EncryptionKind::kNone;
  std::string kms_key_id;  // Of SSE-KMS and DSSE-KMS.
};
struct PutObjectRequest {
  using Response = PutObjectResponse;
  BucketName bucket;
  ObjectKey key;
  BodySource* body = nullptr;  // Required.
  ObjectAttributes attributes = {};
  std::optional<ETag> if_match = {};
  bool if_none_match_any = false;  // Only if the key has no object.
  CallOptions options = {};
  // Directory buckets only. The body is appended at this offset, which must equal the object's
  // size. 0 creates the object.
  std::optional<std::uint64_t> write_offset = {};
  // The checksum to send: "crc64nvme", "crc32c", "crc32", "sha256", "sha1" or "none". Empty: as
  // configured. With write_offset it must match the object's checksum.
  std::string checksum_algorithm = {};
  // Base64 of the checksum, computed by the caller. Empty: the client computes it in one pass over
  // the body. Needs checksum_algorithm.
  std::string checksum_value = {};
};

struct DeleteObjectResponse {
  VersionId version_id;        // Of the deleted version, or of the new delete marker.
  bool delete_marker = false;  // A delete marker was created, or `version_id` of it was deleted.
};
struct DeleteObjectRequest {
  using Response = DeleteObjectResponse;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id = {};
  CallOptions options = {};
  // For any other ETag the call returns kPreconditionFailed and the object stays.
  std::optional<ETag> if_match = {};
  // Also delete a version whose retention in governance mode has not ended.
  bool bypass_governance_retention = false;
  // Conditions like if_match. Directory buckets only.
  std::optional<WallTime> if_match_last_modified = {};
  std::optional<std::uint64_t> if_match_size = {};
};

// One object of DeleteObjects.
struct ObjectToDelete {
  ObjectKey key;
  VersionId version_id = {};                            // Empty: the current version.
  std::optional<ETag> if_match = {};                    // Else a failure PreconditionFailed.
  std::optional<WallTime> if_match_last_modified = {};  // Directory buckets only.
  std::optional<std::uint64_t> if_match_size = {};      // Directory buckets only.
};
struct DeleteObjectsResponse {
  struct Failure {
    ObjectKey key;
    std::string code;
    std::string message;
    VersionId version_id = {};
  };
  struct Deleted {
    ObjectKey key;
    VersionId version_id;        // The one of the request.
    bool delete_marker = false;  // A delete marker was created or deleted.
    VersionId delete_marker_version_id;
  };
  std::vector<Failure> failures;  // All others were deleted. "NotConfirmed": see list_deleted.
  std::vector<Deleted> deleted;   // With DeleteObjectsRequest::list_deleted.
};
struct DeleteObjectsRequest {
  using Response = DeleteObjectsResponse;
  BucketName bucket;
  std::vector<ObjectKey> keys = {};  // 1 to 1000, together with `objects`.
  CallOptions options = {};
  std::vector<ObjectToDelete> objects = {};  // Deleted after `keys`.
  bool list_deleted = false;                 // Lists the deleted ones; fails those not named.
  bool bypass_governance_retention = false;
};

struct CopyObjectResponse {
  ETag etag;
  WallTime last_modified{};
  VersionId version_id;  // Of the copy. Empty: the bucket is not versioned.
  VersionId source_version_id;
  EncryptionKind encryption = EncryptionKind::kNone;
};
// kCopy: as the source has them. kReplace: those of the request.
enum class CopyDirective { kCopy, kReplace };
struct CopyObjectRequest {
  using Response = CopyObjectResponse;
  BucketName source_bucket = {};
  ObjectKey source_key = {};
  BucketName bucket;
  ObjectKey key;
  std::optional<ETag> source_if_match = {};
  CallOptions options = {};
  VersionId source_version_id = {};  // Empty: the current version.
  // Storage class, ACL, website redirect, encryption and lock always apply to the copy. With kCopy
  // the other members must be unset: S3 would ignore them.
  ObjectAttributes attributes = {};
  CopyDirective metadata_directive = CopyDirective::kCopy;  // Content headers and user metadata.
  CopyDirective tagging_directive = CopyDirective::kCopy;
  std::optional<ETag> source_if_none_match = {};
  std::optional<WallTime> source_if_modified_since = {};
  std::optional<WallTime> source_if_unmodified_since = {};
  CustomerKey source_customer_key = {};           // Of a source with SSE-C.
  std::string source_expected_bucket_owner = {};  // Empty: any owner.
  std::optional<ETag> if_match = {};              // Of the object to replace.
  bool if_none_match_any = false;                 // Only if the key has no object.
  std::string checksum_algorithm = {};            // Empty: that of the source.
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
  std::string prefix = {};
  std::string delimiter = {};
  std::string continuation_token = {};
  std::string start_after = {};
  int max_keys = 1000;  // 0 or more. S3 returns at most 1000.
  CallOptions options = {};
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
  std::string prefix = {};
  std::string delimiter = {};
  std::string key_marker = {};  // The last key of the previous page.
  // With key_marker: the last version of that key on the previous page.
  VersionId version_id_marker = {};
  int max_keys = 1000;  // 0 or more. S3 returns at most 1000.
  CallOptions options = {};
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
  ObjectAttributes attributes = {};
  CallOptions options = {};
  // Of the whole upload: "crc64nvme", "crc32c", "crc32", "sha256", "sha1" or "none". Empty: as
  // configured. Other algorithms than CRC64NVME need the checksum of every part, and
  // CompleteMultipartUploadRequest::checksum_algorithm.
  std::string checksum_algorithm = {};
  // "FULL_OBJECT" or "COMPOSITE". Empty: S3's default for the algorithm, and FULL_OBJECT for
  // CRC64NVME.
  std::string checksum_type = {};
};

// One uploaded part, as CompleteMultipartUpload expects it.
struct CompletedPart {
  int part_number = 0;  // 1 to 10,000.
  ETag etag = {};
  std::string checksum_crc64nvme;  // Base64, as computed by S3. Empty: none.
  // With UploadPartRequest::checksum_algorithm other than "crc64nvme": that algorithm and the
  // value that S3 confirmed. Empty: none.
  std::string checksum_algorithm = {};
  std::string checksum_value = {};
};
struct UploadPartRequest {
  using Response = CompletedPart;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  int part_number = 0;
  BodySource* body = nullptr;  // Required.
  CallOptions options = {};
  CustomerKey customer_key = {};        // The one of CreateMultipartUpload (SSE-C).
  std::string checksum_algorithm = {};  // These two as in PutObjectRequest.
  std::string checksum_value = {};
};

struct UploadPartCopyRequest {
  using Response = CompletedPart;
  BucketName source_bucket = {};
  ObjectKey source_key = {};
  std::optional<ByteRange> source_range = {};
  std::optional<ETag> source_if_match = {};
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  int part_number = 0;
  CallOptions options = {};
  VersionId source_version_id = {};               // Empty: the current version.
  CustomerKey customer_key = {};                  // The one of CreateMultipartUpload (SSE-C).
  CustomerKey source_customer_key = {};           // Of a source with SSE-C.
  std::string source_expected_bucket_owner = {};  // Empty: any owner.
};

struct CompleteMultipartUploadRequest {
  using Response = PutObjectResponse;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  std::vector<CompletedPart> parts = {};  // Ascending part numbers.
  std::uint64_t object_size = 0;          // Sum of the part sizes; S3 checks it.
  bool if_none_match_any = false;
  CallOptions options = {};
  // Of the whole object. If the parts do not match it, S3 does not publish the object
  // (kInvalidArgument, BadDigest).
  std::optional<std::uint64_t> crc64nvme;
  std::optional<ETag> if_match = {};  // Only if the current object has this ETag.
  CustomerKey customer_key = {};      // The one of CreateMultipartUpload (SSE-C).
  // Those of CreateMultipartUploadRequest, if the caller chose them.
  std::string checksum_algorithm = {};
  std::string checksum_type = {};
  // Base64 of the checksum of the whole object. Needs checksum_algorithm. Empty: `crc64nvme`.
  std::string checksum_value = {};
};

struct AbortMultipartUploadRequest {
  using Response = NoResponse;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  CallOptions options = {};
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
  CallOptions options = {};
  CustomerKey customer_key = {};  // The one of CreateMultipartUpload (SSE-C).
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
  std::string prefix = {};
  std::string key_marker = {};
  std::string upload_id_marker = {};
  CallOptions options = {};
};

struct CreateBucketRequest {
  using Response = NoResponse;
  BucketName bucket;
  CallOptions options = {};
  std::string acl = {};  // A canned ACL. Not with `grants`.
  std::vector<Grant> grants = {};
  bool object_lock_enabled = false;
  // "BucketOwnerEnforced" (S3's default), "BucketOwnerPreferred" or "ObjectWriter".
  std::string object_ownership = {};
};
struct HeadBucketResponse {
  std::string region;
};
struct HeadBucketRequest {
  using Response = HeadBucketResponse;
  BucketName bucket;
  CallOptions options = {};
};
struct DeleteBucketRequest {
  using Response = NoResponse;
  BucketName bucket;
  CallOptions options = {};
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
  CallOptions options = {};
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
  virtual void Start(DeleteObjectRequest request, Callback<DeleteObjectResponse> done) = 0;
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

  // The bytes of this version that the store returned differ from the object's checksum. A store
  // with a cache removes them from it. Must not be called under a lock.
  virtual void OnMismatch(const BucketName& /*bucket*/, const ObjectKey& /*key*/,
                          const ETag& /*etag*/, std::uint64_t /*object_bytes*/) {}
  // Whether a request that failed may be sent again. If not (max_attempts is 1), a transfer does
  // not repeat reads either.
  virtual bool may_repeat() const { return true; }
  // Threads without a request that could receive further bodies at the same time. A transfer whose
  // bytes keep one thread busy starts more requests for them. 0: none, or unknown.
  virtual int idle_threads() const { return 0; }
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
