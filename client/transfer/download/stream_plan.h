// In what blocks a stream fetches, and how far ahead of its reader. Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "penstock/transfer.h"

namespace penstock::transfer {

// How far the reader has come.
struct StreamProgress {
  std::size_t blocks = 0;     // that he began
  std::uint64_t bytes = 0;    // that he was given
  std::uint64_t reached = 0;  // of these, bytes that he used, and those that he is waiting for
  std::uint64_t share = UINT64_MAX;  // of the process's memory, for what is ahead of him
};

// What was asked for and not yet given to the reader.
struct StreamAhead {
  std::size_t blocks = 0;
  std::uint64_t bytes = 0;
};

// From the start with all there is; or, with `first_part_bytes`, growing with what was read: one
// block until the reader asks for a second, then so far that four times what he has reached is
// asked for in all, in blocks of as much as that. Blocks are as small as it takes to have four in
// `share`.
class StreamPlan {
 public:
  static constexpr std::uint64_t kLeastBlock = 64ull << 10;

  // part_size_bytes >= 1, read_ahead_parts >= 0, first_part_bytes >= 1 where set.
  explicit StreamPlan(const StreamOptions& options);

  // Size of the first block. `object_bytes`: the object's size where the stream begins with its
  // first byte and runs to its end, else UINT64_MAX; an object of up to one part is one block.
  std::uint64_t FirstBlock(std::uint64_t object_bytes) const;
  // Size of the next block to be asked for.
  std::uint64_t NextBlock(const StreamProgress& read) const;
  // Whether one more block of `bytes` may be asked for before the reader waits for it.
  bool MayFetchAhead(const StreamProgress& read, const StreamAhead& ahead,
                     std::uint64_t bytes) const;

 private:
  std::uint64_t part_bytes_;
  std::size_t most_blocks_;
  std::uint64_t first_bytes_;
  bool grows_;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_PLAN_H_
