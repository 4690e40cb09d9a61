#include "client/checkpoint/load/item_engine.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "client/checkpoint/archive_index.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/load/memory_leases.h"
#include "client/checkpoint/load/payload_crc.h"
#include "penstock/tensor_archive.h"

namespace penstock::checkpoint {
namespace {

constexpr std::string_view kOperation = "LoadDistributed";
constexpr std::uint64_t kEndBytes = 4096;  // of an item around its payload, at most
constexpr std::uint64_t kAlignment = 64;   // of payloads
constexpr std::size_t kBatchPieces = 1 << 16;
constexpr std::uint64_t kZip64Bytes = 0xFFFF'0000;  // from this size on, zip64 fields
// Of an object, and of an item. Sums of few of them fit 64 bits.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

// Where a read receives its elements.
enum class Way {
  kRun,      // Bytes that are contiguous in the payload and in the read's memory.
  kRows,     // Long rows, directly.
  kScratch,  // Row-major in scratch memory.
};

struct Read {
  std::size_t index = 0;  // in LoadItem::reads
  BoxRead to;
  MemoryLeases::Id lease = 0;  // 0: none
  Way way = Way::kScratch;
  std::uint64_t run_begin = 0;  // kRun: in the payload
  std::uint64_t run_bytes = 0;
};

// A part of a payload that is received at once: of a run, bytes [begin, begin + size) of it; else
// a box.
struct Unit {
  Read* read = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  Box box;
};

struct Item {
  std::uint64_t token = 0;
  LoadItem source;  // without reads
  std::vector<Read> reads;

  bool is_prepared = false;
  bool is_probed = false;
  bool is_declared = false;  // the metadata describes a tensor with all boxes
  bool is_whole = false;     // fetched whole; head is its length
  bool may_check = false;    // so much is requested that it can be all of the payload
  bool at_once = false;      // all units are in one batch
  Dimensions strides;        // of the payload, as predicted
  std::uint64_t payload = 0;
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  std::byte* head_at = nullptr;
  std::byte* tail_at = nullptr;
  std::unique_ptr<std::byte[]> ends;  // owns head and tail if they are not in an arena

  std::vector<Unit> units;
  std::size_t next_unit = 0;
  std::size_t units_left = 0;
  PayloadCrc crc;
  const std::byte* whole_payload = nullptr;  // the payload, if it is in one place
  std::vector<LoadEvent> parts;              // of an item that arrives at once

  std::uint64_t end() const { return source.begin + source.length; }
};
using ItemPointer = std::shared_ptr<Item>;

// A unit in flight. Without a read: the ends of an item.
struct Flying {
  ItemPointer item;
  Unit unit;
  std::byte* memory = nullptr;
  std::uint64_t at = 0;  // kScratch: in the arena
};

struct Batch {
  BucketName bucket;
  ObjectKey key;
  std::shared_ptr<Arena> arena;
  std::vector<RangePiece> pieces;
  std::vector<Flying> units;
  std::uint64_t bytes = 0;
  std::size_t items = 0;
  std::optional<std::uint64_t> probed_kind;
};

// Payloads of one kind have trailers of one size in files of one program.
std::uint64_t KindOfTrailer(std::uint64_t payload) {
  const std::uint64_t kind = payload == 0 ? kAlignment : payload % kAlignment;
  return kind * 2 + (payload >= kZip64Bytes ? 1 : 0);
}

// Whether both strides address the same elements.
bool SameLayout(const Dimensions& sizes, const Dimensions& one, const Dimensions& other) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && one[i] != other[i]) return false;
  }
  return true;
}

// Whether a tensor fills one memory range without gaps or overlaps, in any order of dimensions.
bool IsDense(const Dimensions& sizes, const Dimensions& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) steps.emplace_back(strides[i], sizes[i]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : steps) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

// The runs between a box of the payload and the memory of `read`, or row-major memory.
Runs RunsOf(const Item& item, const Read& read, const Box& box) {
  const Dimensions strides =
      read.way == Way::kScratch ? RowMajorStrides(box.lengths) : read.to.memory.strides;
  return Runs(box.lengths, item.strides, strides, item.source.item_bytes);
}

