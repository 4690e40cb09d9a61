// Downloads one object into its own tensor.
#ifndef PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_
#define PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_

#include <memory>
#include <stop_token>

#include "penstock/torch.h"
#include "penstock/waiter.h"

namespace penstock::torch {

// The constructor starts the download. The destructor cancels it and waits for its end.
//
// Thread safety: one owner at a time.
class ObjectTensor {
 public:
  // `store` must outlive this object.
  ObjectTensor(ObjectStore& store, BucketName bucket, ObjectKey key, DownloadOptions options);
  ~ObjectTensor();
  ObjectTensor(const ObjectTensor&) = delete;
  ObjectTensor& operator=(const ObjectTensor&) = delete;

  // Waits for the tensor, as described for ObjectExample. Succeeds once. On an I/O thread it
  // returns kInvalidArgument and takes nothing.
  Result<ObjectExample> Take();

 private:
  const std::string key_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> chain_;  // The caller's stop also stops this download.
  // Shared with the download: an I/O thread creates the destination before the waiter is set.
  std::shared_ptr<::torch::Tensor> tensor_;
  Waiter<DownloadResponse> waiter_;
  bool taken_ = false;
};

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_
