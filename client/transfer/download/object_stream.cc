// Reads an object in order, block by block, and fetches the next blocks ahead.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/poll_interrupt.h"
#include "base/log/caught.h"
#include "client/transfer/block_memory.h"
#include "client/transfer/chained_stop.h"
#include "client/transfer/download/evictable_stream.h"
#include "client/transfer/download/range_fetch.h"
#include "client/transfer/download/stream_checksum.h"
#include "client/transfer/download/stream_plan.h"
#include "client/transfer/download/stream_queue.h"
#include "client/transfer/download/stream_source.h"
#include "client/transfer/listed_object.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/process_bound.h"
#include "penstock/base/mutex.h"
#include "penstock/memory.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

using transfer::BlockMemory;
using transfer::RangeFetched;

constexpr std::chrono::milliseconds kPoll{100};
constexpr std::string_view kBookkeeping = "the bookkeeping of a stream";
using Slot = transfer::StreamQueue::Slot;

class StreamImpl final : public ObjectStream {
 public:
  StreamImpl(std::shared_ptr<ObjectStore> store, Source source, StreamOptions options,
             transfer::StreamChecksum checksum)
      : store_(std::move(store)),
        source_(std::move(source)),
        options_(std::move(options)),
        plan_(options_),
        // S3 sends the checksum only with a response that covers the whole object. So the first
        // request of such a stream covers the whole object.
        covers_object_(
            source_.ranges.empty() && source_.begin == 0 &&
            (!source_.end || (source_.known_size && *source_.end >= *source_.known_size))),
        stop_(options_.call.cancel),
        evictable_(std::make_shared<transfer::EvictableStream>(
            [this](std::uint64_t bytes) { return GiveUp(bytes); })),
        position_(source_.begin),
        checksum_(std::move(checksum)) {}

  ~StreamImpl() override {
    pool_.budget().Withdraw(*evictable_);
    evictable_->Detach();
    stop_.RequestStop();
    const MutexLock lock(mutex_);
    while (in_flight_ > 0) changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
    // The completion callback of a request may still hold the slot.
    while (!queue_.empty()) queue_.Pop()->memory = {};
  }

  Result<std::optional<StreamBlock>> Next(const Interrupt& interrupt, std::uint64_t wanted_bytes,
                                          std::uint64_t used_bytes) override {
    BeginReading(wanted_bytes, used_bytes);
    Result<std::optional<StreamBlock>> block = Await(interrupt);
    EndReading();
    return block;
  }

  void Unread(StreamBlock rest) override {
    if (rest.size == 0) return;
    {
      const MutexLock lock(mutex_);
      PENSTOCK_CHECK(rest.offset >= given_.begin && rest.offset + rest.size == position_);
      read_.bytes -= rest.size;
      position_ = rest.offset;
      queue_.Return(std::move(rest), given_.begin, given_held_);
    }
    pool_.budget().Register(evictable_);
  }

  std::uint64_t asked_until() const override {
    const MutexLock lock(mutex_);
    return queue_.EndFrom(position_);
  }

  std::optional<ObjectMetadata> metadata() const override {
    const MutexLock lock(mutex_);
    if (!settled_) return std::nullopt;
    return metadata_;
  }

  std::optional<std::uint64_t> prefix_crc() const override {
    const MutexLock lock(mutex_);
    const bool partly_read = !queue_.empty() && queue_.front()->rest != nullptr;
    return checksum_.CrcBefore(position_, partly_read ? queue_.front()->used_bytes() : ByteView{});
  }

 private:
  // From here to EndReading, the block that the reader waits for cannot be evicted.
  void BeginReading(std::uint64_t wanted_bytes, std::uint64_t used_bytes) {
    pool_.budget().Register(evictable_);
    const MutexLock lock(mutex_);
    reading_ = true;
    read_.reached = std::max(read_.reached, std::min(read_.bytes, used_bytes) + wanted_bytes);
  }

