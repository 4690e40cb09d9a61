#include "client/torch/pinned_store.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/mutex.h"

namespace penstock::torch {
namespace {

class Pins {
 public:
  using Name = std::pair<std::string, std::string>;  // bucket and key

  std::optional<ETag> Of(const Name& name) {
    const MutexLock lock(mutex_);
    const auto found = etags_.find(name);
    if (found == etags_.end()) return std::nullopt;
    return found->second;
  }
  void Add(Name name, const ETag& etag) {
    const MutexLock lock(mutex_);
    if (!etag.empty()) etags_.emplace(std::move(name), etag);
  }

 private:
  Mutex mutex_;
  std::map<Name, ETag> etags_ PENSTOCK_GUARDED_BY(mutex_);
};

class PinnedStore final : public ObjectStore {
 public:
  explicit PinnedStore(std::shared_ptr<ObjectStore> inner) : inner_(std::move(inner)) {}

  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    Pins::Name name(request.bucket.value, request.key.value);
    if (!request.if_match) request.if_match = pins_->Of(name);
    inner_->Start(std::move(request), [pins = pins_, name = std::move(name),
                                       done = std::move(done)](Result<ObjectMetadata> result) {
      if (result.ok()) pins->Add(name, result->etag);
      done(std::move(result));
    });
  }
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(PutObjectRequest request, Callback<PutObjectResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(DeleteObjectRequest request, Callback<DeleteObjectResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(CopyObjectRequest request, Callback<CopyObjectResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(ListObjectVersionsRequest request,
             Callback<ListObjectVersionsResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(CreateMultipartUploadRequest request,
             Callback<CreateMultipartUploadResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(UploadPartCopyRequest request, Callback<CompletedPart> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(ListPartsRequest request, Callback<ListPartsResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(ListMultipartUploadsRequest request,
             Callback<ListMultipartUploadsResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(CreateBucketRequest request, Callback<NoResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(HeadBucketRequest request, Callback<HeadBucketResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(DeleteBucketRequest request, Callback<NoResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void Start(ListBucketsRequest request, Callback<ListBucketsResponse> done) override {
    inner_->Start(std::move(request), std::move(done));
  }
  void OnMismatch(const BucketName& bucket, const ObjectKey& key, const ETag& etag,
                  std::uint64_t object_bytes) override {
    inner_->OnMismatch(bucket, key, etag, object_bytes);
  }
  bool may_repeat() const override { return inner_->may_repeat(); }
  int idle_threads() const override { return inner_->idle_threads(); }
  Deadline DeadlineOf(const CallOptions& options) const override {
    return inner_->DeadlineOf(options);
  }

 private:
  const std::shared_ptr<ObjectStore> inner_;
  const std::shared_ptr<Pins> pins_ = std::make_shared<Pins>();
};

}  // namespace

std::shared_ptr<ObjectStore> PinVersions(std::shared_ptr<ObjectStore> store) {
  return std::make_shared<PinnedStore>(std::move(store));
}

}  // namespace penstock::torch