std::uint64_t BytesOf(const Item& item, const Box& box) {
  return static_cast<std::uint64_t>(box.elements()) * item.source.item_bytes;
}

std::uint64_t PayloadOffset(const Item& item, const Box& box) {
  return static_cast<std::uint64_t>(box.First(item.strides)) * item.source.item_bytes;
}

}  // namespace

std::optional<std::uint64_t> LearnedTrailers::Find(std::uint64_t payload,
                                                   std::uint64_t around) const {
  const auto found = by_kind_.find(KindOfTrailer(payload));
  if (found == by_kind_.end() || around <= found->second ||
      (around - found->second) % kAlignment != 0)
    return std::nullopt;
  return found->second;
}

void LearnedTrailers::Learn(std::uint64_t payload, std::uint64_t trailer) {
  by_kind_[KindOfTrailer(payload)] = trailer;
}

std::string DescribeItem(const LoadItem& item) {
  return "item '" + item.name + "': bytes " + std::to_string(item.begin) + " to " +
         std::to_string(item.begin + item.length);
}

namespace {

Error BeyondAnyObject(const LoadItem& item) {
  return Error::Make(ErrorKind::kDataLoss,
                     "item '" + item.name + "': " + std::to_string(item.length) +
                         " bytes from byte " + std::to_string(item.begin) +
                         " end beyond the limit of " + std::to_string(kMaxBytes) +
                         " bytes: the metadata of the checkpoint is invalid")
      .At(kOperation, item.bucket.value, item.key.value);
}

}  // namespace

class ItemEngine::Loader {
 public:
  Loader(LoadContext context, TrailerSizes& trailers, const EngineLimits& limits,
         AllocateScratch allocate)
      : context_(std::move(context)),
        trailers_(trailers),
        limits_(limits),
        scratch_(std::move(allocate)),
        reader_(std::in_place, context_) {}

  Result<void> Add(std::uint64_t token, LoadItem source) {
    PENSTOCK_TRY(CheckOpen());
    if (source.length > kMaxBytes || source.begin > kMaxBytes - source.length)
      return BeyondAnyObject(source);
    auto item = std::make_shared<Item>();
    item->token = token;
    for (std::size_t i = 0; i < source.reads.size(); ++i)
      item->reads.push_back({i, std::move(source.reads[i])});
    source.reads.clear();
    item->source = std::move(source);
    Describe(*item);
    queue_.push_back(std::move(item));
    return Plan();
  }

  bool is_full() const { return !queue_.empty() || !probing_.empty(); }
  bool is_idle() const {
    return !is_full() && open_.units.empty() && ready_.empty() && flying_.empty() &&
           events_.empty();
  }

  Result<void> Prepare() {
    PENSTOCK_TRY(CheckOpen());
    for (const Batch& batch : std::exchange(handled_, {})) scratch_.Release(batch.arena);
    for (const MemoryLeases::Id lease : std::exchange(released_, {})) leases_.Release(lease);
    for (const auto& [payload, trailer] : std::exchange(learned_, {}))
      trailers_.Learn(payload, trailer);
    return Plan();
  }

  Result<std::vector<LoadEvent>> Receive(bool all) {
    PENSTOCK_TRY(CheckOpen());
    if (all && queue_.empty()) Flush();
    Start();
    if (events_.empty() && !flying_.empty() && (all || is_full())) PENSTOCK_TRY(ReceiveBatch());
    Requeue();
    return std::exchange(events_, {});
  }

  void Start() {
    if (!reader_) return;
    for (Batch& batch : std::exchange(ready_, {})) {
      const std::uint64_t token = ++last_token_;
      RangeBatch request{batch.bucket, batch.key, std::move(batch.pieces), {}};
      flying_[token] = std::move(batch);
      reader_->Start(std::move(request), token);
    }
  }

  bool has_planned() const { return !ready_.empty(); }
  void Cancel() {
    if (!reader_) return;
    ranges_ = reader_->usage();
    reader_.reset();
  }
  void ClearScratch() { scratch_.Clear(); }
  EngineUsage usage() const {
    return {reader_ ? reader_->usage() : ranges_, probes_, mispredicted_};
  }

 private:
  Result<void> CheckOpen() const {
    if (reader_) return Ok();
    return Error::Make(ErrorKind::kCancelled, "the load was cancelled; start another one");
  }