  void EndReading() {
    mutex_.Lock();
    reading_ = false;
    // The stream keeps its share of the budget even if it holds no memory now.
    const bool goes_on = !queue_.empty() || !queue_.all_requested();
    mutex_.Unlock();
    goes_on ? pool_.budget().Register(evictable_) : pool_.budget().Unregister(*evictable_);
  }

  Error At(Error error) const {
    return std::move(error).At("GetObject", source_.bucket.value, source_.key.value);
  }

  Result<std::optional<StreamBlock>> Await(const Interrupt& interrupt) {
    if (!started_) {
      if (Result<void> began = StartReading(interrupt); !began.ok())
        return At(std::move(began).error());
      started_ = true;
    }
    for (;;) {
      if (Result<void> pumped = Pump(&interrupt); !pumped.ok())
        return At(std::move(pumped).error());
      {
        const MutexLock lock(mutex_);
        if (error_) return *error_;
        if (placed_ && queue_.empty() && queue_.all_requested())
          return std::optional<StreamBlock>();
        if (!queue_.empty() && queue_.front()->ready) break;
        changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
        if (error_ || (!queue_.empty() && queue_.front()->ready)) continue;
      }
      // The fetches continue: after an interrupt, the next call finds their blocks.
      const Result<bool> stop = PollInterrupt(interrupt);
      if (!stop.ok()) return At(stop.error());
      if (*stop)
        return At(Error::Make(ErrorKind::kCancelled, "the wait for a block was interrupted"));
    }
    PENSTOCK_ASSIGN(StreamBlock block, Take());
    // Errors of blocks ahead are reported when the reader reaches them.
    static_cast<void>(Pump(nullptr));
    if (block.size == 0) return std::optional<StreamBlock>();  // an empty object
    return std::optional<StreamBlock>(std::move(block));
  }

  Result<void> StartReading(const Interrupt& interrupt) {
    PENSTOCK_TRY(transfer::CheckStream(source_, options_));
    ObjectMetadata known;
    if (source_.known_size) known.size = *source_.known_size;
    if (source_.known_etag) known.etag = *source_.known_etag;
    const bool nothing = source_.end == source_.begin ||
                         (source_.known_size && source_.begin >= *source_.known_size);
    if (nothing || (source_.known_size && source_.known_etag && !covers_object_)) {
      Place(known, 0, {});
      Settle();
      return Ok();
    }
    return Probe(interrupt);
  }

  void Settle() {
    const MutexLock lock(mutex_);
    settled_ = true;
  }

  // Called when the size is known. `asked_bytes` is the length that the first request already
  // covers.
  void Place(const ObjectMetadata& metadata, std::uint64_t asked_bytes,
             const ExpectedCrc& checksum) {
    const MutexLock lock(mutex_);
    metadata_ = metadata;
    ByteRange whole = transfer::ClipRange(source_.begin, source_.end, metadata.size);
    whole.begin += asked_bytes;
    for (const ByteRange& range : source_.ranges) queue_.Append(range);
    if (source_.ranges.empty() && whole.size() > 0) queue_.Append(whole);
    if (checksum.crc != Crc::kNone) {
      checksum_ = {transfer::PiecewiseChecksum(checksum, metadata.size), checksum.crc};
    }
    placed_ = true;
  }

