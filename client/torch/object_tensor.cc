#include "client/torch/object_tensor.h"

#include <exception>
#include <string>
#include <utility>

#include <torch/types.h>

#include "penstock/base/blocking.h"

namespace penstock::torch {
namespace {

// Allocates a tensor of exactly `size` uninitialized bytes.
Result<MutableByteView> Allocate(::torch::Tensor& tensor, std::uint64_t size) {
  try {
    tensor = at::empty({static_cast<std::int64_t>(size)}, at::TensorOptions().dtype(at::kByte));
  } catch (const std::exception& failure) {
    return Error::Make(
        ErrorKind::kResourceExhausted,
        "cannot allocate a tensor of " + std::to_string(size) + " bytes: " + failure.what());
  }
  return MutableByteView(static_cast<std::byte*>(tensor.data_ptr()), size);
}

}  // namespace

ObjectTensor::ObjectTensor(ObjectStore& store, BucketName bucket, ObjectKey key,
                           DownloadOptions options)
    : key_(key.value),
      chain_(options.call.cancel, [source = stop_]() mutable { source.request_stop(); }),
      tensor_(std::make_shared<::torch::Tensor>()) {
  // Take and the destructor wait; on an I/O thread they would wait for ever.
  if (Result<void> allowed = CheckMayBlock("reading an object into a tensor"); !allowed.ok()) {
    waiter_.Done()(std::move(allowed).error());
    return;
  }
  DownloadRequest request;
  request.bucket = std::move(bucket);
  request.key = std::move(key);
  request.options = std::move(options);
  request.options.call.cancel = stop_.get_token();
  request.destination = [tensor = tensor_](std::uint64_t size) { return Allocate(*tensor, size); };
  // Not owned: `store` outlives this object, which waits for the completion.
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
  PENSTOCK_TRY(CheckMayBlock("ObjectTensor::Take"));
  Result<DownloadResponse> downloaded = waiter_.Wait({}, stop_);
  taken_ = true;
  if (!downloaded.ok()) return std::move(downloaded).error();
  return ObjectExample(std::move(*tensor_), key_);
}

}  // namespace penstock::torch
