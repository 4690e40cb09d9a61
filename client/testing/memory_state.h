// The contents of MemoryObjectStore, and each operation as one synchronous function.
//
// It implements S3's rules but no completion threads: memory_object_store.cc decides when an
// operation runs.
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

// The bytes of one object or part. Allocated once, never zero-filled.
struct Blob {
  std::unique_ptr<std::byte[]> data;
  std::uint64_t size = 0;
  ByteView view() const { return {data.get(), size}; }
};

struct StoredObject {
  std::shared_ptr<const Blob> blob;  // Shared with readers that started before an overwrite.
  ObjectMetadata metadata;
};

struct StoredPart {
  std::shared_ptr<const Blob> blob;  // Shared with the parts kept for the completed upload.
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
  std::map<std::string, StoredObject> objects;  // std::string orders by unsigned bytes, as S3 does.
  std::map<std::string, StoredUpload> uploads;
  // Responses of completed uploads. A repeated CompleteMultipartUpload returns the same response.
  std::map<std::string, PutObjectResponse> completed;
};

// Returns an error like the one S3 sends.
Error S3Error(ErrorKind kind, int http_status, std::string code, std::string message);

// Returns the hex MD5, the ETag of a single PUT or part.
ETag Md5ETag(ByteView bytes);

// Lists one bucket; a pure function.
Result<ListObjectsResponse> ListBucket(const StoredBucket& bucket,
                                       const ListObjectsRequest& request);
Result<ListObjectVersionsResponse> ListBucket(const StoredBucket& bucket,
                                              const ListObjectVersionsRequest& request);

// The version id of every object.
inline constexpr std::string_view kNullVersion = "null";

// Thread safety: may be used from any thread.
class MemoryState {
 public:
  explicit MemoryState(const MemoryObjectStoreOptions& options) : options_(options) {}

  Result<ObjectMetadata> Apply(const GetObjectRequest& request);
  Result<ObjectMetadata> Apply(const HeadObjectRequest& request);
  Result<PutObjectResponse> Apply(const PutObjectRequest& request);
  Result<DeleteObjectResponse> Apply(const DeleteObjectRequest& request);
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

  // Returns kCancelled or kTimeout if the call must end now.
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
  // A PutObject with a write offset, for directory buckets.
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
