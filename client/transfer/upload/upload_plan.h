// Computes part sizes and the number of parallel parts of an upload. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_PLAN_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "penstock/base/result.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// ---- Sizes

// Returns the size of equal parts for an object of known size: 1/32 of it in whole MiB, between 8
// and 64 MiB. So objects from 64 MiB to 2 GiB take at most 34 requests. Above 625 GiB the parts are
// larger, because of S3's limit of 10,000 parts. options.part_size_bytes replaces the 1/32 rule.
// Returns kInvalidArgument above S3's limit of 48.8 TiB.
Result<std::uint64_t> KnownPartSize(std::uint64_t object_bytes, const UploadOptions& options);

enum class Connections { kQuick, kSlow };

// Returns the size of the next part of a stream after `written_bytes` in earlier parts: 8 MiB, 16
// MiB after 64 MiB, 32 MiB after 512 MiB, 64 MiB after 4 GiB, then as NextPartSize. With slow
// connections it grows later (at 2, 8 and 32 GiB), so that many parts are in flight with little
// memory. options.part_size_bytes and options.size_hint_bytes take precedence.
std::uint64_t StreamPartSize(std::uint64_t written_bytes, const UploadOptions& options,
                             Connections connections);

// Returns the size of a part in borrowed memory of `borrowed_bytes`, which needs no own memory:
// 1/16 of it, between 8 and 64 MiB.
std::uint64_t BorrowedPartSize(std::uint64_t borrowed_bytes);

// Returns the minimum size of a part that is sent early to release its memory: S3's 5 MiB, or
// 1/1000 of the bytes written, so that 10,000 parts still hold over 12 TiB.
std::uint64_t MinPartSize(std::uint64_t written_bytes, const UploadOptions& options);

// ---- Parallelism

// The rate of the latest parts; unset until one has finished.
struct PartRate {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds elapsed{};
};

struct InFlightLimit {
  Connections connections = Connections::kQuick;
  int parts = 0;
  std::uint64_t held_bytes = 0;  // of parts in own memory; borrowed memory is not counted
  // Trailing bytes of a write that are copied, so that the caller need not wait.
  std::uint64_t behind_bytes = 0;
};

// options.max_parallel_parts decides, if set. Otherwise 4 parts and little memory until the rate is
// known. Then 16 parts if a connection has less than 200 MB/s, as on S3. 2 parts if it has more
// than 800 MB/s, as on the same machine, where more would only cost more CPU per byte.
InFlightLimit PlanInFlight(const std::optional<PartRate>& rate, std::uint64_t sent_bytes,
                           const UploadOptions& options);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_PLAN_H_