  // ---- preparing items

  static void Describe(Item& item) {
    const LoadItem& source = item.source;
    if (source.dtype.empty()) return;
    const auto bytes = DenseBytes(source.sizes, source.item_bytes);
    if (!bytes) return;
    for (const Read& read : item.reads) {
      if (!read.to.box.IsWithin(source.sizes)) return;
    }
    item.is_declared = true;
    item.payload = *bytes;
  }

  // Leases the memory of an item and decides how to read it. Returns false if it must wait.
  Result<bool> PrepareItem(const ItemPointer& item) {
    if (Predict(*item)) {
      Probe(item);
      queue_.pop_front();
      return true;
    }
    if (!Lease(*item)) return false;
    item->is_prepared = true;
    item->units_left = 1;  // until all are placed
    if (item->is_whole) {
      item->head = item->source.length;
      item->tail = 0;
      item->at_once = true;
      return true;
    }
    std::uint64_t wanted = 0;
    for (const Read& read : item->reads) wanted += BytesOf(*item, read.to.box);
    std::uint64_t scratch = item->head + item->tail;
    std::uint64_t size = scratch + wanted;
    for (Read& read : item->reads) {
      ChooseWay(*item, read);
      scratch += AddUnits(*item, read);
    }
    std::uint64_t requested = 0;
    for (const Unit& unit : item->units) requested += unit.size;
    item->may_check = requested >= item->payload;
    item->at_once = size <= limits_.unit_bytes && scratch <= limits_.part_bytes;
    return true;
  }

  // Predicts head and tail; an item of which that is impossible is fetched whole. Returns whether
  // its ends must be read first.
  bool Predict(Item& item) {
    if (item.is_declared) item.strides = RowMajorStrides(item.source.sizes);
    if (item.is_whole) return false;
    item.is_whole = true;
    if (!item.is_declared || item.source.length <= item.payload) return false;
    const std::uint64_t around = item.source.length - item.payload;
    if (around <= kAlignment || around > 2 * kEndBytes) return false;
    const std::optional<std::uint64_t> tail = trailers_.Find(item.payload, around);
    if (!tail || *tail >= around) {
      const bool probes = item.payload > limits_.probe_bytes && !item.is_probed &&
                          item.source.length >= 2 * kEndBytes;
      item.is_whole = !probes;
      return probes;
    }
    item.is_whole = false;
    item.tail = *tail;
    item.head = around - *tail;
    return false;
  }

  // Leases the memory of all reads. Reads that need memory of each other become another item.
  //
  // Only requests in flight, unhandled events and items before this one hold leases. So the first
  // read gets its lease at the latest when all of these are done.
  bool Lease(Item& item) {
    const MemoryLeases::Id last = last_lease_;
    const auto is_leased = [](const Read& read) {
      return read.lease != 0 || read.to.memory.data == nullptr;
    };
    for (Read& read : item.reads) {
      if (is_leased(read)) continue;
      const Box& box = read.to.box;
      Dimensions position = read.to.position;
      position.resize(box.lengths.size());
      const LeasedMemory memory{reinterpret_cast<std::uintptr_t>(read.to.memory.data),
                                read.to.memory_item_bytes,
                                read.to.memory.strides,
                                {std::move(position), box.lengths}};
      if (leases_.Acquire(last_lease_ + 1, memory)) read.lease = ++last_lease_;
    }
    const auto rest = std::stable_partition(item.reads.begin(), item.reads.end(), is_leased);
    if (rest == item.reads.end()) return true;
    if (!IsQuiet()) {
      for (Read& read : item.reads) {
        if (read.lease > last) leases_.Release(std::exchange(read.lease, 0));
      }
      return false;
    }
    auto other = std::make_shared<Item>();
    other->token = item.token;
    other->source = item.source;
    std::move(rest, item.reads.end(), std::back_inserter(other->reads));
    item.reads.erase(rest, item.reads.end());
    Describe(*other);
    queue_.insert(queue_.begin() + 1, std::move(other));
    return true;
  }

  // Whether only items in the queue hold memory.
  bool IsQuiet() {
    Flush();
    return ready_.empty() && flying_.empty() && refetch_.empty() && events_.empty() &&
           released_.empty();
  }

