// Wraps any ObjectStore and injects failures chosen by a hook.
#ifndef PENSTOCK_TESTING_FAULTY_OBJECT_STORE_H_
#define PENSTOCK_TESTING_FAULTY_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {
namespace testing {

// A call that is about to start, as passed to the hook.
struct CallPoint {
  std::string operation;  // "GetObject"
  std::string bucket;
  std::string key;                    // Empty if the operation has none.
  std::uint64_t ordinal = 0;          // 0-based, counted per operation in the order of Start.
  std::optional<RangeRequest> range;  // Of GetObject.
  int part_number = 0;                // Of UploadPart.
};

// The failure of one call.
struct Fault {
  enum class Moment {
    kBefore,   // The call has no effect and returns the error.
    kAfter,    // The call takes effect and its response is lost.
    kMidBody,  // GetObject: `body_bytes` of the body arrive, then the error.
    // GetObject: `body_bytes` arrive, then the body starts again at its first byte and succeeds.
    kRetried,
  };
  Error error;
  Moment moment = Moment::kBefore;
  std::uint64_t body_bytes = 0;
};

using FaultHook = std::function<std::optional<Fault>(const CallPoint&)>;

// Thread safety: may be used from any thread. The hook runs on any thread, one call at a time. Must
// outlive the calls started through it.
class FaultyObjectStore : public ObjectStore {
 public:
  FaultyObjectStore(std::shared_ptr<ObjectStore> inner, FaultHook hook);
  ~FaultyObjectStore() override;

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
  bool may_repeat() const override;
  int idle_threads() const override;
  Deadline DeadlineOf(const CallOptions& options) const override;

  // Calls started so far, by operation name.
  std::uint64_t count(const std::string& operation) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace testing
}  // namespace penstock

#endif  // PENSTOCK_TESTING_FAULTY_OBJECT_STORE_H_
