// The state of the process's memory budget, for tests and diagnostics, and checksums of memory.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "base/crc/named_crc.h"
#include "bindings/core/client/bindings.h"
#include "bindings/core/errors.h"
#include "penstock/memory.h"

namespace penstock::python {

namespace py = pybind11;
using namespace py::literals;

namespace {

// Up to this size, releasing the GIL costs more than the checksum.
constexpr std::uint64_t kLittle = 64 << 10;

template <auto kCrc, typename Value>
Value CrcOfBytes(ByteView bytes, Value previous) {
  if (bytes.size() <= kLittle) return kCrc(bytes, previous);
  return WithoutGil([&] { return kCrc(bytes, previous); });
}

// Returns the CRC of memory that the caller keeps valid.
template <auto kCrc, typename Value>
Value CrcOf(std::uint64_t address, std::uint64_t size, Value previous) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the caller's memory.
  return CrcOfBytes<kCrc>(ByteView(reinterpret_cast<const std::byte*>(address), size), previous);
}

std::uint32_t Crc32OfBuffer(const py::object& data, std::uint32_t previous) {
  const BufferView view(data, BufferView::Access::kRead);
  return CrcOfBytes<&Crc32>(view.bytes(), previous);
}

using Checksums = std::vector<std::pair<std::string, std::string>>;

std::uint64_t PrefixCrc(const Checksums& checksums, const py::object& data,
                        std::uint64_t previous) {
  const BufferView view(data, BufferView::Access::kRead);
  return WithoutGil([&] { return UpdateCrc(FindCrc(checksums).crc, view.bytes(), previous); });
}

}  // namespace

void BindMemory(py::module_& module) {
  module.def("crc32", &CrcOf<&Crc32, std::uint32_t>, "address"_a, "size"_a, "previous"_a = 0,
             "CRC-32, as zlib's, of `size` bytes at `address`.");
  module.def(
      "crc32_of", &Crc32OfBuffer, "data"_a, "previous"_a = 0,
      "CRC-32, as zlib's, of a contiguous buffer that follows bytes with the CRC-32 `previous`.");
  module.def(
      "prefix_crc", &PrefixCrc, "checksums"_a, "data"_a, "previous"_a = 0,
      "The CRC, of the kind that verifies an object with `checksums`, of a contiguous buffer "
      "that follows bytes with the CRC `previous`.");
  module.def("crc64nvme", &CrcOf<&Crc64Nvme, std::uint64_t>, "address"_a, "size"_a,
             "previous"_a = 0, "CRC-64/NVME of `size` bytes at `address`.");
  module.def("crc32_combine", &CombineCrc32, "first"_a, "second"_a, "second_size"_a,
             "The CRC-32 of A followed by B, from those of A and B and the size of B in bytes.");
  module.def("crc64nvme_combine", &CombineCrc64Nvme, "first"_a, "second"_a, "second_size"_a,
             "The CRC-64/NVME of A followed by B, from those of A and B and the size of B.");
  module.def(
      "set_memory_limit", [](std::uint64_t limit) { Unwrap(SetMemoryLimit(limit)); }, "limit"_a);
  module.def(
      "check_memory_limit_variable", [] { Unwrap(CheckMemoryLimitVariable()); },
      "Raises S3InvalidArgumentError if PENSTOCK_MEMORY_LIMIT is not a valid limit.");
  py::class_<MemoryBudget::Share>(module, "MemoryShare",
                                  "Bytes of the memory limit, held until release() or destruction.")
      .def("release", &MemoryBudget::Share::Release);
  module.def(
      "try_take_memory",
      [](std::uint64_t bytes) { return MemoryBudget::PerProcess().TryTake(bytes); }, "bytes"_a,
      "Takes bytes of the memory limit, or returns None if they are not free. Does not wait.");
  module.def(
      "memory_usage",
      [] {
        const MemoryBudget::Usage usage = MemoryBudget::PerProcess().usage();
        return py::dict("limit"_a = usage.limit, "held"_a = usage.held,
                        "peak_held"_a = usage.peak_held, "in_flight"_a = usage.in_flight,
                        "waiting"_a = usage.waiting, "beyond_limit"_a = usage.beyond_limit,
                        "taken_back"_a = usage.taken_back,
                        "kept"_a = BufferPool::PerProcess().kept_bytes());
      },
      "Bytes that this process holds for blocks and parts in flight, and how many callers wait "
      "for memory.");
}

}  // namespace penstock::python