  void ChooseWay(Item& item, Read& read) const {
    read.way = Way::kScratch;
    const BoxRead& to = read.to;
    if (!to.is_direct) return;
    const Runs runs(to.box.lengths, item.strides, to.memory.strides, item.source.item_bytes);
    const bool is_whole_tensor = item.reads.size() == 1 && to.box.lengths == item.source.sizes;
    if (runs.is_one()) {
      read.way = Way::kRun;
      read.run_begin = PayloadOffset(item, to.box);
      read.run_bytes = runs.run_bytes();
    } else if (is_whole_tensor && IsDense(item.source.sizes, to.memory.strides)) {
      // Predict that the stored strides are those of the memory: it was most likely saved from
      // such a tensor.
      read.way = Way::kRun;
      read.run_bytes = item.payload;
      item.strides = to.memory.strides;
    } else if (runs.are_long() && !runs.overlap()) {
      read.way = Way::kRows;
    }
  }

  // Splits a read. Returns the bytes of scratch memory that it needs.
  std::uint64_t AddUnits(Item& item, Read& read) const {
    if (read.way == Way::kRun) {
      for (std::uint64_t at = 0; at < read.run_bytes; at += limits_.unit_bytes)
        item.units.push_back({&read, at, std::min(limits_.unit_bytes, read.run_bytes - at), {}});
      return 0;
    }
    const std::uint64_t item_bytes = item.source.item_bytes;
    const bool direct = read.way == Way::kRows;
    const Box box = direct ? read.to.box : read.to.box.Widened(item.source.sizes, item_bytes);
    if (read.to.box.elements() == 0) return 0;
    const std::uint64_t most = direct ? limits_.unit_bytes : limits_.part_bytes;
    std::uint64_t scratch = 0;
    for (Box& part : box.Parts(static_cast<std::int64_t>(most / item_bytes))) {
      if (!part.Overlaps(read.to.box)) continue;  // a piece of the gap between rows
      const std::uint64_t bytes = BytesOf(item, part);
      if (!direct) scratch += bytes + kAlignment;
      item.units.push_back({&read, 0, bytes, std::move(part)});
    }
    return scratch;
  }

  void Probe(const ItemPointer& item) {
    item->is_probed = true;
    const std::uint64_t kind = KindOfTrailer(item->payload);
    std::vector<ItemPointer>& waiting = probing_[kind];
    waiting.push_back(item);
    if (waiting.size() > 1) return;
    ++probes_;
    item->ends.reset(new std::byte[2 * kEndBytes]);
    Batch batch;
    batch.bucket = item->source.bucket;
    batch.key = item->source.key;
    batch.probed_kind = kind;
    batch.pieces = {{item->source.begin, {item->ends.get(), kEndBytes}},
                    {item->end() - kEndBytes, {item->ends.get() + kEndBytes, kEndBytes}}};
    ready_.push_back(std::move(batch));
  }

  void TakeProbe(std::uint64_t kind) {
    auto waiting = std::move(probing_[kind]);
    probing_.erase(kind);
    Item& item = *waiting.front();
    const auto archive = ReadTensorArchive({{item.ends.get(), kEndBytes},
                                            item.source.length - 2 * kEndBytes,
                                            {item.ends.get() + kEndBytes, kEndBytes}});
    if (archive) Learn(item, *archive);
    item.ends.reset();
    for (ItemPointer& each : waiting) {
      each->is_probed = true;
      probed_.push_back(std::move(each));
    }
  }

  // Puts items back into the queue: behind the first item if that holds memory already, and items
  // that hold memory before those that do not.
  void Requeue() {
    refetch_.insert(refetch_.end(), probed_.begin(), probed_.end());
    probed_.clear();
    const bool is_first_prepared = !queue_.empty() && queue_.front()->is_prepared;
    queue_.insert(queue_.begin() + (is_first_prepared ? 1 : 0), refetch_.begin(), refetch_.end());
    refetch_.clear();
  }

  // ---- requesting

