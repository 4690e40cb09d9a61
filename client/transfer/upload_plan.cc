#include "client/transfer/upload_plan.h"

#include <algorithm>

#include "client/transfer/part_plan.h"

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kLeastPlanned = 8 * kMiB;
constexpr std::uint64_t kMostPlanned = 64 * kMiB;
constexpr std::uint64_t kPartsOfKnown = 32;
constexpr double kSlowBytesPerSecond = 200e6;
constexpr double kFastBytesPerSecond = 800e6;
constexpr std::uint64_t kMuchHeld = 256 * kMiB;

}  // namespace

Result<std::uint64_t> KnownPartSize(std::uint64_t object_bytes, const UploadOptions& options) {
  const std::uint64_t share = (object_bytes / kPartsOfKnown + kMiB - 1) / kMiB * kMiB;
  return PartSizeFor(object_bytes, options.part_size_bytes.value_or(std::clamp(share, kLeastPlanned, kMostPlanned)));
}

std::uint64_t StreamPartSize(std::uint64_t written_bytes, const UploadOptions& options) {
  std::uint64_t first = kMostPlanned;
  if (options.size_hint_bytes) {
    const Result<std::uint64_t> sized = KnownPartSize(*options.size_hint_bytes, options);
    if (sized.ok()) first = *sized;
  } else if (options.part_size_bytes) {
    first = *options.part_size_bytes;
  } else if (written_bytes < 64 * kMiB) {
    first = kLeastPlanned;
  } else if (written_bytes < 512 * kMiB) {
    first = 16 * kMiB;
  } else if (written_bytes < 4096 * kMiB) {
    first = 32 * kMiB;
  }
  return NextPartSize(written_bytes, first);
}

std::uint64_t LeastPartSize(std::uint64_t written_bytes, const UploadOptions& options) {
  return std::min(std::max(options.min_part_size_bytes, written_bytes / 1000), kMaxPartBytes);
}

InFlightLimit PlanInFlight(const std::optional<PartRate>& rate, const UploadOptions& options) {
  if (options.max_parallel_parts) {
    if (!options.part_size_bytes) return {*options.max_parallel_parts, kMuchHeld, kMuchHeld / 2};
    const std::uint64_t bytes = *options.part_size_bytes * static_cast<std::uint64_t>(*options.max_parallel_parts);
    return {*options.max_parallel_parts, bytes, bytes};
  }
  const InFlightLimit few{4, 48 * kMiB, 16 * kMiB};
  if (!rate) return few;
  const double seconds = std::max(std::chrono::duration<double>(rate->elapsed).count(), 1e-9);
  const double bytes_per_second = static_cast<double>(rate->bytes) / seconds;
  if (bytes_per_second < kSlowBytesPerSecond) return {16, kMuchHeld, kMuchHeld / 2};
  if (bytes_per_second > kFastBytesPerSecond) return {2, few.held_bytes, few.behind_bytes};
  return few;
}

}  // namespace penstock::transfer
