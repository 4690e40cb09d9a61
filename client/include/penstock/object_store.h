// The verbs of S3 as values: a request struct in, a Result<Response> out.
//
// ObjectStore is what transfer/ and torch/ see of S3, so they can be tested without HTTP. It has
// two implementations: Client (client.h) and testing::MemoryObjectStore. It is not the place for
// retries, signing or metrics: those live below it, in the Client's dispatcher.
#ifndef PENSTOCK_OBJECT_STORE_H_
#define PENSTOCK_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock {

// Runs exactly once, on an I/O thread or before Start returns. It must not block: the blocking
// calls of this library fail there with kInvalidArgument. It should not throw: an exception is
// logged and counted, and goes no further.
template <class T>
using Callback = std::function<void(Result<T>)>;

// Polled about every 100 ms by a thread that waits in ObjectStore::Call; true gives up
// (kCancelled).
using Interrupt = std::function<bool()>;

// What every call may carry.
struct CallOptions {
  Deadline deadline = Deadline::Never();  // over all attempts
  std::stop_token cancel;                 // a stop ends the call with kCancelled, soon
};

// Metadata of one object version.
struct ObjectMetadata {
  std::uint64_t size = 0;  // bytes of the whole object, also when a range was read
  ETag etag;
  WallTime last_modified{};
  std::string content_type;
  std::string storage_class;  // empty: STANDARD
  VersionId version_id;       // empty: bucket not versioned
  std::string restore;        // x-amz-restore, raw; empty: none
  // x-amz-checksum-* of the whole object where S3 sent one: {"crc64nvme", base64}; COMPOSITE values
  // are left out.
  std::vector<std::pair<std::string, std::string>> checksums;
  std::vector<std::pair<std::string, std::string>> user_metadata;  // names without "x-amz-meta-"
};

// Where the bytes of a response go. Nothing is copied on the way: the transport fills Window().
//
// Begin, then any number of (Window, Commit), in order, from one thread at a time. A store may go
// on from the byte reached after a failure, which is not seen here, or read anew: then Begin is
// called again: forget what came before. The sink outlives the call's completion. Errors and
// exceptions end the call with that error; kCancelled from Commit says that enough has come and
// counts as no failure. Begin and Commit may start other calls on the same store: a download asks
// for other parts as soon as it knows that they are worth having.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // `body_length`: bytes that will follow, if the response says so. `metadata.size` is the whole
  // object's.
  virtual Result<void> Begin(const ObjectMetadata& metadata,
                             std::optional<std::uint64_t> body_length) = 0;
  // Asked after Begin. True: the owner of this sink compares the bytes with metadata.checksums, so
  // the store need not.
  virtual bool FollowsChecksum() const { return false; }
  // Memory for the next bytes; not empty unless the sink is full (more bytes are then kDataLoss).
  virtual MutableByteView Window() = 0;
  // The first `count` bytes of the last Window() are filled. count <= Window().size().
  virtual Result<void> Commit(std::size_t count) = 0;
};

// Bytes to send. Readable more than once: a retry rewinds. Outlives the call's completion, which an
// exception of it ends with an error.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::uint64_t size() const = 0;
  virtual void Rewind() = 0;
  // Next bytes, at most `limit`; a view that lives until the next call. Empty: the end.
  virtual ByteView Next(std::size_t limit) = 0;
  // CRC64NVME of all its bytes, where that is known: sent with them as it is. Unset: the store
  // reads them for it first.
  virtual std::optional<std::uint64_t> crc64nvme() const { return std::nullopt; }
  // True: the owner computes it while the bytes pass, for
  // CompleteMultipartUploadRequest::crc64nvme, so that no store need read them first; a part then
  // has no checksum of its own. PutObject does not ask.
  virtual bool FollowsChecksum() const { return false; }
};

struct NoResponse {};

// A range of an object; unset members are open ends. `suffix` (the last N bytes) excludes the other
// two.
struct RangeRequest {
  std::optional<std::uint64_t> begin;
  std::optional<std::uint64_t> end;  // half-open
  std::optional<std::uint64_t> suffix;
};

struct GetObjectRequest {
  using Response = ObjectMetadata;
  BucketName bucket;
  ObjectKey key;
  std::optional<RangeRequest> range;  // unset: the whole object
  std::optional<ETag> if_match;
  VersionId version_id;
  BodySink* sink = nullptr;  // required
  CallOptions options;
};

struct HeadObjectRequest {
  using Response = ObjectMetadata;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id;
  CallOptions options;
};

// What an upload may say about the object. Used by PutObject and CreateMultipartUpload.
struct ObjectAttributes {
  std::string content_type;   // empty: S3's default, binary/octet-stream
  std::string storage_class;  // empty: STANDARD
  std::vector<std::pair<std::string, std::string>> user_metadata;
};

struct PutObjectResponse {
  ETag etag;
  VersionId version_id;
  std::optional<std::uint64_t> object_size;  // of an append: bytes of the whole object now
};
struct PutObjectRequest {
  using Response = PutObjectResponse;
  BucketName bucket;
  ObjectKey key;
  BodySource* body = nullptr;  // required
  ObjectAttributes attributes;
  std::optional<ETag> if_match;
  bool if_none_match_any = false;  // only if no object has that key
  CallOptions options;
  // Directory buckets only: the body is appended at this offset, which must be the object's size; 0
  // makes the object.
  std::optional<std::uint64_t> write_offset;
  // With write_offset: the CRC that is sent, "crc64nvme", "crc32c" or "crc32", which must be the
  // one the object has, or "none". Empty: as configured.
  std::string checksum_algorithm;
};

