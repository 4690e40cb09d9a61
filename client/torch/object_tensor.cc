#include "client/torch/object_tensor.h"

#include <exception>
#include <functional>
#include <stop_token>
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

struct [[gnu::visibility("hidden")]] ObjectTensor::Impl {
  Impl(std::shared_ptr<ObjectStore> given, BucketName bucket, ObjectKey target,
       DownloadOptions options)
      : store(std::move(given)), key(target.value), tensor(std::make_shared<::torch::Tensor>()) {
    // Take waits; on an I/O thread it would wait for ever.
    if (Result<void> allowed = CheckMayBlock("reading an object into a tensor"); !allowed.ok()) {
      download = Pending<DownloadResponse>::Of(std::move(allowed).error());
      return;
    }
    DownloadRequest request;
    request.bucket = std::move(bucket);
    request.key = std::move(target);
    request.options = std::move(options);
    request.destination = [tensor = tensor](std::uint64_t size) { return Allocate(*tensor, size); };
    // Not owned by the download: an I/O thread must not be the one that destroys the store.
    download = DownloadAsync({std::shared_ptr<void>(), store.get()}, std::move(request));
  }

  ~Impl() {
    if (!download.valid()) return;
    download.Cancel();
    const auto ignored = download.Get();
    static_cast<void>(ignored);
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const std::shared_ptr<ObjectStore> store;
  const std::string key;
  // Shared with the download: an I/O thread creates the destination before `download` is set.
  std::shared_ptr<::torch::Tensor> tensor;
  Pending<DownloadResponse> download;
};

ObjectTensor::ObjectTensor(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                           DownloadOptions options)
    : download_(std::make_unique<Impl>(std::move(store), std::move(bucket), std::move(key),
                                       std::move(options)),
                "this download") {}

ObjectTensor::~ObjectTensor() = default;

Result<ObjectExample> ObjectTensor::Take() {
  PENSTOCK_TRY(download_.CheckBlockingUse("ObjectTensor::Take"));
  Impl& impl = download_.object();
  PENSTOCK_CHECK(impl.download.valid());
  Result<DownloadResponse> downloaded = impl.download.Get();
  if (!downloaded.ok()) return std::move(downloaded).error();
  return ObjectExample(std::move(*impl.tensor), impl.key);
}

}  // namespace penstock::torch
