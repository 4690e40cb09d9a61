// How an upload is cut into parts, and how many of them fly at a time. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_PLAN_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "penstock/base/result.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// ---- Sizes

// Of the equal parts (but the last) of an object of known size: a thirty-second of it in whole MiB,
// within 8 and 64 MiB, so that 64 MiB to 2 GiB take 34 requests at the most; more beyond 625 GiB,
// where S3's 10,000 parts ask for it. options.part_size_bytes, where set, takes the place of the
// first. kInvalidArgument beyond S3's 48.8 TiB.
Result<std::uint64_t> KnownPartSize(std::uint64_t object_bytes, const UploadOptions& options);

enum class Connections { kQuick, kSlow };

// Of the next part of a stream after `written_bytes` went into earlier ones: 8 MiB, 16 after 64
// MiB, 32 after 512 MiB, 64 after 4 GiB, then by NextPartSize. Where connections are slow it grows
// later (2, 8 and 32 GiB), so that many parts fly in little memory. options.part_size_bytes and
// options.size_hint_bytes, where set, decide instead.
std::uint64_t StreamPartSize(std::uint64_t written_bytes, const UploadOptions& options,
                             Connections connections);

// Of a part in memory that a caller lends `lent_bytes` of, which costs none of ours: a sixteenth,
// within 8 and 64 MiB.
std::uint64_t LentPartSize(std::uint64_t lent_bytes);

// The least that a part may have when it has to leave early, to give its memory back: S3's 5 MiB,
// and a thousandth of what is written, so that 10,000 parts still hold over 12 TiB.
std::uint64_t LeastPartSize(std::uint64_t written_bytes, const UploadOptions& options);

// ---- Parallelism

// How the latest parts went; unset while none has ended.
struct PartRate {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds elapsed{};
};

struct InFlightLimit {
  Connections connections = Connections::kQuick;
  int parts = 0;
  std::uint64_t held_bytes = 0;    // of parts in memory of ours; what callers lend is not counted
  std::uint64_t behind_bytes = 0;  // of what a caller wrote, copied so that he need not wait for it
};

// options.max_parallel_parts, where set. Else 4 parts and few bytes until it is known how fast one
// is; 16 where a connection moves under 200 MB/s, as on S3; 2 where it moves over 800 MB/s, as on
// this machine: more would cost more per byte.
InFlightLimit PlanInFlight(const std::optional<PartRate>& rate, std::uint64_t sent_bytes,
                           const UploadOptions& options);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_PLAN_H_
