// The engine that loads items of a distributed checkpoint: LoadItems and the Python package use it.
// It plans ranges, reads them in parallel, verifies items, and returns an event for each item that
// has arrived.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_ENGINE_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/checkpoint/boxes.h"
#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/load/load_item.h"
#include "client/checkpoint/load/scratch_pool.h"
#include "client/checkpoint/load/verification/trailer_sizes.h"

namespace penstock::checkpoint {

struct LoadEvent {
  enum class Kind {
    kLoaded,  // The item is verified, and `reads` are complete.
    kPart,    // A part of reads[0], which the caller copies, is in scratch memory, row-major.
    kWhole,   // The item is not as expected: the caller interprets its bytes for `reads`.
  };
  Kind kind = Kind::kLoaded;
  std::uint64_t token = 0;         // Of the item.
  std::vector<std::size_t> reads;  // Indices into LoadItem::reads.

  // kPart: the box of the tensor, its elements that the read wants, and where the box is in the
  // memory of the arena.
  Box box;
  Box wanted;
  ScratchMemory* scratch = nullptr;
  std::uint64_t at = 0;
  // kWhole: the item, of which `joined` holds the bytes if they are not in scratch memory.
  std::shared_ptr<const ScratchMemory> joined;
  ByteView bytes;
};

struct EngineUsage {
  RangeReader::Usage ranges;
  std::uint64_t probes = 0;        // Items whose ends were read first.
  std::uint64_t mispredicted = 0;  // Items that were not as predicted.
};

// Loads items in the order in which they are added. One caller at a time. Destruction cancels all
// requests and waits for them. After an error, only Cancel and destruction are allowed, and the
// content of all memory is undefined.
class ItemEngine {
 public:
  // `trailers` and `allocate` are used by Add and Prepare only. `trailers` outlives the engine.
  ItemEngine(LoadContext context, TrailerSizes& trailers, const EngineLimits& limits,
             AllocateScratch allocate = AllocateFromHeap);
  ~ItemEngine();
  ItemEngine(const ItemEngine&) = delete;
  ItemEngine& operator=(const ItemEngine&) = delete;

  // Adds an item and plans its requests. `token` identifies it in events. The memory of its reads
  // belongs to the engine until their event. Returns kDataLoss for an item that is larger than any
  // object.
  Result<void> Add(std::uint64_t token, LoadItem item);
  // Whether there are requests that Start would send.
  bool has_planned() const;
  // Sends the requests that are planned. Next does so too.
  void Start();
  // Whether the caller must call Next before it adds more items: the window is full, or an item
  // waits for the memory of another one.
  bool is_full() const;
  // Whether every item has had its events.
  bool is_idle() const;
  // Returns events; none if the engine is no longer full. `all`: no more items will be added; then
  // waits for events unless the engine is idle. Scratch memory of the events before is reused.
  // Blocks. An interrupt of the context cancels the requests.
  Result<std::vector<LoadEvent>> Next(bool all);
  // Next is Prepare and Receive. Only Receive sends requests and waits.
  Result<void> Prepare();
  Result<std::vector<LoadEvent>> Receive(bool all);
  // Cancels all requests and waits for them: on return, nothing writes to memory of reads or to
  // scratch memory. Later calls start nothing and return kCancelled.
  void Cancel();
  // Frees the scratch memory. Requires that the engine is idle and that Next has returned nothing.
  void ClearScratch();
  EngineUsage usage() const;  // Also after Cancel.

 private:
  class Loader;
  const std::unique_ptr<Loader> loader_;
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_ENGINE_H_
