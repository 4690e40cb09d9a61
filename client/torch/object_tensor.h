// Downloads one object into its own tensor.
#ifndef PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_
#define PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_

#include <memory>

#include "client/transfer/process_bound.h"
#include "penstock/torch.h"

namespace penstock::torch {

// The constructor starts the download. The destructor cancels it and waits for its end, as
// described for ProcessBound.
//
// Thread safety: one owner at a time.
class ObjectTensor {
 public:
  ObjectTensor(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
               DownloadOptions options);
  ~ObjectTensor();

  // Waits for the tensor, as described for ObjectExample. Succeeds once. On an I/O thread and in a
  // forked child it returns kInvalidArgument and takes nothing.
  Result<ObjectExample> Take();

 private:
  struct Impl;
  transfer::ProcessBound<Impl> download_;
};

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_OBJECT_TENSOR_H_
