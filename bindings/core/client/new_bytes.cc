#include "bindings/core/client/new_bytes.h"

#include <sys/mman.h>

#include <new>
#include <string>
#include <utility>

#include "bindings/core/errors.h"

namespace penstock::python {
namespace {

Error NoMemory(std::uint64_t size) {
  return Error::Make(ErrorKind::kResourceExhausted,
                     "no memory for an object of " + std::to_string(size) + " bytes");
}

}  // namespace

void AdviseHugePages(MutableByteView memory) {
  constexpr std::uintptr_t kHugePage = 2u << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto first = (begin + kHugePage - 1) & ~(kHugePage - 1);
  const auto last = (begin + memory.size()) & ~(kHugePage - 1);
  // Advisory: a failure is harmless.
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

Result<pybind11::object> NewBytes(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(PY_SSIZE_T_MAX)) return NoMemory(size);
  PyObject* object = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
  if (object == nullptr) {
    PyErr_Clear();
    return NoMemory(size);
  }
  auto bytes = pybind11::reinterpret_steal<pybind11::object>(object);
  AdviseHugePages(BytesMemory(bytes));
  return bytes;
}

void ReceiveBuffer::Expect(std::uint64_t size) { bytes_ = Unwrap(NewBytes(size)); }

Result<MutableByteView> ReceiveBuffer::Place(std::uint64_t size) {
  if (bytes_ && BytesMemory(bytes_).size() == size) return BytesMemory(bytes_);
  memory_.reset(new (std::nothrow) std::byte[size]);
  if (memory_ == nullptr) return NoMemory(size);
  return MutableByteView(memory_.get(), size);
}

pybind11::object ReceiveBuffer::Take(std::uint64_t size) {
  pybind11::object bytes = std::move(bytes_);
  if (!bytes || BytesMemory(bytes).size() != size)
    bytes = pybind11::bytes(reinterpret_cast<const char*>(memory_.get()), size);
  memory_.reset();
  return bytes;
}

}  // namespace penstock::python