  // Requests the first block before the checksum is known, and usually before the size is. If the
  // request covers the whole object, the response is dropped at the end of the block.
  Result<void> Probe(const Interrupt& interrupt) {
    const std::uint64_t object_bytes =
        covers_object_ ? source_.known_size.value_or(options_.part_size_bytes) : UINT64_MAX;
    const ByteRange wanted{source_.begin, source_.end.value_or(UINT64_MAX)};
    const ByteRange first = transfer::PartAt(wanted, source_.begin, plan_.FirstBlock(object_bytes));
    const auto slot = std::make_shared<transfer::StreamSlot>(stop_.token());
    slot->offset = source_.begin;
    slot->is_first_request = true;
    PENSTOCK_ASSIGN(slot->memory, BlockMemory::Take(pool_, first.size(), interrupt));
    transfer::RangeFetchSpec spec =
        SpecFor(covers_object_ ? ByteRange{0, UINT64_MAX} : first, *slot);
    spec.etag = source_.known_etag;
    spec.listed_etag = source_.listed_etag;
    spec.place = [this, slot](const ObjectMetadata& metadata, std::uint64_t length) {
      return PlaceFirst(*slot, metadata, length);
    };
    if (covers_object_)
      spec.grant = [slot](std::uint64_t) { return transfer::Grant{slot->size, {}}; };
    Callback<RangeFetched> done = DoneWith(slot);
    {
      const MutexLock lock(mutex_);
      Enqueue(slot);
    }
    Start(std::move(spec), std::move(done));
    return Ok();
  }

  Result<transfer::Placement> PlaceFirst(transfer::StreamSlot& slot, const ObjectMetadata& metadata,
                                         std::uint64_t length) {
    if (source_.known_size && *source_.known_size != metadata.size)
      return transfer::OtherSize(metadata.size, *source_.known_size, source_.known_etag);
    if (!source_.listed.etag.empty()) PENSTOCK_TRY(transfer::CheckListed(metadata, source_.listed));
    PENSTOCK_TRY(Displace(metadata));
    slot.size = covers_object_ ? std::min(length, plan_.FirstBlock(metadata.size)) : length;
    PENSTOCK_TRY(FitMemory(slot));
    // If one response contains the whole object, the store verifies it and retries if necessary.
    ExpectedCrc checksum;
    if (covers_object_ && slot.size < length) checksum = transfer::ChecksumOf(metadata);
    slot.crc = checksum.crc;
    Place(metadata, slot.size, checksum);
    if (metadata.etag.empty() && source_.begin + slot.size < source_.end.value_or(metadata.size)) {
      return Error::Make(
          ErrorKind::kUnsupported,
          "the store sent no ETag, so the parts cannot be pinned to one version of the object");
    }
    static_cast<void>(Pump(nullptr));
    return transfer::Placement{slot.memory.bytes().first(slot.size), slot.crc};
  }

  // Two responses agree on another size than the first one, whose body failed. If nothing followed
  // from that size yet, it is forgotten.
  Result<void> Displace(const ObjectMetadata& metadata) {
    const MutexLock lock(mutex_);
    if (!placed_) return Ok();
    if (queue_.size() > 1) return transfer::OtherSize(metadata.size, metadata_.size, metadata.etag);
    queue_.DropRemaining();
    checksum_ = {};
    placed_ = false;
    return Ok();
  }

  // A small object, or the first block of a large one, needs less memory than was reserved for a
  // part. It needs more if an earlier response announced a smaller object.
  Result<void> FitMemory(transfer::StreamSlot& slot) {
    const bool too_small = slot.memory.size() < slot.size;
    if (!too_small && BlockMemory::Cost(slot.size) >= slot.memory.held()) return Ok();
    PENSTOCK_ASSIGN(std::optional<BlockMemory> other, BlockMemory::TryTake(pool_, slot.size));
    if (!other && too_small) {
      return Error::Make(ErrorKind::kResourceExhausted,
                         "no memory is free for the first " + std::to_string(slot.size) +
                             " bytes: an earlier response announced fewer; read again");
    }
    if (other) slot.memory = std::move(*other);
    slot.memory.SetInFlight(true);
    return Ok();
  }

  transfer::RangeFetchSpec SpecFor(ByteRange range, const transfer::StreamSlot& slot) const {
    transfer::RangeFetchSpec spec{.bucket = source_.bucket, .key = source_.key};
    spec.version_id = source_.version_id;
    spec.range = range;
    spec.call = options_.call;
    spec.call.cancel = slot.stop.token();
    spec.customer_key = options_.customer_key;
    return spec;
  }