  Result<void> Plan() {
    while (!queue_.empty()) {
      const ItemPointer item = queue_.front();
      if (!item->is_prepared) {
        PENSTOCK_ASSIGN(const bool proceeds, PrepareItem(item));
        if (!proceeds) return Ok();
        if (!item->is_prepared) continue;  // it is probed
      }
      PENSTOCK_ASSIGN(const bool placed, item->at_once ? PlaceAtOnce(item) : PlaceUnits(item));
      if (!placed) return Ok();
      queue_.pop_front();
      PENSTOCK_TRY(Finish(item));
    }
    return Ok();
  }

  Result<bool> PlaceAtOnce(const ItemPointer& item) {
    std::uint64_t scratch = item->head + item->tail;
    std::uint64_t size = scratch;
    for (const Unit& unit : item->units) {
      size += unit.size;
      if (unit.read->way == Way::kScratch) scratch += unit.size + kAlignment;
    }
    PENSTOCK_ASSIGN(const bool has_room, Room(*item, size, scratch));
    if (!has_room) return false;
    const std::uint64_t at = open_.arena->Take(item->head + item->tail, false);
    AppendEnds(item, open_.arena->memory->bytes().data() + at);
    for (Unit& unit : item->units) Append(item, std::move(unit));
    item->units.clear();
    return true;
  }

  Result<bool> PlaceUnits(const ItemPointer& item) {
    if (!item->ends) {
      PENSTOCK_ASSIGN(const bool has_room, Room(*item, item->head + item->tail, 0));
      if (!has_room) return false;
      item->ends.reset(new std::byte[item->head + item->tail]);
      AppendEnds(item, item->ends.get());
    }
    for (; item->next_unit < item->units.size(); ++item->next_unit) {
      Unit& unit = item->units[item->next_unit];
      const bool in_scratch = unit.read->way == Way::kScratch;
      PENSTOCK_ASSIGN(const bool has_room, Room(*item, unit.size, in_scratch ? unit.size : 0));
      if (!has_room) return false;
      Append(item, std::move(unit));
    }
    return true;
  }

