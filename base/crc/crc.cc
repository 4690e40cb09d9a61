#include "base/crc/crc.h"

#include <initializer_list>

#include "base/crc/crc_hardware.h"
#include "base/crc/crc_slicing.h"
#include "base/first_use.h"

namespace penstock {
namespace {

// Returns the first path that this processor supports. The last one in the list is portable.
template <class Path>
Path FirstSupported(std::initializer_list<Path> paths) {
  for (const Path path : paths) {
    if (path != nullptr) return path;
  }
  return nullptr;
}

}  // namespace

std::uint32_t Crc32(ByteView bytes, std::uint32_t previous) {
  static constinit FirstUse<internal::CrcPath32> path;
  const internal::CrcPath32 update = path.Get([] {
    return FirstSupported<internal::CrcPath32>(
        {internal::Crc32Fold512Path(), internal::Crc32Fold256Path(),
         internal::Crc32InstructionPath(), internal::Crc32Fold128Path(),
         &internal::UpdateCrcBySlices<internal::Crc32Kind>});
  });
  return ~update(~previous, bytes);
}

std::uint32_t Crc32c(ByteView bytes, std::uint32_t previous) {
  static constinit FirstUse<internal::CrcPath32> path;
  const internal::CrcPath32 update = path.Get([] {
    return FirstSupported<internal::CrcPath32>(
        {internal::Crc32cFold512Path(), internal::Crc32cFold256Path(),
         internal::Crc32cInstructionPath(), internal::Crc32cFold128Path(),
         &internal::UpdateCrcBySlices<internal::Crc32cKind>});
  });
  return ~update(~previous, bytes);
}

std::uint64_t Crc64Nvme(ByteView bytes, std::uint64_t previous) {
  static constinit FirstUse<internal::CrcPath64> path;
  const internal::CrcPath64 update = path.Get([] {
    return FirstSupported<internal::CrcPath64>(
        {internal::Crc64NvmeFold512Path(), internal::Crc64NvmeFold256Path(),
         internal::Crc64NvmeFold128Path(), &internal::UpdateCrcBySlices<internal::Crc64NvmeKind>});
  });
  return ~update(~previous, bytes);
}

}  // namespace penstock
