// Which bytes belong to which part. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_PART_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_PART_PLAN_H_

#include <cstdint>
#include <optional>

#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::transfer {

// S3's limits (spec/protocol.md §0).
inline constexpr int kMaxParts = 10'000;
inline constexpr std::uint64_t kMaxPartBytes = 5ull << 30;
inline constexpr std::uint64_t kMaxObjectBytes = kMaxParts * kMaxPartBytes;  // 48.8 TiB

// ---- Reading: equal parts, counted from the range's begin.

// [begin, end) cut to an object of `size` bytes; empty (begin == end) when it starts at or beyond
// the end.
ByteRange ClipRange(std::uint64_t begin, std::optional<std::uint64_t> end, std::uint64_t size);

// The part that starts at `position`: at most `part_size_bytes`, within `whole`. whole.begin <=
// position < whole.end.
ByteRange PartAt(ByteRange whole, std::uint64_t position, std::uint64_t part_size_bytes);

// ---- Writing: parts that grow, since the size of a stream is not known in advance.

// Size of the next part after `written_bytes` went into earlier parts: `first_part_size_bytes` for
// the first 1000 parts, then its doublings so that a part is at least a thousandth of what is
// already written, at most 5 GiB. From 8 MiB, 10,000 such parts hold over 17 TiB. The steps are
// few, so buffers are reused for long.
std::uint64_t NextPartSize(std::uint64_t written_bytes, std::uint64_t first_part_size_bytes);

// Size of equal parts for an object of known size: `least_part_size_bytes`, or as much more (whole
// MiB) as 10,000 parts need. kInvalidArgument when the object exceeds 48.8 TiB.
Result<std::uint64_t> PartSizeFor(std::uint64_t object_bytes, std::uint64_t least_part_size_bytes);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_PART_PLAN_H_
