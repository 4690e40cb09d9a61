// The blocks of a stream between their requests and the reader, and the ranges not yet requested.
// No I/O, no lock.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_QUEUE_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_QUEUE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <utility>

#include "base/crc/named_crc.h"
#include "client/transfer/block_memory.h"
#include "client/transfer/chained_stop.h"
#include "client/transfer/download/stream_plan.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// One block. The stream's lock guards the members. Until `ready`, the request owns `memory` and
// `crc_value`.
struct StreamSlot {
  explicit StreamSlot(std::stop_token stream) : stop(std::move(stream)) {}

  std::uint64_t offset = 0;  // in the object
  std::uint64_t size = 0;
  Crc crc = Crc::kNone;  // kind of `crc_value`
  std::uint64_t crc_value = 0;
  BlockMemory memory;
  ChainedStop stop;
  bool ready = false;
  bool is_first_request = false;  // the first request; must not be dropped before it is ready
  bool dropped = false;           // evicted; the result is not used
  // For a block whose rest the reader returned: the rest instead of `memory`, the number of bytes
  // before it, and the memory held.
  std::shared_ptr<const std::byte[]> rest;
  std::uint64_t used = 0;
  std::size_t held = 0;

  ByteView used_bytes() const { return {rest.get() - used, static_cast<std::size_t>(used)}; }
  std::size_t held_bytes() const { return rest ? held : memory.held(); }
  // Returns the block for the reader, who may keep it.
  StreamBlock TakeBlock();
};

class StreamQueue {
 public:
  using Slot = std::shared_ptr<StreamSlot>;  // shared with its request

  // Adds a range that is requested after all others.
  void Append(ByteRange range) { remaining_.push_back(range); }
  bool all_requested() const { return remaining_.empty(); }
  // Returns the range to request next. Requires !all_requested().
  const ByteRange& remaining() const { return remaining_.front(); }
  // The next range is now requested up to `end`, by a slot that is pushed.
  void MarkRequested(std::uint64_t end);

  bool empty() const { return slots_.empty(); }
  std::size_t size() const { return slots_.size(); }
  const Slot& front() const { return slots_.front(); }
  void Push(Slot slot) { slots_.push_back(std::move(slot)); }
  Slot Pop();
  // Takes back the rest of the block that the reader got last. The block started at `begin` and
  // holds `held` bytes of memory.
  void Return(StreamBlock rest, std::uint64_t begin, std::size_t held);
  // Returns whether the last block may be dropped if the reader waits for the first `awaited` (0 or
  // 1) blocks.
  bool MayDrop(std::size_t awaited) const {
    return slots_.size() > awaited && (slots_.back()->ready || !slots_.back()->is_first_request);
  }
  // Drops the last block. Its range must be requested again.
  Slot Drop();
  // Forgets the ranges that are not yet requested.
  void DropRemaining() { remaining_.clear(); }
  // Drops all blocks, for an object without bytes.
  void Clear() { slots_.clear(); }

  StreamAhead ahead() const;
  // Returns the end of the contiguous bytes from `position` on.
  std::uint64_t EndFrom(std::uint64_t position) const;

 private:
  std::deque<Slot> slots_;           // in reading order
  std::deque<ByteRange> remaining_;  // not yet requested; none empty
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_QUEUE_H_
