// A store that holds its responses until the test releases them.
#ifndef PENSTOCK_CLIENT_TRANSFER_HELD_STORE_TEST_SUPPORT_H_
#define PENSTOCK_CLIENT_TRANSFER_HELD_STORE_TEST_SUPPORT_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "client/transfer/transfer_test_support.h"
#include "penstock/base/mutex.h"

namespace penstock::transfer {

// Holds reads, listings and parts. Thread safety: any thread.
class HeldStore final : public penstock::testing::FaultyObjectStore {
 public:
  explicit HeldStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  ~HeldStore() override { Release(); }

  using FaultyObjectStore::Start;
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    Hold(std::move(request), std::move(done));
  }
  void Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) override {
    Hold(std::move(request), std::move(done));
  }
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    Hold(std::move(request), std::move(done));
  }

  // Completes the held calls. Later calls complete immediately.
  void Release() {
    std::vector<std::function<void()>> held;
    {
      const MutexLock lock(mutex_);
      released_ = true;
      held.swap(held_);
    }
    for (const auto& start : held) start();
  }

  std::size_t held() const {
    const MutexLock lock(mutex_);
    return held_.size();
  }

 private:
  template <class Request>
  void Hold(Request request, Callback<typename Request::Response> done) {
    {
      const MutexLock lock(mutex_);
      if (!released_) {
        held_.push_back([this, request, done] { FaultyObjectStore::Start(request, done); });
        return;
      }
    }
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }

  mutable Mutex mutex_;
  bool released_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> held_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_HELD_STORE_TEST_SUPPORT_H_
