// Tensors from Python by DLPack, https://dmlc.github.io/dlpack/latest/c_api.html.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_DLPACK_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_DLPACK_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace penstock::python {

// The memory of a tensor, on any device. Keeps it alive. Creation and destruction need the GIL.
class TensorMemory {
 public:
  // Takes a capsule as of `Tensor.__dlpack__()`, which stays unconsumed.
  explicit TensorMemory(pybind11::object capsule) : capsule_(std::move(capsule)) {
    if (!PyCapsule_IsValid(capsule_.ptr(), "dltensor"))
      throw pybind11::type_error("expected a DLPack capsule, not " +
                                 std::string(Py_TYPE(capsule_.ptr())->tp_name));
    tensor_ = static_cast<const Tensor*>(PyCapsule_GetPointer(capsule_.ptr(), "dltensor"));
  }

  // Of the first element.
  std::byte* data() const { return static_cast<std::byte*>(tensor_->data) + tensor_->byte_offset; }
  std::uint64_t item_bytes() const {
    return (std::uint64_t{tensor_->bits} * tensor_->lanes + 7) / 8;
  }
  std::vector<std::int64_t> sizes() const {
    return {tensor_->shape, tensor_->shape + tensor_->dimensions};
  }

 private:
  struct Tensor {  // DLTensor
    void* data;
    std::int32_t device_type;
    std::int32_t device_id;
    std::int32_t dimensions;
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
    std::int64_t* shape;
    std::int64_t* strides;  // null: row-major
    std::uint64_t byte_offset;
  };

  pybind11::object capsule_;
  const Tensor* tensor_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_DLPACK_H_
