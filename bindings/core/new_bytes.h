// Python's memory for what is about to arrive: `bytes` objects made before their content is there,
// and advice.
#ifndef PENSTOCK_BINDINGS_CORE_NEW_BYTES_H_
#define PENSTOCK_BINDINGS_CORE_NEW_BYTES_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::python {

// An uninitialised `bytes` of that size; nobody else may see it before it is filled. Needs the GIL.
// kResourceExhausted when there is no memory.
Result<pybind11::object> NewBytes(std::uint64_t size);

// The memory of such a `bytes`.
inline MutableByteView BytesMemory(const pybind11::object& bytes) {
  return {reinterpret_cast<std::byte*>(PyBytes_AS_STRING(bytes.ptr())),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// Asks the kernel for huge pages under memory that is about to be filled for the first time: fresh
// memory costs most of a large read in page faults, and huge pages make them 512 times fewer. Only
// advice: what is in the memory stays, and memory that cannot have them is left as it is.
void AdviseHugePages(MutableByteView memory);

// What the first bytes of an object land in: a `bytes` where their number was guessed right
// beforehand, else memory that the first response asks for, without the GIL, and that is copied.
class ReceiveBuffer {
 public:
  // So many bytes probably come. Needs the GIL; throws where there is no memory.
  void Expect(std::uint64_t size);
  // For DownloadRequest::destination. Needs no GIL.
  Result<MutableByteView> Place(std::uint64_t size);
  // The `size` bytes that landed. Once; needs the GIL.
  pybind11::object Take(std::uint64_t size);

 private:
  pybind11::object bytes_;  // null: nothing is expected
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_NEW_BYTES_H_
