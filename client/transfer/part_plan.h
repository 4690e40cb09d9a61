// Computes which bytes belong to which part. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_PART_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_PART_PLAN_H_

#include <cstdint>
#include <optional>

#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::transfer {

// S3's limits: Amazon S3 User Guide, "Amazon S3 multipart upload limits".
inline constexpr int kMaxParts = 10'000;
inline constexpr std::uint64_t kMaxPartBytes = 5ull << 30;
inline constexpr std::uint64_t kMaxObjectBytes = kMaxParts * kMaxPartBytes;  // 48.8 TiB

// ---- Reading: equal parts, counted from the start of the range.

// Returns [begin, end) clipped to an object of `size` bytes. Empty (begin == end) if it starts at
// or after the end.
ByteRange ClipRange(std::uint64_t begin, std::optional<std::uint64_t> end, std::uint64_t size);

// Returns the part that starts at `position`: at most `part_size_bytes`, within `whole`. Requires
// whole.begin <= position < whole.end.
ByteRange PartAt(ByteRange whole, std::uint64_t position, std::uint64_t part_size_bytes);

// ---- Writing: growing parts, because the size of a stream is unknown.

// Returns the size of the next part after `written_bytes` in earlier parts. The first 1000 parts
// have `first_part_size_bytes`. Later sizes double, so that a part is at least 1/1000 of the bytes
// written, at most 5 GiB. Starting from 8 MiB, 10,000 such parts hold over 17 TiB. There are few
// different sizes, so buffers can be reused.
std::uint64_t NextPartSize(std::uint64_t written_bytes, std::uint64_t first_part_size_bytes);

// Returns the size of equal parts for an object of known size: `min_part_size_bytes`, or more (in
// whole MiB) if 10,000 parts would not suffice. Returns kInvalidArgument if the object exceeds 48.8
// TiB.
Result<std::uint64_t> PartSizeFor(std::uint64_t object_bytes, std::uint64_t min_part_size_bytes);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_PART_PLAN_H_
