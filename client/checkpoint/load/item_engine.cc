#include "client/checkpoint/load/item_engine.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/missing.h"
#include "client/checkpoint/archive_index.h"
#include "client/checkpoint/load/item_batches.h"
#include "client/checkpoint/load/memory_leases.h"
#include "client/checkpoint/load/pending_item.h"
#include "penstock/tensor_archive.h"

namespace penstock::checkpoint {
namespace {

constexpr std::string_view kOperation = "LoadDistributed";
constexpr std::uint64_t kEndBytes = 4096;  // of an item around its payload, at most
// Of an object, and of an item. Sums of few of them fit 64 bits.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
// Of an item that is fetched whole without a look at the size of its object.
constexpr std::uint64_t kUncheckedBytes = std::uint64_t{1} << 30;

Error BeyondAnyObject(const LoadItem& item) {
  return Error::Make(ErrorKind::kDataLoss,
                     "item '" + item.name + "': " + std::to_string(item.length) +
                         " bytes from byte " + std::to_string(item.begin) +
                         " end beyond the limit of " + std::to_string(kMaxBytes) +
                         " bytes: the metadata of the checkpoint is invalid; load another "
                         "checkpoint")
      .At(kOperation, item.bucket.value, item.key.value);
}

Error BeyondTheObject(const LoadItem& item, std::uint64_t object_bytes) {
  return Error::Make(ErrorKind::kDataLoss,
                     "item '" + item.name + "': " + std::to_string(item.length) +
                         " bytes from byte " + std::to_string(item.begin) +
                         " end beyond the object, which has " + std::to_string(object_bytes) +
                         " bytes: the object is truncated or of another save, or the metadata of "
                         "the checkpoint is invalid; load another checkpoint")
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
        batches_(limits, scratch_),
        extra_bytes_(limits.extra_bytes),
        reader_(std::in_place, context_) {}

  Result<void> Add(std::uint64_t token, LoadItem source) {
    PENSTOCK_TRY(CheckOpen());
    if (source.length > kMaxBytes || source.begin > kMaxBytes - source.length)
      return BeyondAnyObject(source);
    queue_.push_back(std::make_shared<PendingItem>(token, std::move(source)));
    return Plan();
  }

  bool is_full() const { return !queue_.empty() || !probing_.empty(); }
  bool is_idle() const {
    return !is_full() && batches_.is_empty() && flying_.empty() && events_.empty();
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
    if (all && queue_.empty()) batches_.Flush();
    Start();
    if (events_.empty() && !flying_.empty() && (all || is_full())) PENSTOCK_TRY(ReceiveBatch());
    Requeue();
    return std::exchange(events_, {});
  }

  void Start() {
    if (!reader_) return;
    for (Batch& batch : batches_.TakeReady()) {
      const std::uint64_t token = ++last_token_;
      RangeBatch request{batch.bucket, batch.key, std::move(batch.pieces), {}};
      flying_[token] = std::move(batch);
      reader_->Start(std::move(request), token);
    }
  }

  bool has_planned() const { return batches_.has_ready(); }
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

  // Leases the memory of an item and decides how to read it. Returns false if it must wait.
  Result<bool> PrepareItem(const ItemPointer& item) {
    if (Predict(*item)) {
      Probe(item);
      queue_.pop_front();
      return true;
    }
    if (!Lease(*item)) return false;
    if (item->is_whole) PENSTOCK_TRY(CheckSize(item->source));
    item->is_prepared = true;
    item->units_left = 1;  // until all are placed
    if (item->is_whole) {
      item->head = item->source.length;
      item->tail = 0;
      item->at_once = true;
      return true;
    }
    item->PlanUnits(limits_, extra_bytes_);
    return true;
  }

  // Compares an item for which much memory is needed at once with the size of its object: its
  // length may be wrong. The response to the request of a smaller item does.
  Result<void> CheckSize(const LoadItem& item) const {
    if (item.length <= kUncheckedBytes) return Ok();
    HeadObjectRequest head;
    head.bucket = item.bucket;
    head.key = item.key;
    head.options = context_.ranges.call;
    head.customer_key = context_.ranges.customer_key;
    PENSTOCK_ASSIGN(const ObjectMetadata object,
                    context_.store->Call(std::move(head), context_.interrupt));
    if (item.begin + item.length <= object.size) return Ok();
    return BeyondTheObject(item, object.size);
  }

  // Predicts head and tail; an item of which that is impossible is fetched whole. Returns whether
  // its ends must be read first.
  bool Predict(PendingItem& item) {
    if (item.is_declared) item.strides = RowMajorStrides(item.source.sizes);
    if (item.is_whole) return false;
    item.is_whole = true;
    if (!item.is_declared || item.source.length <= item.payload) return false;
    const std::uint64_t around = item.source.length - item.payload;
    if (around <= kPayloadAlignment || around > 2 * kEndBytes) return false;
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
  bool Lease(PendingItem& item) {
    const MemoryLeases::Id last = last_lease_;
    const auto is_leased = [](const PlannedRead& read) {
      return read.lease != 0 || read.to.memory.data == nullptr;
    };
    for (PlannedRead& read : item.reads) {
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
      for (PlannedRead& read : item.reads) {
        if (read.lease > last) leases_.Release(std::exchange(read.lease, 0));
      }
      return false;
    }
    std::vector<PlannedRead> others(std::make_move_iterator(rest),
                                    std::make_move_iterator(item.reads.end()));
    item.reads.erase(rest, item.reads.end());
    queue_.insert(queue_.begin() + 1, std::make_shared<PendingItem>(item, std::move(others)));
    return true;
  }

  // Whether only items in the queue hold memory.
  bool IsQuiet() {
    batches_.Flush();
    return !batches_.has_ready() && flying_.empty() && refetch_.empty() && events_.empty() &&
           released_.empty();
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
    batches_.Add(std::move(batch));
  }

  void TakeProbe(std::uint64_t kind) {
    auto waiting = std::move(probing_[kind]);
    probing_.erase(kind);
    PendingItem& item = *waiting.front();
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
      PENSTOCK_ASSIGN(const bool placed, batches_.Place(item));
      if (!placed) return Ok();
      queue_.pop_front();
      PENSTOCK_TRY(Finish(item));
    }
    return Ok();
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
    batches_.Complete(batch);
    for (UnitInFlight& each : batch.units) {
      if (each.unit.read != nullptr) Take(each, *batch.arena->memory);
      PENSTOCK_TRY(Finish(each.item));
    }
    batch.units.clear();
    handled_.push_back(std::move(batch));
    return Ok();
  }

  Result<std::uint64_t> NextToken() {
    auto token = reader_->Next();
    if (!token.ok() && IsMissingKey(token.error())) {
      token.error().message +=
          "; the checkpoint names this object, and may have been replaced or removed since its "
          ".metadata was read: load again; if that fails too, the checkpoint is incomplete";
    }
    return token;
  }

  // Computes the CRC-32s of a unit, and delivers it if it is in scratch memory.
  void Take(UnitInFlight& flying, ScratchMemory& scratch) {
    flying.item->AddCrc(flying.unit, flying.memory);
    if (flying.unit.read->mode != ReadMode::kScratch) return;
    for (const PlannedRead* read = flying.unit.read; read != nullptr; read = read->next) {
      if (flying.unit.box.Overlaps(read->to.box)) TakeFor(*read, flying, scratch);
    }
  }

  void TakeFor(const PlannedRead& read, const UnitInFlight& flying, ScratchMemory& scratch) {
    PendingItem& item = *flying.item;
    const Box& box = flying.unit.box;
    if (read.to.is_direct) {
      CopyWanted(box, read.to, flying.memory, item.source.item_bytes);
      return;
    }
    LoadEvent part;
    part.kind = LoadEvent::Kind::kPart;
    part.token = item.token;
    part.reads = {read.index};
    part.box = box;
    part.wanted = *box.Intersection(read.to.box);
    part.scratch = &scratch;
    part.at = flying.at;
    (item.at_once ? item.parts : events_).push_back(std::move(part));
  }

  // Counts a unit of an item. After the last one, verifies the item.
  Result<void> Finish(const ItemPointer& item) {
    if (--item->units_left > 0) return Ok();
    auto verified =
        item->is_whole ? DeliverWhole(*item, {item->head_at, item->head}) : Verify(item);
    item->ends.reset();
    if (!verified.ok()) {
      verified.error().At(kOperation, item->source.bucket.value, item->source.key.value);
    }
    return verified;
  }

  Result<void> DeliverWhole(PendingItem& item, ByteView bytes,
                            std::shared_ptr<const ScratchMemory> joined = nullptr) {
    const auto archive = item.is_declared ? ReadTensorArchive({{}, 0, bytes}) : std::nullopt;
    if (archive) {
      Learn(item, *archive);
      if (IsAsDeclared(item, Parsed(*archive))) PENSTOCK_TRY(item.CheckPieceCount());
    }
    Deliver(item, LoadEvent::Kind::kWhole, bytes, std::move(joined));
    return Ok();
  }

  void Deliver(PendingItem& item, LoadEvent::Kind kind, ByteView bytes = {},
               std::shared_ptr<const ScratchMemory> joined = nullptr) {
    LoadEvent event;
    event.kind = kind;
    event.token = item.token;
    event.bytes = bytes;
    event.joined = std::move(joined);
    for (const PlannedRead& read : item.reads) {
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
  void Learn(const PendingItem& item, const TensorArchive& archive) {
    if (archive.payload_bytes != item.payload || Parsed(archive) == nullptr) return;
    const std::uint64_t trailer = item.source.length - archive.payload_begin - item.payload;
    if (trailer > 0 && trailer <= kEndBytes) learned_.emplace_back(item.payload, trailer);
  }

  static bool IsAsDeclared(const PendingItem& item, const PickledTensor* tensor) {
    return tensor != nullptr && tensor->storage_offset == 0 && tensor->dtype == item.source.dtype &&
           tensor->sizes == item.source.sizes;
  }

  // Compares an item with the prediction.
  Result<void> Verify(const ItemPointer& item) {
    const auto archive = ReadTensorArchive(
        {{item->head_at, item->head}, item->payload, {item->tail_at, item->tail}});
    const PickledTensor* const tensor = archive ? Parsed(*archive) : nullptr;
    const bool in_place = tensor != nullptr && archive->payload_begin == item->head &&
                          archive->payload_bytes == item->payload;
    const bool same_elements = in_place && IsAsDeclared(*item, tensor);
    if (same_elements) PENSTOCK_TRY(item->CheckPieceCount());
    if (same_elements && IsSameLayout(tensor->sizes, tensor->strides, item->strides)) {
      auto checked = item->CheckCrcs(archive->payload_crc32);
      if (!checked.ok()) return Repeat(item, std::move(checked).error());
      std::move(item->parts.begin(), item->parts.end(), std::back_inserter(events_));
      Deliver(*item, LoadEvent::Kind::kLoaded);
      return Ok();
    }
    ++mispredicted_;
    if (archive && !in_place) Learn(*item, *archive);
    if (same_elements && item->IsOneRun()) {
      auto checked = item->CheckCrcs(archive->payload_crc32);
      if (!checked.ok()) return Repeat(item, std::move(checked).error());
      PENSTOCK_ASSIGN(const bool is_ordered, item->Reorder(tensor->strides));
      if (is_ordered) {
        Deliver(*item, LoadEvent::Kind::kLoaded);
        return Ok();
      }
    }
    return Refetch(item, archive.has_value());
  }

  // Reads an item with wrong bytes once more: they may have changed in transit.
  Result<void> Repeat(const ItemPointer& item, Error error) {
    if (item->is_repeated || !context_.store->may_repeat()) return error;
    item->is_repeated = true;
    item->Restart();
    refetch_.push_back(item);
    return Ok();
  }

  // Gives the caller the bytes of an item that is not as predicted: from memory, or by a request.
  // Bytes that are not an archive are requested again, because they may have changed in transit.
  Result<void> Refetch(const ItemPointer& item, bool is_archive) {
    item->parts.clear();
    const bool uses_memory = is_archive || item->is_repeated || !context_.store->may_repeat();
    if (uses_memory && (item->whole_payload || item->payload == 0)) {
      PENSTOCK_ASSIGN(const std::shared_ptr<ScratchMemory> joined,
                      AllocateFromHeap(item->source.length));
      std::byte* at = std::copy_n(item->head_at, item->head, joined->bytes().data());
      at = std::copy_n(item->whole_payload, item->payload, at);
      std::copy_n(item->tail_at, item->tail, at);
      return DeliverWhole(*item, joined->bytes(), joined);
    }
    item->is_whole = true;
    item->Restart();
    refetch_.push_back(item);
    return Ok();
  }

  static constexpr std::size_t kMaxPickles = 4096;
  const LoadContext context_;
  TrailerSizes& trailers_;
  const EngineLimits limits_;
  ScratchPool scratch_;
  ItemBatches batches_;
  std::uint64_t extra_bytes_;  // left for the rest of pieces
  MemoryLeases leases_;
  MemoryLeases::Id last_lease_ = 0;

  std::deque<ItemPointer> queue_;     // not requested completely; others wait for the first one
  std::vector<ItemPointer> probed_;   // to be queued
  std::vector<ItemPointer> refetch_;  // to be queued; they hold memory
  std::map<std::uint64_t, std::vector<ItemPointer>> probing_;  // by the kind of the trailer
  std::unordered_map<std::string, std::optional<PickledTensor>> pickles_;  // most are equal
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