  // Starts the blocks that the plan allows. If `reader` is set, a reader waits: at least one block
  // is started, and the call waits for its memory.
  Result<void> Pump(const Interrupt* reader) {
    const std::uint64_t share = pool_.budget().FairShare();
    mutex_.Lock();
    if (pumping_) {
      mutex_.Unlock();
      return Ok();
    }
    pumping_ = true;
    read_.share = share;
    Result<void> result = Ok();
    while (placed_ && !error_ && !queue_.all_requested()) {
      const ByteRange range =
          transfer::PartAt(queue_.remaining(), queue_.remaining().begin, plan_.NextBlock(read_));
      const bool awaited = queue_.empty() && reader != nullptr;
      if (!awaited && !plan_.MayFetchAhead(read_, queue_.ahead(), range.size())) break;
      mutex_.Unlock();
      Result<bool> goes_on =
          Caught(kBookkeeping, [&] { return RequestBlock(range, awaited ? reader : nullptr); });
      mutex_.Lock();
      if (!goes_on.ok()) result = std::move(goes_on).error();
      if (!result.ok() || !*goes_on) break;
    }
    pumping_ = false;
    changed_.NotifyAll();  // a reader may have arrived meanwhile and left the work to this call
    mutex_.Unlock();
    return result;
  }

  // Requests the block of `range`. Returns false if there is no memory for it now. Throws only
  // before the block is in the queue.
  Result<bool> RequestBlock(ByteRange range, const Interrupt* reader) {
    PENSTOCK_ASSIGN(std::optional<BlockMemory> memory, TakeMemory(range.size(), reader));
    if (!memory) return false;
    const auto slot = std::make_shared<transfer::StreamSlot>(stop_.token());
    slot->offset = range.begin;
    slot->size = range.size();
    slot->memory = std::move(*memory);
    Callback<RangeFetched> done = DoneWith(slot);
    transfer::RangeFetchSpec spec;
    {
      const MutexLock lock(mutex_);
      // The last block may have been dropped meanwhile. Then it must be requested first.
      if (queue_.all_requested() || queue_.remaining().begin != range.begin ||
          queue_.remaining().end < range.end)
        return true;
      slot->crc = checksum_.crc();
      spec = PinnedSpec(range, slot);
      Enqueue(slot);
      queue_.MarkRequested(range.end);
    }
    Start(std::move(spec), std::move(done));
    return true;
  }

  Result<std::optional<BlockMemory>> TakeMemory(std::uint64_t bytes, const Interrupt* reader) {
    if (reader == nullptr) return BlockMemory::TryTake(pool_, bytes);
    PENSTOCK_ASSIGN(BlockMemory memory, BlockMemory::Take(pool_, bytes, *reader));
    return std::optional<BlockMemory>(std::move(memory));
  }

  transfer::RangeFetchSpec PinnedSpec(ByteRange range, const Slot& slot) PENSTOCK_REQUIRES(mutex_) {
    transfer::RangeFetchSpec spec = SpecFor(range, *slot);
    spec.etag = metadata_.etag;
    spec.place = [slot, size = metadata_.size](const ObjectMetadata& metadata,
                                               std::uint64_t) -> Result<transfer::Placement> {
      if (metadata.size != size) return transfer::OtherSize(metadata.size, size, metadata.etag);
      return transfer::Placement{slot->memory.bytes(), slot->crc};
    };
    return spec;
  }

  void Enqueue(const Slot& slot) PENSTOCK_REQUIRES(mutex_) {
    queue_.Push(slot);
    slot->memory.SetInFlight(true);
    ++in_flight_;
  }

  // `this` stays valid, because the destructor waits until in_flight_ is zero.
  Callback<RangeFetched> DoneWith(const Slot& slot) {
    return [this, slot](Result<RangeFetched> result) { Fetched(slot, std::move(result)); };
  }

