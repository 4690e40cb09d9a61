// Tensors as bytes: dtypes by name, memory of tensors, and libtorch's exceptions as errors.
#ifndef PENSTOCK_CLIENT_TORCH_TENSOR_BYTES_H_
#define PENSTOCK_CLIENT_TORCH_TENSOR_BYTES_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/torch/s3_uri.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::torch {

// nullopt: this libtorch does not have the dtype.
std::optional<at::ScalarType> DtypeOf(std::string_view name);
std::string NameOf(at::ScalarType dtype);

// A CPU tensor of uint8 whose storage has `bytes` bytes, uninitialised.
at::Tensor EmptyStorage(std::uint64_t bytes);
MutableByteView BytesOf(const at::Tensor& storage);

// A tensor of this dtype and layout in the storage of `storage`.
at::Tensor ViewOf(const at::Tensor& storage, at::ScalarType dtype, std::int64_t offset,
                  const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides);

// The same values as a plain strided tensor on the CPU, without history, and without conjugate and
// negative bits. Returns kInvalidArgument for sparse, quantized and meta tensors; `name` is for the
// message.
Result<at::Tensor> PlainTensor(const std::string& name, const at::Tensor& tensor);

// Calls `call` and converts exceptions to errors.
template <class Call>
auto Guarded(std::string_view operation, const S3Uri& place, const Call& call) -> decltype(call()) {
  const auto failed = [&](ErrorKind kind, const char* what) {
    return Error::Make(kind, std::string("libtorch failed: ") + what)
        .At(operation, place.bucket.value, place.path);
  };
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return failed(ErrorKind::kResourceExhausted, "out of memory");
  } catch (const std::exception& failure) {
    return failed(ErrorKind::kInternal, failure.what());
  } catch (...) {  // of a filter of the caller
    return failed(ErrorKind::kInternal, "an exception of an unknown type");
  }
}

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_TENSOR_BYTES_H_
