// An ObjectStore in memory, for tests of code that uses ObjectStore.
//
// It follows the rules of S3 that transfer and torch depend on: MD5 ETags, ranges, If-Match,
// multipart uploads, listing pages. It keeps no versions (each object is its own version "null"),
// no ACLs and no checksums. For an HTTP server use the emulator.
#ifndef PENSTOCK_TESTING_MEMORY_OBJECT_STORE_H_
#define PENSTOCK_TESTING_MEMORY_OBJECT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "penstock/base/clock.h"
#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {
namespace testing {

struct MemoryObjectStoreOptions {
  // kThreaded: callbacks run on the store's own threads. kInline: before Start returns.
  enum class Completion { kInline, kThreaded };
  Completion completion = Completion::kThreaded;
  int threads = 2;  // Of kThreaded; at least 1.
  // Minimum size of every part except the last (EntityTooSmall). 0: no minimum.
  std::uint64_t min_part_size_bytes = 5ull << 20;
  // Bodies are copied in pieces of this size; cancellation is checked between them.
  std::size_t chunk_size_bytes = 256u << 10;
  // For Last-Modified and deadlines. Must outlive the store.
  const Clock* clock = &SystemClock();
};

// Thread safety: may be used from any thread. Destruction completes the calls already started. A
// callback may destroy the store.
class MemoryObjectStore final : public ObjectStore {
 public:
  explicit MemoryObjectStore(MemoryObjectStoreOptions options = {});
  ~MemoryObjectStore() override;

  using ObjectStore::Call;
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override;
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override;
  void Start(PutObjectRequest request, Callback<PutObjectResponse> done) override;
  void Start(DeleteObjectRequest request, Callback<DeleteObjectResponse> done) override;
  void Start(DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) override;
  void Start(CopyObjectRequest request, Callback<CopyObjectResponse> done) override;
  void Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) override;
  void Start(ListObjectVersionsRequest request, Callback<ListObjectVersionsResponse> done) override;
  void Start(CreateMultipartUploadRequest request,
             Callback<CreateMultipartUploadResponse> done) override;
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override;
  void Start(UploadPartCopyRequest request, Callback<CompletedPart> done) override;
  void Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) override;
  void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) override;
  void Start(ListPartsRequest request, Callback<ListPartsResponse> done) override;
  void Start(ListMultipartUploadsRequest request,
             Callback<ListMultipartUploadsResponse> done) override;
  void Start(CreateBucketRequest request, Callback<NoResponse> done) override;
  void Start(HeadBucketRequest request, Callback<HeadBucketResponse> done) override;
  void Start(DeleteBucketRequest request, Callback<NoResponse> done) override;
  void Start(ListBucketsRequest request, Callback<ListBucketsResponse> done) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace testing
}  // namespace penstock

#endif  // PENSTOCK_TESTING_MEMORY_OBJECT_STORE_H_
