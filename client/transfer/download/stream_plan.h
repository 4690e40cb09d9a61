// Computes the block sizes of a stream and how far it fetches ahead. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "penstock/transfer.h"

namespace penstock::transfer {

// The progress of the reader.
struct StreamProgress {
  std::size_t blocks = 0;            // blocks that the reader started
  std::uint64_t bytes = 0;           // bytes that the reader got
  std::uint64_t reached = 0;         // bytes used, plus the bytes that the reader waits for
  std::uint64_t share = UINT64_MAX;  // the share of the memory budget for blocks ahead
};

// Blocks requested but not yet returned to the reader.
struct StreamAhead {
  std::size_t blocks = 0;
  std::uint64_t bytes = 0;
};

// Without `first_part_bytes`, fetches ahead as far as allowed from the start. With
// `first_part_bytes`, read-ahead grows with the bytes read. The first block is fetched alone. From
// the second block on, the total requested is up to four times the bytes reached, and block sizes
// grow with the bytes reached. Blocks are small enough that four fit in `share`.
class StreamPlan {
 public:
  static constexpr std::uint64_t kMinBlock = 64ull << 10;

  // Requires part_size_bytes >= 1, read_ahead_parts >= 0, and first_part_bytes >= 1 if set.
  explicit StreamPlan(const StreamOptions& options);

  // Returns the size of the first block. `object_bytes` is the size of the object if the stream
  // covers all of it, else UINT64_MAX. An object of up to one part is one block.
  std::uint64_t FirstBlock(std::uint64_t object_bytes) const;
  // Returns the size of the next block to request.
  std::uint64_t NextBlock(const StreamProgress& read) const;
  // Returns whether one more block of `bytes` may be requested before the reader waits for it.
  bool MayFetchAhead(const StreamProgress& read, const StreamAhead& ahead,
                     std::uint64_t bytes) const;

 private:
  std::uint64_t part_bytes_;
  std::size_t max_blocks_;
  std::uint64_t first_bytes_;
  bool grows_;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_PLAN_H_
