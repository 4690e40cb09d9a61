// Injects the hook's faults before, after or within the calls of another store.
#include "penstock/testing/faulty_object_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include "client/testing/place.h"
#include "penstock/base/mutex.h"

namespace penstock::testing {
namespace {

// Passes `limit` bytes to `target`, then fails the body with `error`.
class TruncatingSink final : public BodySink {
 public:
  TruncatingSink(BodySink* target, std::uint64_t limit, Error error)
      : target_(target), left_(limit), error_(std::move(error)) {}

  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) override {
    PENSTOCK_TRY(target_->Begin(metadata, body_length));
    if (left_ == 0) return error_;
    return Ok();
  }
  MutableByteView Window() override {
    const MutableByteView window = target_->Window();
    return window.first(std::min<std::uint64_t>(window.size(), left_));
  }
  Result<void> Commit(std::size_t count) override {
    PENSTOCK_TRY(target_->Commit(count));
    left_ -= count;
    if (left_ == 0) return error_;
    return Ok();
  }

 private:
  BodySink* const target_;  // The caller's; outlives the call.
  std::uint64_t left_;
  const Error error_;
};

}  // namespace

struct [[gnu::visibility("hidden")]] FaultyObjectStore::Impl {
  template <class Request>
  std::optional<Fault> FaultFor(const Request& request) {
    const Place place = PlaceOf(request);
    CallPoint point{
        std::string(place.operation), std::string(place.bucket), std::string(place.key), 0, {}, 0};
    if constexpr (requires { request.range; }) point.range = request.range;
    if constexpr (requires { request.part_number; }) {
      point.part_number = std::optional<int>(request.part_number).value_or(0);
    }
    // Held during the hook, so that its calls run one at a time, as the header promises.
    const MutexLock lock(mutex);
    point.ordinal = counts[point.operation]++;
    std::optional<Fault> fault = hook ? hook(point) : std::nullopt;
    if (fault) fault->error.At(point.operation, point.bucket, point.key);
    return fault;
  }

  template <class Request>
  void Run(Request request, Callback<typename Request::Response> done) {
    std::optional<Fault> fault = FaultFor(request);
    if (!fault) return inner->Start(std::move(request), std::move(done));
    if (fault->moment != Fault::Moment::kAfter) return done(std::move(fault->error));
    inner->Start(std::move(request),
                 [error = std::move(fault->error), done = std::move(done)](auto result) {
                   // Only the response of a success is lost; a failed call keeps its own error.
                   if (result.ok()) return done(error);
                   done(std::move(result));
                 });
  }

  void RunGet(GetObjectRequest request, Callback<ObjectMetadata> done) {
    std::optional<Fault> fault = FaultFor(request);
    if (!fault) return inner->Start(std::move(request), std::move(done));
    if (fault->moment == Fault::Moment::kBefore) return done(std::move(fault->error));
    const std::uint64_t limit =
        fault->moment == Fault::Moment::kAfter ? std::uint64_t{0} - 1 : fault->body_bytes;
    auto sink = std::make_shared<TruncatingSink>(request.sink, limit, fault->error);
    GetObjectRequest truncated = request;
    truncated.sink = sink.get();
    inner->Start(std::move(truncated),
                 [store = inner.get(), sink, fault = *fault, request = std::move(request),
                  done = std::move(done)](Result<ObjectMetadata> result) mutable {
                   if (fault.moment == Fault::Moment::kRetried)
                     return store->Start(std::move(request), std::move(done));
                   if (result.ok()) return done(std::move(fault.error));
                   done(std::move(result));
                 });
  }

  std::shared_ptr<ObjectStore> inner;
  FaultHook hook;
  mutable Mutex mutex;
  std::map<std::string, std::uint64_t> counts PENSTOCK_GUARDED_BY(mutex);
};

FaultyObjectStore::FaultyObjectStore(std::shared_ptr<ObjectStore> inner, FaultHook hook)
    : impl_(std::make_shared<Impl>()) {
  impl_->inner = std::move(inner);
  impl_->hook = std::move(hook);
}
FaultyObjectStore::~FaultyObjectStore() = default;

std::uint64_t FaultyObjectStore::count(const std::string& operation) const {
  const MutexLock lock(impl_->mutex);
  const auto found = impl_->counts.find(operation);
  return found == impl_->counts.end() ? 0 : found->second;
}

void FaultyObjectStore::Start(GetObjectRequest request, Callback<ObjectMetadata> done) {
  impl_->RunGet(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(HeadObjectRequest request, Callback<ObjectMetadata> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(PutObjectRequest request, Callback<PutObjectResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(DeleteObjectRequest request, Callback<DeleteObjectResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(CopyObjectRequest request, Callback<CopyObjectResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(ListObjectVersionsRequest request,
                              Callback<ListObjectVersionsResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(CreateMultipartUploadRequest request,
                              Callback<CreateMultipartUploadResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(UploadPartRequest request, Callback<CompletedPart> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(UploadPartCopyRequest request, Callback<CompletedPart> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(CompleteMultipartUploadRequest request,
                              Callback<PutObjectResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(ListPartsRequest request, Callback<ListPartsResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(ListMultipartUploadsRequest request,
                              Callback<ListMultipartUploadsResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(CreateBucketRequest request, Callback<NoResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(HeadBucketRequest request, Callback<HeadBucketResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(DeleteBucketRequest request, Callback<NoResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
void FaultyObjectStore::Start(ListBucketsRequest request, Callback<ListBucketsResponse> done) {
  impl_->Run(std::move(request), std::move(done));
}
bool FaultyObjectStore::may_repeat() const { return impl_->inner->may_repeat(); }
int FaultyObjectStore::idle_threads() const { return impl_->inner->idle_threads(); }
Deadline FaultyObjectStore::DeadlineOf(const CallOptions& options) const {
  return impl_->inner->DeadlineOf(options);
}

}  // namespace penstock::testing
