// The engine that loads items of a distributed checkpoint: LoadItems and the Python package use it.
// It plans ranges, reads them in parallel, verifies items, and tells the caller what has arrived.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_ENGINE_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/checkpoint/boxes.h"
#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/load/scratch_pool.h"

namespace penstock::checkpoint {

// Memory of a box: element [i, j, ...] is at data + item bytes * (i * strides[0] + ...).
struct StridedMemory {
  std::byte* data = nullptr;
  Dimensions strides;  // In elements, none negative.
};

// A read of a box of an item.
struct BoxRead {
  Box box;  // Of the item's tensor.
  // Its destination, to which no other read writes at the same time. Null data: none, or unknown.
  StridedMemory memory;
  std::uint64_t memory_item_bytes = 0;
  // Where the memory is in a tensor whose other parts have memory of the same strides. Empty: it is
  // the whole tensor.
  Dimensions position;
  // Whether the engine writes to the memory. Otherwise the caller does, for example to convert.
  bool is_direct = false;
};

// Bytes [begin, begin + length) of an object.
struct LoadItem {
  std::string name;  // For errors.
  BucketName bucket;
  ObjectKey key;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  // The tensor that the item is expected to contain, row-major. An empty dtype: the content is
  // unknown, and the caller gets the whole item.
  std::string dtype;
  std::uint64_t item_bytes = 0;
  Dimensions sizes;
  std::vector<BoxRead> reads;
};

// The sizes of trailers, the bytes of an item after its payload. They depend on the payload's size
// modulo 64, on zip64 fields, and on the program that wrote the item.
class TrailerSizes {
 public:
  virtual ~TrailerSizes() = default;
  // `around`: bytes of the item besides the payload. Returns nullopt if the size is unknown.
  virtual std::optional<std::uint64_t> Find(std::uint64_t payload, std::uint64_t around) const = 0;
  virtual void Learn(std::uint64_t payload, std::uint64_t trailer) = 0;
};

// Knows only what it learns.
class LearnedTrailers final : public TrailerSizes {
 public:
  std::optional<std::uint64_t> Find(std::uint64_t payload, std::uint64_t around) const override;
  void Learn(std::uint64_t payload, std::uint64_t trailer) override;

 private:
  std::map<std::uint64_t, std::uint64_t> by_kind_;
};

// "item 'name': bytes 100 to 200", for errors.
std::string DescribeItem(const LoadItem& item);

struct EngineLimits {
  std::uint64_t batch_bytes = 36 << 20;    // Verified and delivered together.
  std::size_t batch_items = 512;           // The same.
  std::uint64_t unit_bytes = 18 << 20;     // Larger reads are received in pieces.
  std::uint64_t part_bytes = 4 << 20;      // Pieces that go through scratch memory.
  std::uint64_t window_bytes = 512 << 20;  // Requested and not yet complete.
  // The ends of larger items are read first if their trailer is unknown. Smaller ones are fetched
  // whole.
  std::uint64_t probe_bytes = 18 << 20;
};

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
