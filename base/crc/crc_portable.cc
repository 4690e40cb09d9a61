#include "base/crc/crc.h"
#include "base/crc/crc_slicing.h"

namespace penstock::internal {

std::uint32_t Crc32Portable(ByteView bytes, std::uint32_t previous) {
  return ~UpdateCrcBySlices<Crc32Kind>(~previous, bytes);
}

std::uint32_t Crc32cPortable(ByteView bytes, std::uint32_t previous) {
  return ~UpdateCrcBySlices<Crc32cKind>(~previous, bytes);
}

std::uint64_t Crc64NvmePortable(ByteView bytes, std::uint64_t previous) {
  return ~UpdateCrcBySlices<Crc64NvmeKind>(~previous, bytes);
}

}  // namespace penstock::internal
