// Python memory for data that is about to arrive: `bytes` objects that are created before they are
// filled, and huge-page advice.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_NEW_BYTES_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_NEW_BYTES_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::python {

// Returns an uninitialized `bytes` of that size. No other code may see it before it is filled.
// Needs the GIL. Returns kResourceExhausted if there is no memory.
Result<pybind11::object> NewBytes(std::uint64_t size);

// Returns the memory of such a `bytes`.
inline MutableByteView BytesMemory(const pybind11::object& bytes) {
  return {reinterpret_cast<std::byte*>(PyBytes_AS_STRING(bytes.ptr())),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// Asks the kernel for huge pages under memory that is filled for the first time. Page faults of
// fresh memory are most of the cost of a large read, and huge pages make them 512 times fewer.
// Advisory: the content stays, and memory that cannot have huge pages is unchanged.
void AdviseHugePages(MutableByteView memory);

// Memory for the first bytes of an object. Uses a `bytes` object if the expected size is right;
// otherwise C++ memory, which is allocated without the GIL and copied later.
class ReceiveBuffer {
 public:
  // Prepares for the expected number of bytes. Needs the GIL; throws if there is no memory.
  void Expect(std::uint64_t size);
  // For DownloadRequest::destination. Does not need the GIL.
  Result<MutableByteView> Place(std::uint64_t size);
  // Returns the `size` received bytes. Call it once; needs the GIL.
  pybind11::object Take(std::uint64_t size);

 private:
  pybind11::object bytes_;  // null: no bytes are expected
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_NEW_BYTES_H_
