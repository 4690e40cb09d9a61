#include "client/torch/tensor_bytes.h"

#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

namespace penstock::torch {

std::optional<at::ScalarType> DtypeOf(std::string_view name) {
  const auto& all = c10::getStringToDtypeMap();
  const auto found = all.find(std::string(name));
  if (found == all.end()) return std::nullopt;
  return found->second;
}

std::string NameOf(at::ScalarType dtype) { return std::string(c10::getDtypeNames(dtype).first); }

at::Tensor EmptyStorage(std::uint64_t bytes) {
  return at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions().dtype(at::kByte));
}

MutableByteView BytesOf(const at::Tensor& storage) {
  return {static_cast<std::byte*>(storage.data_ptr()), storage.nbytes()};
}

at::Tensor ViewOf(const at::Tensor& storage, at::ScalarType dtype, std::int64_t offset,
                  const std::vector<std::int64_t>& sizes,
                  const std::vector<std::int64_t>& strides) {
  at::Tensor view = at::empty({0}, storage.options().dtype(dtype));
  return view.set_(storage.storage(), offset, sizes, strides);
}

Result<at::Tensor> PlainTensor(const std::string& name, const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_quantized() ||
      tensor.is_meta()) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "'" + name +
                           "' is undefined, sparse, quantized or a meta tensor; only tensors with "
                           "strided memory can be saved");
  }
  return tensor.detach().resolve_conj().resolve_neg().cpu();
}

}  // namespace penstock::torch