  void Start(transfer::RangeFetchSpec spec, Callback<RangeFetched> done) {
    Contain(kBookkeeping, [this] { pool_.budget().Register(evictable_); });
    transfer::StartRangeFetch(*store_, std::move(spec), std::move(done));
  }

  void Fetched(const Slot& slot, Result<RangeFetched> result) {
    Result<bool> usable = Caught(kBookkeeping, [&]() -> Result<bool> {
      return result.ok() || AcceptEmptyRange(slot, result.error()) || IsDropped(slot);
    });
    const bool failed = !usable.ok() || !*usable;
    // Cancel the other requests only after error_ is set, so that their cancellations do not hide
    // the cause.
    if (failed) Fail(usable.ok() ? std::move(result).error() : std::move(usable).error());
    if (failed) stop_.RequestStop();
    // Only from now on can the stream do without this block.
    if (slot->is_first_request)
      Contain(kBookkeeping, [this] { pool_.budget().Register(evictable_); });
    const MutexLock lock(mutex_);
    if (result.ok()) slot->crc_value = result->crc;
    // Dropped memory stays in flight until it is released: otherwise the budget would count it as
    // memory that its thread keeps.
    if (slot->dropped) slot->memory = {};
    slot->memory.SetInFlight(false);
    slot->ready = !failed;
    settled_ = settled_ || !failed;
    // Keep the lock until the end: once in_flight_ is zero and the lock is free, the stream may be
    // destroyed.
    --in_flight_;
    changed_.NotifyAll();
  }

  void Fail(Error error) {
    const MutexLock lock(mutex_);
    if (!error_) error_ = std::move(error);
  }

  bool IsDropped(const Slot& slot) const {
    const MutexLock lock(mutex_);
    return slot->dropped;
  }

  // Drops blocks from the end that no reader waits for, and cancels their requests. Implements
  // MemoryBudget::Evictable::GiveUp.
  std::uint64_t GiveUp(std::uint64_t bytes) {
    std::uint64_t coming = 0;
    std::vector<Slot> dropped;
    std::vector<BlockMemory> freed;  // destroyed after the lock is released
    {
      const MutexLock lock(mutex_);
      if (!placed_) return 0;
      for (const std::size_t awaited = reading_ ? 1 : 0;
           coming < bytes && queue_.MayDrop(awaited);) {
        const Slot slot = queue_.Drop();
        const std::uint64_t begin = slot->offset - slot->used;
        if (covers_object_ && begin == 0 && slot->offset + slot->size == metadata_.size)
          checksum_.ExpectAgain(metadata_);
        if (slot->rest) checksum_.Keep(slot->used_bytes());
        coming += slot->held_bytes();
        if (slot->ready) freed.push_back(std::move(slot->memory));
        dropped.push_back(slot);
      }
    }
    for (const Slot& slot : dropped) slot->stop.RequestStop();
    return coming;
  }

  // The object has no bytes from `begin` on: there is no first block, and that is not an error.
  bool AcceptEmptyRange(const Slot& slot, const Error& error) {
    std::optional<ObjectMetadata> beyond = transfer::BeyondTheEnd(error, source_.begin);
    if (!beyond || source_.known_size) return false;
    const MutexLock lock(mutex_);
    if (placed_) return false;
    PENSTOCK_CHECK(queue_.size() == 1 && queue_.front() == slot);
    queue_.Clear();
    metadata_ = std::move(*beyond);
    metadata_.size = std::min(metadata_.size, source_.begin);
    if (source_.known_etag) metadata_.etag = *source_.known_etag;
    placed_ = true;
    return true;
  }

  // Takes the block that is ready. The last block is returned only if all blocks together match the
  // object's checksum.
  Result<StreamBlock> Take() {
    std::optional<ObjectMetadata> differs;
    Result<StreamBlock> taken = TakeFront(differs);
    if (differs) store_->OnMismatch(source_.bucket, source_.key, differs->etag, differs->size);
    return taken;
  }

