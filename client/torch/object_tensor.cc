#include "client/torch/object_tensor.h"

#include <exception>
#include <utility>

#include <torch/types.h>

namespace penstock::torch {
namespace {

// Uninitialized memory of exactly that size, inside a tensor.
Result<MutableByteView> Allocate(::torch::Tensor& tensor, std::uint64_t size) {
  try {
    tensor = at::empty({static_cast<std::int64_t>(size)}, at::TensorOptions().dtype(at::kByte));
  } catch (const std::exception& failure) {
    return Error::Make(ErrorKind::kResourceExhausted, "no tensor of " + std::to_string(size) + " bytes: " + failure.what());
  }
  return MutableByteView(static_cast<std::byte*>(tensor.data_ptr()), size);
}

}  // namespace

ObjectTensor::ObjectTensor(ObjectStore& store, BucketName bucket, ObjectKey key, DownloadOptions options)
    : key_(key.value),
      chain_(options.call.cancel, [source = stop_]() mutable { source.request_stop(); }),
      tensor_(std::make_shared<::torch::Tensor>()) {
  DownloadRequest request;
  request.bucket = std::move(bucket);
  request.key = std::move(key);
  request.options = std::move(options);
  request.options.call.cancel = stop_.get_token();
  request.destination = [tensor = tensor_](std::uint64_t size) { return Allocate(*tensor, size); };
  // Not owned: it outlives this, which waits for the completion.
  StartDownload({std::shared_ptr<void>(), &store}, std::move(request), waiter_.Done());
}

ObjectTensor::~ObjectTensor() {
  if (taken_) return;
  stop_.request_stop();
  const auto ignored = waiter_.Wait({}, stop_);
  static_cast<void>(ignored);
}

Result<ObjectExample> ObjectTensor::Take() {
  PENSTOCK_CHECK(!taken_);
  Result<DownloadResponse> downloaded = waiter_.Wait({}, stop_);
  taken_ = true;
  if (!downloaded.ok()) return std::move(downloaded).error();
  return ObjectExample(std::move(*tensor_), key_);
}

}  // namespace penstock::torch
