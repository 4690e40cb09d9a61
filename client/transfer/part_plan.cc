#include "client/transfer/part_plan.h"

#include <algorithm>
#include <string>

namespace penstock::transfer {

ByteRange ClipRange(std::uint64_t begin, std::optional<std::uint64_t> end, std::uint64_t size) {
  const std::uint64_t last = std::min(end.value_or(size), size);
  return begin < last ? ByteRange{begin, last} : ByteRange{begin, begin};
}

ByteRange PartAt(ByteRange whole, std::uint64_t position, std::uint64_t part_size_bytes) {
  // Compares lengths, so that a huge part size cannot overflow.
  return {position, position + std::min(part_size_bytes, whole.end - position)};
}

std::uint64_t NextPartSize(std::uint64_t written_bytes, std::uint64_t first_part_size_bytes) {
  const std::uint64_t wanted = written_bytes / 1000;
  std::uint64_t size = first_part_size_bytes;
  while (size < wanted && size < kMaxPartBytes) size *= 2;
  return std::min(size, kMaxPartBytes);
}

Result<std::uint64_t> PartSizeFor(std::uint64_t object_bytes, std::uint64_t min_part_size_bytes) {
  if (object_bytes > kMaxObjectBytes) {
    return Error::Make(ErrorKind::kInvalidArgument, "an object of " + std::to_string(object_bytes) +
                                                        " bytes exceeds S3's limit of " +
                                                        std::to_string(kMaxObjectBytes) +
                                                        " bytes: split it into several objects");
  }
  constexpr std::uint64_t kMiB = 1ull << 20;
  const std::uint64_t needed = (object_bytes + kMaxParts - 1) / kMaxParts;
  if (needed <= min_part_size_bytes) return min_part_size_bytes;
  return (needed + kMiB - 1) / kMiB * kMiB;
}

}  // namespace penstock::transfer