  // Makes the open batch one with room for `bytes` and with `scratch` bytes left in its arena.
  // Returns false if batches in flight must complete first.
  Result<bool> Room(const Item& item, std::uint64_t bytes, std::uint64_t scratch) {
    if (open_.arena) {
      const bool fits = open_.key == item.source.key && open_.bucket == item.source.bucket &&
                        open_.bytes + bytes <= limits_.batch_bytes &&
                        open_.items < limits_.batch_items && open_.pieces.size() < kBatchPieces &&
                        open_.arena->left() >= scratch + kAlignment;
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

  void AppendEnds(const ItemPointer& item, std::byte* memory) {
    item->head_at = memory;
    item->tail_at = memory + item->head;
    AppendPiece(item->source.begin, {item->head_at, item->head});
    AppendPiece(item->end() - item->tail, {item->tail_at, item->tail});
    AppendFlying({item, {}});
  }

  void Append(const ItemPointer& item, Unit unit) {
    const Read& read = *unit.read;
    const std::uint64_t payload = item->source.begin + item->head;
    Flying flying{item, std::move(unit)};
    const Box& box = flying.unit.box;
    if (read.way == Way::kRun) {
      flying.memory = read.to.memory.data + flying.unit.begin;
      AppendPiece(payload + read.run_begin + flying.unit.begin, {flying.memory, flying.unit.size});
      if (read.run_bytes == item->payload) item->whole_payload = read.to.memory.data;
    } else {
      if (read.way == Way::kScratch) {
        flying.at = open_.arena->Take(flying.unit.size, true);
        flying.memory = open_.arena->memory->bytes().data() + flying.at;
        if (flying.unit.size == item->payload && item->at_once) item->whole_payload = flying.memory;
      } else {
        flying.memory = read.to.memory.data;
        for (std::size_t i = 0; i < box.offsets.size(); ++i) {
          flying.memory += (box.offsets[i] - read.to.box.offsets[i]) * read.to.memory.strides[i] *
                           static_cast<std::int64_t>(item->source.item_bytes);
        }
      }
      const std::uint64_t begin = payload + PayloadOffset(*item, box);
      const Runs runs = RunsOf(*item, read, box);
      runs.ForEach([&](std::uint64_t from, std::uint64_t to) {
        AppendPiece(begin + from, {flying.memory + to, runs.run_bytes()});
      });
    }
    AppendFlying(std::move(flying));
  }

  // Joins pieces that are adjacent on both sides.
  void AppendPiece(std::uint64_t begin, MutableByteView memory) {
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

  void AppendFlying(Flying flying) {
    ++flying.item->units_left;
    if (flying.unit.read == nullptr) ++open_.items;
    open_.units.push_back(std::move(flying));
  }

  void Flush() {
    if (!open_.arena) return;
    bytes_ += open_.bytes;
    ready_.push_back(std::exchange(open_, Batch()));
  }

  // ---- receiving

  Result<void> ReceiveBatch() {
    PENSTOCK_ASSIGN(const std::uint64_t token, NextToken());
    const auto found = flying_.find(token);
    Batch batch = std::move(found->second);
    flying_.erase(found);
    if (batch.probed_kind) {
      TakeProbe(*batch.probed_kind);
      return Ok();
    }
    bytes_ -= batch.bytes;
    for (Flying& each : batch.units) {
      if (each.unit.read != nullptr) Take(each, *batch.arena->memory);
      PENSTOCK_TRY(Finish(each.item));
    }
    batch.units.clear();
    handled_.push_back(std::move(batch));
    return Ok();
  }

  Result<std::uint64_t> NextToken() {
    auto token = reader_->Next();
    if (!token.ok() && token.error().code == "NoSuchKey") {
      token.error().message +=
          "; the checkpoint names this object, and may have been replaced or removed since its "
          ".metadata was read: load again; if that fails too, the checkpoint is incomplete";
    }
    return token;
  }

  // Computes the CRC-32 of a unit, and delivers it if it is in scratch memory.
  void Take(Flying& flying, ScratchMemory& scratch) {
    Item& item = *flying.item;
    Read& read = *flying.unit.read;
    if (item.may_check) AddCrc(item, flying);
    if (read.way != Way::kScratch) return;
    if (read.to.is_direct) {
      CopyPart(flying);
      return;
    }
    LoadEvent part;
    part.kind = LoadEvent::Kind::kPart;
    part.token = item.token;
    part.reads = {read.index};
    part.box = flying.unit.box;
    part.wanted = WantedOf(flying);
    part.scratch = &scratch;
    part.at = flying.at;
    (item.at_once ? item.parts : events_).push_back(std::move(part));
  }

  static void AddCrc(Item& item, const Flying& flying) {
    const Read& read = *flying.unit.read;
    if (read.way == Way::kRun)
      return item.crc.Add(read.run_begin + flying.unit.begin, {flying.memory, flying.unit.size});
    const std::uint64_t begin = PayloadOffset(item, flying.unit.box);
    const Runs runs = RunsOf(item, read, flying.unit.box);
    runs.ForEach([&](std::uint64_t from, std::uint64_t to) {
      item.crc.Add(begin + from, {flying.memory + to, runs.run_bytes()});
    });
  }

  // The elements of a unit in scratch memory that its read wants. AddUnits plans no other units.
  static Box WantedOf(const Flying& flying) {
    return *flying.unit.box.Intersection(flying.unit.read->to.box);
  }

  static void CopyPart(const Flying& flying) {
    const BoxRead& to = flying.unit.read->to;
    const Box& box = flying.unit.box;
    const Box common = WantedOf(flying);
    const Dimensions strides = RowMajorStrides(box.lengths);
    const auto item_bytes = static_cast<std::int64_t>(flying.item->source.item_bytes);
    std::int64_t from = 0;
    std::int64_t into = 0;
    for (std::size_t i = 0; i < strides.size(); ++i) {
      from += (common.offsets[i] - box.offsets[i]) * strides[i];
      into += (common.offsets[i] - to.box.offsets[i]) * to.memory.strides[i];
    }
    CopyElements(common.lengths, flying.item->source.item_bytes, flying.memory + from * item_bytes,
                 strides, to.memory.data + into * item_bytes, to.memory.strides);
  }

  // Counts a unit of an item. After the last one, verifies the item.
  Result<void> Finish(const ItemPointer& item) {
    if (--item->units_left > 0) return Ok();
    if (item->is_whole) {
      DeliverWhole(*item, {item->head_at, item->head});
      return Ok();
    }
    auto verified = Verify(item);
    item->ends.reset();
    if (!verified.ok()) {
      Error& error = verified.error();
      error.message = DescribeItem(item->source) + error.message;
      error.At(kOperation, item->source.bucket.value, item->source.key.value);
    }
    return verified;
  }

  void DeliverWhole(Item& item, ByteView bytes,
                    std::shared_ptr<const ScratchMemory> joined = nullptr) {
    const auto archive = item.is_declared ? ReadTensorArchive({{}, 0, bytes}) : std::nullopt;
    if (archive) Learn(item, *archive);
    Deliver(item, LoadEvent::Kind::kWhole, bytes, std::move(joined));
  }

  void Deliver(Item& item, LoadEvent::Kind kind, ByteView bytes = {},
               std::shared_ptr<const ScratchMemory> joined = nullptr) {
    LoadEvent event;
    event.kind = kind;
    event.token = item.token;
    event.bytes = bytes;
    event.joined = std::move(joined);
    for (const Read& read : item.reads) {
      event.reads.push_back(read.index);
      if (read.lease != 0) released_.push_back(read.lease);
    }
    events_.push_back(std::move(event));
  }

  const PickledTensor* Parsed(const TensorArchive& archive) {
    if (pickles_.size() >= kMaxPickles) pickles_.clear();
    const auto [found, added] = pickles_.try_emplace(std::string(archive.pickle));
    if (added) found->second = ReadTensorPickle(archive.pickle);
    const std::optional<PickledTensor>& tensor = found->second;
    const bool matches = tensor && tensor->storage_key == archive.payload_key &&
                         tensor->storage_bytes == archive.payload_bytes;
    return matches ? &*tensor : nullptr;
  }

  // Remembers the trailer of an item that contains a tensor of the expected size.
  void Learn(const Item& item, const TensorArchive& archive) {
    if (archive.payload_bytes != item.payload || Parsed(archive) == nullptr) return;
    const std::uint64_t trailer = item.source.length - archive.payload_begin - item.payload;
    if (trailer > 0 && trailer <= kEndBytes) learned_.emplace_back(item.payload, trailer);
  }

  // Compares an item with the prediction.
  Result<void> Verify(const ItemPointer& item) {
    const auto archive = ReadTensorArchive(
        {{item->head_at, item->head}, item->payload, {item->tail_at, item->tail}});
    const PickledTensor* const tensor = archive ? Parsed(*archive) : nullptr;
    const bool in_place = tensor != nullptr && archive->payload_begin == item->head &&
                          archive->payload_bytes == item->payload;
    const bool same_elements = in_place && tensor->storage_offset == 0 &&
                               tensor->dtype == item->source.dtype &&
                               tensor->sizes == item->source.sizes;
    if (same_elements && SameLayout(tensor->sizes, tensor->strides, item->strides)) {
      PENSTOCK_TRY(CheckCrc(*item, archive->payload_crc32));
      std::move(item->parts.begin(), item->parts.end(), std::back_inserter(events_));
      Deliver(*item, LoadEvent::Kind::kLoaded);
      return Ok();
    }
    ++mispredicted_;
    if (archive && !in_place) Learn(*item, *archive);
    if (same_elements && item->reads.size() == 1 && item->reads[0].way == Way::kRun &&
        item->reads[0].run_bytes == item->payload) {
      PENSTOCK_TRY(CheckCrc(*item, archive->payload_crc32));
      PENSTOCK_ASSIGN(const bool is_ordered, Reorder(*item, tensor->strides));
      if (is_ordered) {
        Deliver(*item, LoadEvent::Kind::kLoaded);
        return Ok();
      }
    }
    return Refetch(item);
  }

  static Result<void> CheckCrc(const Item& item, std::uint32_t expected) {
    if (expected == 0 || !item.may_check) return Ok();
    const std::optional<std::uint32_t> crc = item.crc.Of(item.payload);
    if (!crc || *crc == expected) return Ok();
    return WrongCrcOfBytes(*crc, expected);
  }

  // Moves the elements of a dense tensor in its memory if it was stored with other strides.
  // Returns whether they fit.
  static Result<bool> Reorder(const Item& item, const Dimensions& stored) {
    const LoadItem& source = item.source;
    const auto bytes = StridedBytes(source.sizes, stored, source.item_bytes);
    if (!bytes || *bytes > item.payload) return false;
    const StridedMemory& memory = item.reads[0].to.memory;
    PENSTOCK_ASSIGN(const std::shared_ptr<ScratchMemory> copy, AllocateFromHeap(item.payload));
    std::byte* const elements = copy->bytes().data();
    std::copy_n(memory.data, item.payload, elements);
    CopyElements(source.sizes, source.item_bytes, elements, stored, memory.data, memory.strides);
    return true;
  }

  // Gives the caller the bytes of an item that is not as predicted, from memory or by a request.
  Result<void> Refetch(const ItemPointer& item) {
    item->parts.clear();
    if (item->whole_payload || item->payload == 0) {
      PENSTOCK_ASSIGN(const std::shared_ptr<ScratchMemory> joined,
                      AllocateFromHeap(item->source.length));
      std::byte* at = std::copy_n(item->head_at, item->head, joined->bytes().data());
      at = std::copy_n(item->whole_payload, item->payload, at);
      std::copy_n(item->tail_at, item->tail, at);
      DeliverWhole(*item, joined->bytes(), joined);
      return Ok();
    }
    item->is_whole = true;
    item->is_prepared = false;
    item->crc = PayloadCrc();
    item->units.clear();
    item->next_unit = 0;
    refetch_.push_back(item);
    return Ok();
  }

  static constexpr std::size_t kMaxPickles = 4096;
  const LoadContext context_;
  TrailerSizes& trailers_;
  const EngineLimits limits_;
  ScratchPool scratch_;
  MemoryLeases leases_;
  MemoryLeases::Id last_lease_ = 0;

  std::deque<ItemPointer> queue_;     // not requested completely; others wait for the first one
  std::vector<ItemPointer> probed_;   // to be queued
  std::vector<ItemPointer> refetch_;  // to be queued; they hold memory
  std::map<std::uint64_t, std::vector<ItemPointer>> probing_;  // by the kind of the trailer
  std::unordered_map<std::string, std::optional<PickledTensor>> pickles_;  // most are equal
  Batch open_;
  std::vector<Batch> ready_;  // to be started
  std::uint64_t bytes_ = 0;   // ready and in flight
  std::vector<LoadEvent> events_;

  std::uint64_t probes_ = 0;
  std::uint64_t mispredicted_ = 0;
  RangeReader::Usage ranges_;  // when the load was cancelled

  // What the next Prepare does, after the caller has handled the events.
  std::vector<Batch> handled_;
  std::vector<MemoryLeases::Id> released_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> learned_;

  std::unordered_map<std::uint64_t, Batch> flying_;  // by token
  std::uint64_t last_token_ = 0;
  std::optional<BatchReader>
      reader_;  // the last member: its destructor waits, then memory is freed
};

ItemEngine::ItemEngine(LoadContext context, TrailerSizes& trailers, const EngineLimits& limits,
                       AllocateScratch allocate)
    : loader_(std::make_unique<Loader>(std::move(context), trailers, limits, std::move(allocate))) {
}
ItemEngine::~ItemEngine() = default;

Result<void> ItemEngine::Add(std::uint64_t token, LoadItem item) {
  return loader_->Add(token, std::move(item));
}
bool ItemEngine::is_full() const { return loader_->is_full(); }
bool ItemEngine::is_idle() const { return loader_->is_idle(); }
Result<void> ItemEngine::Prepare() { return loader_->Prepare(); }
Result<std::vector<LoadEvent>> ItemEngine::Receive(bool all) { return loader_->Receive(all); }
Result<std::vector<LoadEvent>> ItemEngine::Next(bool all) {
  PENSTOCK_TRY(Prepare());
  return Receive(all);
}
bool ItemEngine::has_planned() const { return loader_->has_planned(); }
void ItemEngine::Start() { loader_->Start(); }
void ItemEngine::Cancel() { loader_->Cancel(); }
void ItemEngine::ClearScratch() { loader_->ClearScratch(); }
EngineUsage ItemEngine::usage() const { return loader_->usage(); }

}  // namespace penstock::checkpoint
