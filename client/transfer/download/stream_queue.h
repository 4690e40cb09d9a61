// The blocks of a stream between their requests and the reader, and what is not yet asked for. No
// I/O, no lock of its own.
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

// One block. Members are the stream's, under its lock; `memory` and `crc_value` the request's until
// `ready`.
struct StreamSlot {
  explicit StreamSlot(std::stop_token stream) : stop(std::move(stream)) {}

  std::uint64_t offset = 0;  // in the object
  std::uint64_t size = 0;
  Crc crc = Crc::kNone;  // what `crc_value` is
  std::uint64_t crc_value = 0;
  BlockMemory memory;
  ChainedStop stop;
  bool ready = false;
  bool tells_size = false;  // the first request, which the stream cannot do without
  bool dropped = false;     // nobody wants it any more
  // Of one that the reader gave back: its bytes instead of `memory`, those of the block before
  // them, and what that holds.
  std::shared_ptr<const std::byte[]> rest;
  std::uint64_t used = 0;
  std::size_t held = 0;

  ByteView used_bytes() const { return {rest.get() - used, static_cast<std::size_t>(used)}; }
  std::size_t held_bytes() const { return rest ? held : memory.held(); }
  // For the reader, who may keep it.
  StreamBlock TakeBlock();
};

class StreamQueue {
 public:
  using Slot = std::shared_ptr<StreamSlot>;  // shared with its request

  // To be asked for after all else.
  void Append(ByteRange range) { remaining_.push_back(range); }
  bool asked_for_all() const { return remaining_.empty(); }
  // The range that is next to be asked for; not asked_for_all().
  const ByteRange& remaining() const { return remaining_.front(); }
  // So far is asked for now, by a slot that is pushed.
  void AskUntil(std::uint64_t end);

  bool empty() const { return slots_.empty(); }
  std::size_t size() const { return slots_.size(); }
  const Slot& front() const { return slots_.front(); }
  void Push(Slot slot) { slots_.push_back(std::move(slot)); }
  Slot Pop();
  // The end of what the reader was given last, which began at `begin` and holds so much memory.
  void Return(StreamBlock rest, std::uint64_t begin, std::size_t held);
  // Whether the last one may be dropped, where the first `awaited` (0 or 1) are waited for.
  bool MayDrop(std::size_t awaited) const {
    return slots_.size() > awaited && (slots_.back()->ready || !slots_.back()->tells_size);
  }
  // The last one, to be asked for anew.
  Slot Drop();
  // All; of an object that has nothing.
  void Clear() { slots_.clear(); }

  StreamAhead ahead() const;
  // Where the bytes end that follow `position` without a gap.
  std::uint64_t EndFrom(std::uint64_t position) const;

 private:
  std::deque<Slot> slots_;           // in the reader's order
  std::deque<ByteRange> remaining_;  // none empty
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_QUEUE_H_
