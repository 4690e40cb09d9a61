// Collects the parts of items into batches: of one object, verified and delivered together.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_BATCHES_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/checkpoint/load/load_item.h"
#include "client/checkpoint/load/pending_item.h"
#include "client/checkpoint/load/scratch_pool.h"

namespace penstock::checkpoint {

// A unit in flight. Without a read: the ends of an item.
struct UnitInFlight {
  ItemPointer item;
  ReadUnit unit;
  std::byte* memory = nullptr;
  std::uint64_t at = 0;  // kScratch: in the arena.
};

struct Batch {
  BucketName bucket;
  ObjectKey key;
  std::shared_ptr<Arena> arena;
  std::vector<RangePiece> pieces;
  std::vector<UnitInFlight> units;
  std::uint64_t bytes = 0;
  std::size_t items = 0;
  std::optional<std::uint64_t> probed_kind;  // The ends of an item, read for KindOfTrailer.
};

class ItemBatches {
 public:
  ItemBatches(const EngineLimits& limits, ScratchPool& scratch)
      : limits_(limits), scratch_(scratch) {}

  // Adds a prepared item, all of it or the part for which there is room. Returns whether it is
  // complete. Otherwise batches in flight must be completed first.
  Result<bool> Place(const ItemPointer& item);
  // Adds a batch of its own, which does not count to the window.
  void Add(Batch batch) { ready_.push_back(std::move(batch)); }
  // Closes the batch that is being filled.
  void Flush();
  // The closed batches, to be requested.
  std::vector<Batch> TakeReady() { return std::exchange(ready_, {}); }
  // To be called when a batch of Place has arrived.
  void Complete(const Batch& batch) { bytes_ -= batch.bytes; }

  bool has_ready() const { return !ready_.empty(); }
  bool is_empty() const { return ready_.empty() && open_.units.empty(); }

 private:
  Result<bool> PlaceAtOnce(const ItemPointer& item);
  Result<bool> PlaceUnits(const ItemPointer& item);
  Result<bool> MakeRoom(const PendingItem& item, std::uint64_t bytes, std::uint64_t scratch);
  void AppendEnds(const ItemPointer& item, std::byte* memory);
  void Append(const ItemPointer& item, ReadUnit unit);
  void AppendBox(UnitInFlight& unit, std::uint64_t payload);
  void AppendPiece(std::uint64_t begin, MutableByteView memory);
  void AppendUnit(UnitInFlight unit);

  const EngineLimits limits_;
  ScratchPool& scratch_;
  Batch open_;
  std::vector<Batch> ready_;
  std::uint64_t bytes_ = 0;  // Ready and in flight.
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_BATCHES_H_
