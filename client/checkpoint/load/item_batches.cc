#include "client/checkpoint/load/item_batches.h"

namespace penstock::checkpoint {
namespace {

constexpr std::size_t kMaxPieces = 1 << 16;  // of a batch

bool IsInScratch(const ReadUnit& unit) {
  return unit.read->mode == ReadMode::kScratch || unit.read->mode == ReadMode::kRest;
}

}  // namespace

Result<bool> ItemBatches::Place(const ItemPointer& item) {
  return item->at_once ? PlaceAtOnce(item) : PlaceUnits(item);
}

Result<bool> ItemBatches::PlaceAtOnce(const ItemPointer& item) {
  std::uint64_t scratch = item->head + item->tail;
  std::uint64_t size = scratch;
  for (const ReadUnit& unit : item->units) {
    size += unit.size;
    if (IsInScratch(unit)) scratch += unit.size + ScratchPool::kAlignment;
  }
  PENSTOCK_ASSIGN(const bool has_room, MakeRoom(*item, size, scratch));
  if (!has_room) return false;
  const std::uint64_t at = open_.arena->Take(item->head + item->tail, false);
  AppendEnds(item, open_.arena->memory->bytes().data() + at);
  for (ReadUnit& unit : item->units) Append(item, std::move(unit));
  item->units.clear();
  return true;
}

Result<bool> ItemBatches::PlaceUnits(const ItemPointer& item) {
  if (!item->ends) {
    PENSTOCK_ASSIGN(const bool has_room, MakeRoom(*item, item->head + item->tail, 0));
    if (!has_room) return false;
    item->ends.reset(new std::byte[item->head + item->tail]);
    AppendEnds(item, item->ends.get());
  }
  for (; item->next_unit < item->units.size(); ++item->next_unit) {
    ReadUnit& unit = item->units[item->next_unit];
    const std::uint64_t scratch = IsInScratch(unit) ? unit.size : 0;
    PENSTOCK_ASSIGN(const bool has_room, MakeRoom(*item, unit.size, scratch));
    if (!has_room) return false;
    Append(item, std::move(unit));
  }
  return true;
}

// Makes the open batch one with room for `bytes` and with `scratch` bytes left in its arena.
// Returns false if batches in flight must complete first.
Result<bool> ItemBatches::MakeRoom(const PendingItem& item, std::uint64_t bytes,
                                   std::uint64_t scratch) {
  if (open_.arena) {
    const bool fits = open_.key == item.source.key && open_.bucket == item.source.bucket &&
                      open_.bytes + bytes <= limits_.batch_bytes &&
                      open_.items < limits_.batch_items && open_.pieces.size() < kMaxPieces &&
                      open_.arena->left() >= scratch + ScratchPool::kAlignment;
    if (fits) return true;
    Flush();
  }
  if (bytes_ + bytes > limits_.window_bytes && bytes_ > 0) return false;
  PENSTOCK_ASSIGN(std::shared_ptr<Arena> arena, scratch_.Take(scratch));
  if (!arena) return false;
  open_.arena = std::move(arena);
  open_.bucket = item.source.bucket;
  open_.key = item.source.key;
  return true;
}

void ItemBatches::AppendEnds(const ItemPointer& item, std::byte* memory) {
  item->head_at = memory;
  item->tail_at = memory + item->head;
  AppendPiece(item->source.begin, {item->head_at, item->head});
  AppendPiece(item->end() - item->tail, {item->tail_at, item->tail});
  AppendUnit({item, {}});
}

void ItemBatches::Append(const ItemPointer& item, ReadUnit unit) {
  UnitInFlight flying{item, std::move(unit)};
  const PlannedRead& read = *flying.unit.read;
  const std::uint64_t payload = item->source.begin + item->head;
  if (read.mode == ReadMode::kRun) {
    flying.memory = read.to.memory.data + flying.unit.begin;
    AppendPiece(payload + read.run_begin + flying.unit.begin, {flying.memory, flying.unit.size});
    if (read.run_bytes == item->payload) item->whole_payload = read.to.memory.data;
  } else if (read.mode == ReadMode::kRest) {
    const std::uint64_t at = open_.arena->Take(flying.unit.size, false);
    flying.memory = open_.arena->memory->bytes().data() + at;
    AppendPiece(payload + flying.unit.begin, {flying.memory, flying.unit.size});
  } else {
    AppendBox(flying, payload);
  }
  AppendUnit(std::move(flying));
}

void ItemBatches::AppendBox(UnitInFlight& flying, std::uint64_t payload) {
  PendingItem& item = *flying.item;
  const PlannedRead& read = *flying.unit.read;
  const Box& box = flying.unit.box;
  if (read.mode == ReadMode::kScratch) {
    flying.at = open_.arena->Take(flying.unit.size, true);
    flying.memory = open_.arena->memory->bytes().data() + flying.at;
    if (flying.unit.size == item.payload && item.at_once) item.whole_payload = flying.memory;
  } else {
    flying.memory = read.to.memory.data;
    for (std::size_t i = 0; i < box.offsets.size(); ++i) {
      flying.memory += (box.offsets[i] - read.to.box.offsets[i]) * read.to.memory.strides[i] *
                       static_cast<std::int64_t>(item.source.item_bytes);
    }
  }
  const std::uint64_t begin = payload + item.PayloadOffset(box);
  const Runs runs = item.RunsOf(read, box);
  runs.ForEach([&](std::uint64_t from, std::uint64_t to) {
    AppendPiece(begin + from, {flying.memory + to, runs.run_bytes()});
  });
}

// Joins pieces that are adjacent on both sides.
void ItemBatches::AppendPiece(std::uint64_t begin, MutableByteView memory) {
  if (memory.empty()) return;
  open_.bytes += memory.size();
  if (!open_.pieces.empty()) {
    RangePiece& last = open_.pieces.back();
    if (last.begin + last.memory.size() == begin &&
        last.memory.data() + last.memory.size() == memory.data()) {
      last.memory = {last.memory.data(), last.memory.size() + memory.size()};
      return;
    }
  }
  open_.pieces.push_back({begin, memory});
}

void ItemBatches::AppendUnit(UnitInFlight unit) {
  ++unit.item->units_left;
  if (unit.unit.read == nullptr) ++open_.items;
  open_.units.push_back(std::move(unit));
}

void ItemBatches::Flush() {
  if (!open_.arena) return;
  bytes_ += open_.bytes;
  ready_.push_back(std::exchange(open_, Batch()));
}

}  // namespace penstock::checkpoint
