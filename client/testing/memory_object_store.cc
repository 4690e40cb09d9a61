// Decides when the operations of MemoryState run: inline, or in order of arrival on a few threads.
#include "penstock/testing/memory_object_store.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "client/testing/memory_state.h"
#include "client/testing/place.h"
#include "penstock/base/mutex.h"

namespace penstock::testing {

struct [[gnu::visibility("hidden")]] MemoryObjectStore::Impl {
  explicit Impl(const MemoryObjectStoreOptions& given) : options(given), state(given) {}

  // Each worker owns `self`, so that a callback may destroy the store.
  static void StartWorkers(const std::shared_ptr<Impl>& self) {
    if (self->options.completion == MemoryObjectStoreOptions::Completion::kInline) return;
    for (int i = 0; i < std::max(1, self->options.threads); ++i)
      self->workers.emplace_back([self] { self->Work(); });
  }

  // Returns after the callbacks of all calls, except those that follow on the calling thread.
  void Stop() {
    {
      const MutexLock lock(mutex);
      stopping = true;
      wake.NotifyAll();
    }
    for (std::thread& worker : workers) {
      if (worker.get_id() == std::this_thread::get_id()) {
        worker.detach();
      } else {
        worker.join();
      }
    }
  }

  // Completes the queued tasks before it stops, so that every callback runs.
  void Work() {
    for (;;) {
      std::function<void()> task;
      {
        const MutexLock lock(mutex);
        while (queue.empty() && !stopping) wake.WaitIdle(mutex);
        if (queue.empty()) return;
        task = std::move(queue.front());
        queue.pop_front();
      }
      task();
    }
  }

  template <class Request>
  void Submit(Request request, Callback<typename Request::Response> done) {
    auto step = [this, request = std::move(request), done = std::move(done)] {
      const CallOptions& call = request.options;
      const Result<void> alive = state.CheckAlive(call);
      Result<typename Request::Response> result =
          alive.ok() ? state.Apply(request) : Result<typename Request::Response>(alive.error());
      done(WithPlace(std::move(result), request));
    };
    if (workers.empty()) return step();
    const MutexLock lock(mutex);
    queue.emplace_back(std::move(step));
    wake.NotifyOne();
  }

  template <class Request>
  static Result<typename Request::Response> WithPlace(Result<typename Request::Response> result,
                                                      const Request& request) {
    if (!result.ok()) {
      const Place place = PlaceOf(request);
      result.error().At(place.operation, place.bucket, place.key);
    }
    return result;
  }

  const MemoryObjectStoreOptions options;
  MemoryState state;
  Mutex mutex;
  CondVar wake;
  std::deque<std::function<void()>> queue PENSTOCK_GUARDED_BY(mutex);
  bool stopping PENSTOCK_GUARDED_BY(mutex) = false;
  std::vector<std::thread> workers;
};

MemoryObjectStore::MemoryObjectStore(MemoryObjectStoreOptions options)
    : impl_(std::make_shared<Impl>(options)) {
  Impl::StartWorkers(impl_);
}
MemoryObjectStore::~MemoryObjectStore() { impl_->Stop(); }

void MemoryObjectStore::Start(GetObjectRequest request, Callback<ObjectMetadata> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(HeadObjectRequest request, Callback<ObjectMetadata> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(PutObjectRequest request, Callback<PutObjectResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(DeleteObjectRequest request, Callback<DeleteObjectResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(CopyObjectRequest request, Callback<CopyObjectResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(ListObjectVersionsRequest request,
                              Callback<ListObjectVersionsResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(CreateMultipartUploadRequest request,
                              Callback<CreateMultipartUploadResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(UploadPartRequest request, Callback<CompletedPart> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(UploadPartCopyRequest request, Callback<CompletedPart> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(CompleteMultipartUploadRequest request,
                              Callback<PutObjectResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(ListPartsRequest request, Callback<ListPartsResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(ListMultipartUploadsRequest request,
                              Callback<ListMultipartUploadsResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(CreateBucketRequest request, Callback<NoResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(HeadBucketRequest request, Callback<HeadBucketResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(DeleteBucketRequest request, Callback<NoResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}
void MemoryObjectStore::Start(ListBucketsRequest request, Callback<ListBucketsResponse> done) {
  impl_->Submit(std::move(request), std::move(done));
}

}  // namespace penstock::testing
