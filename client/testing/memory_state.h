// What MemoryObjectStore holds, and each verb as one synchronous step on it.
//
// Knows S3's rules, not threads of completion: memory_object_store.cc decides when a step runs.
#ifndef PENSTOCK_CLIENT_TESTING_MEMORY_STATE_H_
#define PENSTOCK_CLIENT_TESTING_MEMORY_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/mutex.h"
#include "penstock/object_store.h"
#include "penstock/testing/memory_object_store.h"

namespace penstock::testing {

// Bytes of one object or part; allocated once, never zero-filled.
struct Blob {
  std::unique_ptr<std::byte[]> data;
  std::uint64_t size = 0;
  ByteView view() const { return {data.get(), size}; }
};

struct StoredObject {
  std::shared_ptr<const Blob> blob;  // shared with readers that began before an overwrite
  ObjectMetadata metadata;
};

struct StoredPart {
  std::shared_ptr<const Blob> blob;  // shared with the completed upload's remembered parts
  ETag etag;
};

struct StoredUpload {
  ObjectKey key;
  ObjectAttributes attributes;
  WallTime initiated{};
  std::map<int, StoredPart> parts;
};

struct StoredBucket {
  WallTime created{};
  std::map<std::string, StoredObject> objects;  // std::string orders by unsigned bytes, as S3 does
  std::map<std::string, StoredUpload> uploads;
  // Answers of completed uploads: repeating Complete returns them (spec §2.11 Idempotency).
  std::map<std::string, PutObjectResponse> completed;
};

// An error as S3 would have sent it.
Error S3Error(ErrorKind kind, int http_status, std::string code, std::string message);

// Hex MD5, as the ETag of a single PUT or part.
ETag Md5ETag(ByteView bytes);

// Pure listing of one bucket (spec §2.4).
Result<ListObjectsResponse> ListBucket(const StoredBucket& bucket,
                                       const ListObjectsRequest& request);
Result<ListObjectVersionsResponse> ListBucket(const StoredBucket& bucket,
                                              const ListObjectVersionsRequest& request);

// What every object's only version is called.
inline constexpr std::string_view kNullVersion = "null";

// Thread safety: safe from any thread.
class MemoryState {
 public:
  explicit MemoryState(const MemoryObjectStoreOptions& options) : options_(options) {}

  Result<ObjectMetadata> Apply(const GetObjectRequest& request);
  Result<ObjectMetadata> Apply(const HeadObjectRequest& request);
  Result<PutObjectResponse> Apply(const PutObjectRequest& request);
  Result<NoResponse> Apply(const DeleteObjectRequest& request);
  Result<DeleteObjectsResponse> Apply(const DeleteObjectsRequest& request);
  Result<CopyObjectResponse> Apply(const CopyObjectRequest& request);
  Result<ListObjectsResponse> Apply(const ListObjectsRequest& request);
  Result<ListObjectVersionsResponse> Apply(const ListObjectVersionsRequest& request);
  Result<CreateMultipartUploadResponse> Apply(const CreateMultipartUploadRequest& request);
  Result<CompletedPart> Apply(const UploadPartRequest& request);
  Result<CompletedPart> Apply(const UploadPartCopyRequest& request);
  Result<PutObjectResponse> Apply(const CompleteMultipartUploadRequest& request);
  Result<NoResponse> Apply(const AbortMultipartUploadRequest& request);
  Result<ListPartsResponse> Apply(const ListPartsRequest& request);
  Result<ListMultipartUploadsResponse> Apply(const ListMultipartUploadsRequest& request);
  Result<NoResponse> Apply(const CreateBucketRequest& request);
  Result<HeadBucketResponse> Apply(const HeadBucketRequest& request);
  Result<NoResponse> Apply(const DeleteBucketRequest& request);
  Result<ListBucketsResponse> Apply(const ListBucketsRequest& request);

  // kCancelled or kTimeout when the call should end now.
  Result<void> CheckAlive(const CallOptions& call) const;

 private:
  Result<StoredBucket*> FindBucket(const BucketName& name) PENSTOCK_REQUIRES(mutex_);
  Result<StoredObject> FindObject(const BucketName& bucket, const ObjectKey& key,
                                  const VersionId& version);
  Result<StoredUpload*> FindUpload(const BucketName& bucket, const ObjectKey& key,
                                   const UploadId& id) PENSTOCK_REQUIRES(mutex_);
  Result<std::shared_ptr<const Blob>> ReadAll(BodySource* body, const CallOptions& call) const;
  Result<CompletedPart> StorePart(const BucketName& bucket, const ObjectKey& key,
                                  const UploadId& id, int part_number,
                                  std::shared_ptr<const Blob> blob);
  // A put with a write offset, which directory buckets take.
  Result<PutObjectResponse> Append(const PutObjectRequest& request, const Blob& more,
                                   StoredBucket& bucket) const;
  ObjectMetadata MakeMetadata(const Blob& blob, ETag etag,
                              const ObjectAttributes& attributes) const;

  const MemoryObjectStoreOptions options_;
  Mutex mutex_;
  std::map<std::string, StoredBucket> buckets_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t next_upload_ PENSTOCK_GUARDED_BY(mutex_) = 1;
};

}  // namespace penstock::testing

#endif  // PENSTOCK_CLIENT_TESTING_MEMORY_STATE_H_
