// An item that the engine is loading: how its boxes are received, and what has arrived of it.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_PENDING_ITEM_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_PENDING_ITEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/checkpoint/boxes.h"
#include "client/checkpoint/load/item_engine.h"
#include "client/checkpoint/load/load_item.h"
#include "client/checkpoint/load/memory_leases.h"
#include "client/checkpoint/load/payload_crc.h"

namespace penstock::checkpoint {

// Where a read receives its elements.
enum class ReadMode {
  kRun,      // Bytes that are contiguous in the payload and in the read's memory.
  kRows,     // Long rows, directly.
  kScratch,  // Row-major in scratch memory.
};

struct PlannedRead {
  std::size_t index = 0;  // In LoadItem::reads.
  BoxRead to;
  MemoryLeases::Id lease = 0;  // 0: none.
  ReadMode mode = ReadMode::kScratch;
  std::uint64_t run_begin = 0;  // kRun: in the payload.
  std::uint64_t run_bytes = 0;
};

// A part of a payload that is received at once: of a run, bytes [begin, begin + size) of it; else
// a box.
struct ReadUnit {
  PlannedRead* read = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  Box box;
};

struct PendingItem {
  // Moves the reads of `source`.
  PendingItem(std::uint64_t token, LoadItem source);
  // The same item with other reads.
  PendingItem(const PendingItem& other, std::vector<PlannedRead> reads);
  PendingItem(const PendingItem&) = delete;  // `units` point to `reads`
  PendingItem& operator=(const PendingItem&) = delete;

  std::uint64_t token = 0;
  LoadItem source;  // Without reads.
  std::vector<PlannedRead> reads;

  bool is_prepared = false;
  bool is_probed = false;
  bool is_declared = false;  // The metadata describes a tensor with all boxes.
  bool is_whole = false;     // Fetched whole; head is its length.
  bool may_check = false;    // So much is requested that it can be all of the payload.
  bool at_once = false;      // All units are in one batch.
  Dimensions strides;        // Of the payload, as predicted.
  std::uint64_t payload = 0;
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  std::byte* head_at = nullptr;
  std::byte* tail_at = nullptr;
  std::unique_ptr<std::byte[]> ends;  // Owns head and tail if they are not in an arena.

  std::vector<ReadUnit> units;
  std::size_t next_unit = 0;
  std::size_t units_left = 0;
  PayloadCrc crc;
  const std::byte* whole_payload = nullptr;  // The payload, if it is in one place.
  std::vector<LoadEvent> parts;              // Of an item that arrives at once.

  std::uint64_t end() const { return source.begin + source.length; }
  std::uint64_t BytesOf(const Box& box) const;
  std::uint64_t PayloadOffset(const Box& box) const;
  // The runs between a box of the payload and the memory of `read`, or row-major memory.
  Runs RunsOf(const PlannedRead& read, const Box& box) const;
  // Whether one read receives the whole payload in place.
  bool IsOneRun() const;

  // Decides how the reads of an item with a known head and tail are received, and splits them.
  void PlanUnits(const EngineLimits& limits);
  // Forgets what has arrived, so that the item can be fetched whole.
  void Restart();

  // Adds a unit that has arrived in `memory` to the CRC-32.
  void AddCrc(const ReadUnit& unit, const std::byte* memory);
  // Returns kDataLoss if the whole payload has arrived and its CRC-32 is not `expected`. 0: the
  // item was stored without one.
  Result<void> CheckCrc(std::uint32_t expected) const;
  // Moves the elements of a dense tensor in its memory if it was stored with strides `stored`.
  // Returns whether they fit. Requires IsOneRun().
  Result<bool> Reorder(const Dimensions& stored) const;

 private:
  void Describe();
  void ChooseMode(PlannedRead& read);
  std::uint64_t AddUnits(PlannedRead& read, const EngineLimits& limits);
};
using ItemPointer = std::shared_ptr<PendingItem>;

// The elements of a unit in scratch memory that its read wants. There are some.
Box WantedOf(const ReadUnit& unit);
// Copies the elements of a unit from scratch memory to the memory of its read.
void CopyUnit(const ReadUnit& unit, const std::byte* scratch, std::uint64_t item_bytes);

// Whether both strides address the same elements.
bool IsSameLayout(const Dimensions& sizes, const Dimensions& one, const Dimensions& other);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_PENDING_ITEM_H_
