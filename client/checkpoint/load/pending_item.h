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
#include "client/checkpoint/load/verification/payload_crc.h"

namespace penstock::checkpoint {

// Where a read receives its elements.
enum class ReadMode {
  kRun,      // Bytes that are contiguous in the payload and in the read's memory.
  kRows,     // Long rows, directly.
  kScratch,  // Row-major in scratch memory.
  kRest,     // In scratch memory: bytes that no read wants, of pieces that are compared.
};

struct PlannedRead {
  std::size_t index = 0;  // In LoadItem::reads.
  BoxRead to;
  MemoryLeases::Id lease = 0;  // 0: none.
  ReadMode mode = ReadMode::kScratch;
  std::uint64_t run_begin = 0;  // kRun, kRest: in the payload.
  std::uint64_t run_bytes = 0;
  PlannedRead* next = nullptr;  // kScratch: another read that takes elements from the same units.
};

// A part of a payload that is received at once: of a run or a rest, bytes [begin, begin + size) of
// it; else a box.
struct ReadUnit {
  PlannedRead* read = nullptr;  // Of several reads in scratch memory, the first one.
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
  bool may_check = false;    // Pieces are requested that can be complete.
  bool is_repeated = false;  // Read once more, because a CRC-32 differed.
  bool at_once = false;      // All units are in one batch.
  Dimensions strides;        // Of the payload, as predicted.
  std::uint64_t payload = 0;
  std::uint64_t piece_bytes = 0;  // That have a CRC-32; the payload if those of pieces are unknown.
  bool has_other_pieces = false;  // There are CRC-32s of another number of pieces.
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  std::byte* head_at = nullptr;
  std::byte* tail_at = nullptr;
  std::unique_ptr<std::byte[]> ends;  // Owns head and tail if they are not in an arena.

  std::vector<ReadUnit> units;
  std::size_t next_unit = 0;
  std::size_t units_left = 0;
  PlannedRead rest;              // Of the units that no read wants.
  std::uint64_t rest_bytes = 0;  // Of the first plan.
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

  // Decides how the reads of an item with a known head and tail are received, and splits them. Adds
  // bytes that complete pieces, at most `extra_bytes`, and subtracts them from it. A repeated item
  // adds the same bytes again, so that the same pieces are compared. With verifies_all, adds what
  // is needed to compare all pieces with wanted bytes.
  void PlanUnits(const EngineLimits& limits, std::uint64_t& extra_bytes);
  // Forgets what has arrived, so that the item can be prepared again.
  void Restart();

  // Adds a unit that has arrived in `memory` to the CRC-32s.
  void AddCrc(const ReadUnit& unit, const std::byte* memory);
  // For an item that contains the expected tensor. Returns kDataLoss if it has CRC-32s of another
  // number of pieces: they are not those of this tensor.
  Result<void> CheckPieceCount() const;
  // Requires CheckPieceCount().ok(). Returns kDataLoss if a piece has arrived whose CRC-32 is not
  // the one of `source`, or the whole payload and its CRC-32 is not `expected`. 0: the item was
  // stored without one.
  Result<void> CheckCrcs(std::uint32_t expected) const;
  // Moves the elements of a dense tensor in its memory if it was stored with strides `stored`.
  // Returns whether they fit. Requires IsOneRun().
  Result<bool> Reorder(const Dimensions& stored) const;

 private:
  void Describe();
  void ChooseMode(PlannedRead& read);
  void AddUnits(PlannedRead& read, const EngineLimits& limits);
  std::uint64_t AddScratchUnits(const EngineLimits& limits);
  std::uint64_t AddWholePayload(const EngineLimits& limits);
  std::uint64_t AddRest(std::uint64_t& extra_bytes);
  void ExpectUnits();
  // Calls `visit` with the offset in the payload, that in the unit's memory, and the size of each
  // range of bytes that the unit receives.
  template <class Visit>
  void ForEachRange(const ReadUnit& unit, const Visit& visit) const;
};
using ItemPointer = std::shared_ptr<PendingItem>;

// Copies the elements of a box from row-major scratch memory to the memory of a read that wants
// some of them.
void CopyWanted(const Box& box, const BoxRead& read, const std::byte* scratch,
                std::uint64_t item_bytes);

// Whether both strides address the same elements.
bool IsSameLayout(const Dimensions& sizes, const Dimensions& one, const Dimensions& other);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_PENDING_ITEM_H_