struct DeleteObjectRequest {
  using Response = NoResponse;
  BucketName bucket;
  ObjectKey key;
  VersionId version_id;
  CallOptions options;
  std::optional<ETag> if_match;  // another ETag: kPreconditionFailed, and the object stays
};

struct DeleteObjectsResponse {
  struct Failure {
    ObjectKey key;
    std::string code;
    std::string message;
  };
  std::vector<Failure> failures;  // keys not listed are gone
};
struct DeleteObjectsRequest {
  using Response = DeleteObjectsResponse;
  BucketName bucket;
  std::vector<ObjectKey> keys;  // 1 to 1000
  CallOptions options;
};

struct CopyObjectResponse {
  ETag etag;
  WallTime last_modified{};
  VersionId version_id;  // of the copy; empty: bucket not versioned
};
struct CopyObjectRequest {
  using Response = CopyObjectResponse;
  BucketName source_bucket;
  ObjectKey source_key;
  BucketName bucket;
  ObjectKey key;
  std::optional<ETag> source_if_match;
  CallOptions options;
  VersionId source_version_id;  // empty: the current version
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
  std::string next_token;  // empty: the last page
};
struct ListObjectsRequest {
  using Response = ListObjectsResponse;
  BucketName bucket;
  std::string prefix;
  std::string delimiter;
  std::string continuation_token;
  std::string start_after;
  int max_keys = 1000;  // 0 or more; S3 sends 1000 at most
  CallOptions options;
};

// One version of an object, or a delete marker, which has neither size nor ETag.
struct ObjectVersionSummary {
  ObjectKey key;
  VersionId version_id;  // "null": from a time when the bucket kept no versions
  bool is_latest = false;
  bool is_delete_marker = false;
  std::uint64_t size = 0;
  ETag etag;
  WallTime last_modified{};
  std::string storage_class;  // empty: STANDARD
};
struct ListObjectVersionsResponse {
  std::vector<ObjectVersionSummary> versions;  // keys ascending, those of one key newest first
  std::vector<std::string> common_prefixes;
  std::string next_key_marker;  // empty: the last page
  // empty: the next page begins after all versions of that key, or after that prefix
  VersionId next_version_id_marker;
};
struct ListObjectVersionsRequest {
  using Response = ListObjectVersionsResponse;
  BucketName bucket;
  std::string prefix;
  std::string delimiter;
  std::string key_marker;       // the last key already seen
  VersionId version_id_marker;  // with key_marker: the last of its versions already seen
  int max_keys = 1000;          // 0 or more; S3 sends 1000 at most
  CallOptions options;
};

struct CreateMultipartUploadResponse {
  UploadId upload_id;
  // The upload keeps a CRC64NVME of the whole object: parts need none of their own, Complete may
  // give the whole's.
  bool keeps_crc64nvme = false;
};
struct CreateMultipartUploadRequest {
  using Response = CreateMultipartUploadResponse;
  BucketName bucket;
  ObjectKey key;
  ObjectAttributes attributes;
  CallOptions options;
};

// One finished part, as CompleteMultipartUpload wants it back.
struct CompletedPart {
  int part_number = 0;  // 1 to 10,000
  ETag etag;
  std::string checksum_crc64nvme;  // base64, as S3 computed it; empty: none
};
struct UploadPartRequest {
  using Response = CompletedPart;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  int part_number = 0;
  BodySource* body = nullptr;  // required
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
  VersionId source_version_id;  // empty: the current version
};

struct CompleteMultipartUploadRequest {
  using Response = PutObjectResponse;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  std::vector<CompletedPart> parts;  // ascending part numbers
  std::uint64_t object_size = 0;     // sum of the parts; S3 checks it
  bool if_none_match_any = false;
  CallOptions options;
  // Of the whole object: S3 publishes it only if that is what the parts amount to
  // (kInvalidArgument, BadDigest).
  std::optional<std::uint64_t> crc64nvme;
  std::optional<ETag> if_match;  // only over the object with this ETag
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
  int next_part_number_marker = 0;  // 0: the last page
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
  std::string next_key_marker;  // empty: the last page
  std::string next_upload_id_marker;
};
// One page, of at most 1,000 uploads. For the next page copy the response's markers into the
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

// Thread safety: safe from any thread. `Start` does not block on the network. Requests are taken by
// value; the sinks, sources and whatever the callback captures must live until the callback has
// run.
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

  // Start, then wait. On an interrupt the call is cancelled and its completion still awaited, so
  // that no memory the request points to is in use when this returns. In a callback:
  // kInvalidArgument, and nothing is started.
  template <class Request>
  Result<typename Request::Response> Call(Request request, const Interrupt& interrupt = {});
};

}  // namespace penstock

#include "penstock/object_store_call.inc"  // IWYU pragma: keep

#endif  // PENSTOCK_OBJECT_STORE_H_