  // Sets `differs` if the bytes of the object differ from its checksum.
  Result<StreamBlock> TakeFront(std::optional<ObjectMetadata>& differs) {
    const MutexLock lock(mutex_);
    Slot slot = queue_.front();
    if (!slot->rest) {
      given_ = {slot->offset, slot->offset + slot->size};
      given_held_ = slot->held_bytes();
      const bool last = queue_.size() == 1 && queue_.all_requested();
      if (Result<void> compared = checksum_.Add(given_, slot->crc_value, last); !compared.ok()) {
        differs = metadata_;
        error_ = At(std::move(compared).error());
        return *error_;
      }
      ++read_.blocks;
    }
    queue_.Pop();
    read_.bytes += slot->size;
    position_ = slot->offset + slot->size;
    return slot->TakeBlock();
  }

  const std::shared_ptr<ObjectStore> store_;  // shared with the opener: requests in flight need it
  const Source source_;
  const StreamOptions options_;
  const transfer::StreamPlan plan_;
  const bool covers_object_;
  BufferPool& pool_ = BufferPool::PerProcess();
  transfer::ChainedStop stop_;
  // Shared with the budget, which may be calling it.
  const std::shared_ptr<transfer::EvictableStream> evictable_;
  bool started_ = false;  // used by the reader only

  mutable Mutex mutex_;
  CondVar changed_;
  transfer::StreamQueue queue_ PENSTOCK_GUARDED_BY(mutex_);
  ObjectMetadata metadata_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t position_ PENSTOCK_GUARDED_BY(mutex_);  // of the reader, in the object
  transfer::StreamProgress read_ PENSTOCK_GUARDED_BY(mutex_);
  ByteRange given_ PENSTOCK_GUARDED_BY(mutex_);             // the block that the reader got last
  std::size_t given_held_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // memory held by that block
  transfer::StreamChecksum checksum_ PENSTOCK_GUARDED_BY(mutex_);
  bool placed_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool settled_ PENSTOCK_GUARDED_BY(mutex_) = false;  // the first block arrived as announced
  bool reading_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
};

class BoundStream final : public ObjectStream {
 public:
  BoundStream(std::unique_ptr<StreamImpl> stream, const Source& source)
      : stream_(std::move(stream), "this stream"), bucket_(source.bucket), key_(source.key) {}

  Result<std::optional<StreamBlock>> Next(const Interrupt& interrupt, std::uint64_t wanted_bytes,
                                          std::uint64_t used_bytes) override {
    if (Result<void> usable = stream_.CheckBlockingUse("ObjectStream::Next"); !usable.ok()) {
      return std::move(usable).error().At("GetObject", bucket_.value, key_.value);
    }
    return stream_.object().Next(interrupt, wanted_bytes, used_bytes);
  }
  void Unread(StreamBlock rest) override {
    if (stream_.mine()) stream_.object().Unread(std::move(rest));
  }
  std::uint64_t asked_until() const override {
    return stream_.mine() ? stream_.object().asked_until() : 0;
  }
  std::optional<ObjectMetadata> metadata() const override {
    return stream_.mine() ? stream_.object().metadata() : std::nullopt;
  }
  std::optional<std::uint64_t> prefix_crc() const override {
    return stream_.mine() ? stream_.object().prefix_crc() : std::nullopt;
  }

 private:
  const transfer::ProcessBound<StreamImpl> stream_;
  const BucketName bucket_;
  const ObjectKey key_;
};

}  // namespace

std::unique_ptr<ObjectStream> ObjectStream::Open(std::shared_ptr<ObjectStore> store, Source source,
                                                 StreamOptions options) {
  transfer::StreamChecksum checksum = transfer::InitialChecksum(source);
  source.already_read.clear();
  const Source place{.bucket = source.bucket, .key = source.key};
  return std::make_unique<BoundStream>(
      std::make_unique<StreamImpl>(std::move(store), std::move(source), std::move(options),
                                   std::move(checksum)),
      place);
}

}  // namespace penstock
