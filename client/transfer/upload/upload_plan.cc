#include "client/transfer/upload/upload_plan.h"

#include <algorithm>

#include "client/transfer/part_plan.h"

namespace penstock::transfer {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kMinPlannedBytes = 8 * kMiB;
constexpr std::uint64_t kMaxPlannedBytes = 64 * kMiB;
constexpr std::uint64_t kPartsOfKnown = 32;
constexpr double kSlowBytesPerSecond = 200e6;
constexpr double kFastBytesPerSecond = 800e6;
constexpr std::uint64_t kSlowGrowsFrom = 2048;  // MiB
constexpr int kManyParts = 16;

}  // namespace

Result<std::uint64_t> KnownPartSize(std::uint64_t object_bytes, const UploadOptions& options) {
  const std::uint64_t share = (object_bytes / kPartsOfKnown + kMiB - 1) / kMiB * kMiB;
  return PartSizeFor(object_bytes, options.part_size_bytes.value_or(
                                       std::clamp(share, kMinPlannedBytes, kMaxPlannedBytes)));
}

std::uint64_t StreamPartSize(std::uint64_t written_bytes, const UploadOptions& options,
                             Connections connections) {
  const bool quick = connections == Connections::kQuick;
  std::uint64_t first = kMaxPlannedBytes;
  if (options.size_hint_bytes) {
    const Result<std::uint64_t> sized = KnownPartSize(*options.size_hint_bytes, options);
    if (sized.ok()) first = *sized;
  } else if (options.part_size_bytes) {
    first = *options.part_size_bytes;
  } else if (written_bytes < (quick ? 64 : kSlowGrowsFrom) * kMiB) {
    first = kMinPlannedBytes;
  } else if (written_bytes < (quick ? 512 : 8192) * kMiB) {
    first = 16 * kMiB;
  } else if (written_bytes < (quick ? 4096 : 32768) * kMiB) {
    first = 32 * kMiB;
  }
  return NextPartSize(written_bytes, first);
}

std::uint64_t BorrowedPartSize(std::uint64_t borrowed_bytes) {
  return std::clamp(borrowed_bytes / kManyParts / kMiB * kMiB, kMinPlannedBytes, kMaxPlannedBytes);
}

std::uint64_t MinPartSize(std::uint64_t written_bytes, const UploadOptions& options) {
  return std::min(std::max(options.min_part_size_bytes, written_bytes / 1000), kMaxPartBytes);
}

InFlightLimit PlanInFlight(const std::optional<PartRate>& rate, std::uint64_t sent_bytes,
                           const UploadOptions& options) {
  const std::uint64_t much =
      sent_bytes < kSlowGrowsFrom * kMiB ? 14 * kMinPlannedBytes : 256 * kMiB;
  if (options.max_parallel_parts) {
    const int parts = *options.max_parallel_parts;
    if (!options.part_size_bytes) return {Connections::kQuick, parts, much, much / 2};
    const std::uint64_t bytes = *options.part_size_bytes * static_cast<std::uint64_t>(parts);
    return {Connections::kQuick, parts, bytes, bytes};
  }
  const InFlightLimit few{Connections::kQuick, 4, 48 * kMiB, 16 * kMiB};
  if (!rate) return few;
  const double seconds = std::max(std::chrono::duration<double>(rate->elapsed).count(), 1e-9);
  const double bytes_per_second = static_cast<double>(rate->bytes) / seconds;
  if (bytes_per_second < kSlowBytesPerSecond)
    return {Connections::kSlow, kManyParts, much, much / 2};
  if (bytes_per_second > kFastBytesPerSecond)
    return {Connections::kQuick, 2, few.held_bytes, few.behind_bytes};
  return few;
}

}  // namespace penstock::transfer
