// One object on its way into a tensor of its own.
#ifndef PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_
#define PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_

#include <memory>
#include <stop_token>

#include "penstock/torch.h"
#include "penstock/waiter.h"

namespace penstock::torch {

// A download started by the constructor. Destruction cancels and awaits it.
//
// Thread safety: one owner at a time.
class ObjectTensor {
 public:
  // `store` outlives this.
  ObjectTensor(ObjectStore& store, BucketName bucket, ObjectKey key, DownloadOptions options);
  ~ObjectTensor();
  ObjectTensor(const ObjectTensor&) = delete;
  ObjectTensor& operator=(const ObjectTensor&) = delete;

  // Waits; succeeds once. Tensor as ObjectExample describes it. On an I/O thread: kInvalidArgument,
  // and nothing is taken.
  Result<ObjectExample> Take();

 private:
  const std::string key_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> chain_;  // the caller's stop is ours
  // Shared with the download: the destination is made on an I/O thread, before the waiter is set.
  std::shared_ptr<::torch::Tensor> tensor_;
  Waiter<DownloadResponse> waiter_;
  bool taken_ = false;
};

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_
