// An object's bytes in order, block by block, with the next blocks already on their way.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "client/transfer/block_memory.h"
#include "client/transfer/chained_stop.h"
#include "client/transfer/object_checksum.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/range_fetch.h"
#include "client/transfer/stream_plan.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

using transfer::BlockMemory;
using transfer::RangeFetched;

constexpr std::chrono::milliseconds kPoll{100};

// One block between its request and the reader.
struct Slot {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  BlockMemory memory;
  Crc crc = Crc::kNone;  // what `crc_value` is
  std::uint64_t crc_value = 0;
  bool ready = false;
};

Result<void> Check(const ObjectStream::Source& source, const StreamOptions& options) {
  if (options.part_size_bytes == 0 || options.read_ahead_parts < 0 || options.first_part_bytes == 0) {
    return Error::Make(ErrorKind::kInvalidArgument, "a stream needs part_size_bytes and first_part_bytes of at least 1 "
                                                    "and read_ahead_parts of at least 0");
  }
  if (!source.ranges.empty() && !(source.known_size && source.known_etag)) {
    return Error::Make(ErrorKind::kInvalidArgument, "a stream of `ranges` needs known_size and known_etag");
  }
  for (const ByteRange& range : source.ranges) {
    if (range.begin < range.end && range.end <= *source.known_size) continue;
    return Error::Make(ErrorKind::kInvalidArgument, "the range [" + std::to_string(range.begin) + ", " +
                                                        std::to_string(range.end) + ") is empty or beyond the object's " +
                                                        std::to_string(*source.known_size) + " bytes");
  }
  if (source.end && *source.end < source.begin) {
    return Error::Make(ErrorKind::kInvalidArgument, "the range [" + std::to_string(source.begin) + ", " +
                                                        std::to_string(*source.end) + ") ends before it begins");
  }
  return Ok();
}

Error Changed(std::uint64_t size, std::uint64_t known) {
  return Error::Make(ErrorKind::kPreconditionFailed, "the object has " + std::to_string(size) + " bytes, not " +
                                                         std::to_string(known) + ": it changed");
}

// The checksum of an object whose bytes are in `source.ranges` and read elsewhere; nullopt where they are not all of it.
std::optional<transfer::PiecewiseChecksum> ChecksumOfRanges(const ObjectStream::Source& source) {
  const ExpectedCrc checksum = FindCrc(source.known_checksums);
  if (source.ranges.empty() || !source.known_size || checksum.crc == Crc::kNone) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const ByteRange& range : source.ranges) bytes += range.size();
  for (const ObjectStream::Source::Piece& piece : source.read_elsewhere) bytes += piece.bytes.size();
  if (bytes != *source.known_size) return std::nullopt;
  transfer::PiecewiseChecksum arrived(checksum, *source.known_size);
  for (const auto& [begin, piece] : source.read_elsewhere) {
    static_cast<void>(arrived.Add({begin, begin + piece.size()}, UpdateCrc(checksum.crc, piece, 0)));  // a range is missing
  }
  return arrived;
}

class StreamImpl final : public ObjectStream {
 public:
  StreamImpl(std::shared_ptr<ObjectStore> store, Source source, StreamOptions options,
             std::optional<transfer::PiecewiseChecksum> arrived)
      : store_(std::move(store)),
        source_(std::move(source)),
        options_(std::move(options)),
        plan_(options_),
        // The first answer of such a stream tells the checksum: S3 sends it only with what covers the whole object.
        covers_object_(source_.ranges.empty() && source_.begin == 0 &&
                       (!source_.end || (source_.known_size && *source_.end >= *source_.known_size))),
        stop_(options_.call.cancel),
        arrived_(std::move(arrived)) {}

  ~StreamImpl() override {
    stop_.RequestStop();
    const MutexLock lock(mutex_);
    while (in_flight_ > 0) changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
  }

  Result<std::optional<StreamBlock>> Next(const Interrupt& interrupt) override {
    if (!started_) {
      if (Result<void> began = StartReading(interrupt); !began.ok()) return At(std::move(began).error());
      started_ = true;
    }
    for (;;) {
      if (Result<void> pumped = Pump(&interrupt); !pumped.ok()) return At(std::move(pumped).error());
      {
        const MutexLock lock(mutex_);
        if (error_) return *error_;
        if (placed_ && slots_.empty() && remaining_.empty()) return std::optional<StreamBlock>();
        if (!slots_.empty() && slots_.front()->ready) break;
        changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
        if (error_ || (!slots_.empty() && slots_.front()->ready)) continue;
      }
      // The fetches go on: after an interrupt the next call finds their blocks.
      if (interrupt && interrupt()) return At(Error::Make(ErrorKind::kCancelled, "the wait for a block was interrupted"));
    }
    PENSTOCK_ASSIGN(StreamBlock block, Take());
    static_cast<void>(Pump(nullptr));  // what goes wrong with blocks ahead is told when they are wanted
    if (block.size == 0) return std::optional<StreamBlock>();  // an empty object
    return std::optional<StreamBlock>(std::move(block));
  }

  std::optional<ObjectMetadata> metadata() const override {
    const MutexLock lock(mutex_);
    if (!placed_) return std::nullopt;
    return metadata_;
  }

 private:
  Error At(Error error) const { return std::move(error).At("GetObject", source_.bucket.value, source_.key.value); }

  Result<void> StartReading(const Interrupt& interrupt) {
    PENSTOCK_TRY(Check(source_, options_));
    ObjectMetadata known;
    if (source_.known_size) known.size = *source_.known_size;
    if (source_.known_etag) known.etag = *source_.known_etag;
    const bool nothing = source_.end == source_.begin || (source_.known_size && source_.begin >= *source_.known_size);
    if (nothing || (source_.known_size && source_.known_etag && !covers_object_)) {
      Place(known, 0, arrived_ ? FindCrc(source_.known_checksums) : ExpectedCrc());
      return Ok();
    }
    return Probe(interrupt);
  }

  // The size is known. `asked_bytes`: of the range, by the request that told it.
  void Place(const ObjectMetadata& metadata, std::uint64_t asked_bytes, ExpectedCrc checksum) {
    const MutexLock lock(mutex_);
    metadata_ = metadata;
    ByteRange whole = transfer::ClipRange(source_.begin, source_.end, metadata.size);
    whole.begin += asked_bytes;
    remaining_.assign(source_.ranges.begin(), source_.ranges.end());
    if (source_.ranges.empty() && whole.size() > 0) remaining_.push_back(whole);
    ahead_bytes_ += asked_bytes;
    checksum_ = std::move(checksum);
    placed_ = true;
  }

  // The first block, asked for before the checksum is known, and mostly before the size is. Where it is the begin of the
  // whole object that is asked for, the answer is let go at the block's end.
  Result<void> Probe(const Interrupt& interrupt) {
    const std::uint64_t object_bytes = covers_object_ ? source_.known_size.value_or(options_.part_size_bytes) : UINT64_MAX;
    const ByteRange wanted{source_.begin, source_.end.value_or(UINT64_MAX)};
    const ByteRange first = transfer::PartAt(wanted, source_.begin, plan_.FirstBlock(object_bytes));
    auto slot = std::make_shared<Slot>();
    slot->offset = source_.begin;
    PENSTOCK_ASSIGN(slot->memory, BlockMemory::Take(BufferPool::OfProcess(), first.size(), interrupt));
    transfer::RangeFetchSpec spec = SpecFor(covers_object_ ? ByteRange{0, UINT64_MAX} : first);
    spec.etag = source_.known_etag;
    spec.place = [this, slot](const ObjectMetadata& metadata, std::uint64_t length) {
      return PlaceFirst(*slot, metadata, length);
    };
    if (covers_object_) spec.grant = [slot](std::uint64_t) { return slot->size; };
    Fetch(std::move(spec), slot);
    return Ok();
  }

  Result<transfer::Placement> PlaceFirst(Slot& slot, const ObjectMetadata& metadata, std::uint64_t length) {
    if (source_.known_size && *source_.known_size != metadata.size) return Changed(metadata.size, *source_.known_size);
    slot.size = covers_object_ ? std::min(length, plan_.FirstBlock(metadata.size)) : length;
    // A small object does not need what was taken for a part.
    if (slot.size < BlockMemory::kLeastPooled && slot.memory.size() >= BlockMemory::kLeastPooled) {
      PENSTOCK_ASSIGN(std::optional<BlockMemory> less, BlockMemory::TryTake(BufferPool::OfProcess(), slot.size));
      if (less) slot.memory = std::move(*less);
      slot.memory.SetInFlight(true);
    }
    // An object that comes whole in one answer is the store's to verify, which then also tries again.
    ExpectedCrc checksum;
    if (covers_object_ && slot.size < length) checksum = transfer::ChecksumOf(metadata);
    slot.crc = checksum.crc;
    Place(metadata, slot.size, std::move(checksum));
    if (metadata.etag.empty() && source_.begin + slot.size < source_.end.value_or(metadata.size)) {
      return Error::Make(ErrorKind::kUnsupported,
                         "the store sent no ETag, so the parts cannot be pinned to one version of the object");
    }
    static_cast<void>(Pump(nullptr));
    return transfer::Placement{slot.memory.bytes().first(slot.size), slot.crc};
  }

  transfer::RangeFetchSpec SpecFor(ByteRange range) const {
    transfer::RangeFetchSpec spec;
    spec.bucket = source_.bucket;
    spec.key = source_.key;
    spec.range = range;
    spec.call = options_.call;
    spec.call.cancel = stop_.token();
    return spec;
  }

  // Starts the blocks that the plan allows. `reader`: he waits, so one at least is started, and its memory waited for.
  Result<void> Pump(const Interrupt* reader) {
    mutex_.Lock();
    if (pumping_) {
      mutex_.Unlock();
      return Ok();
    }
    pumping_ = true;
    Result<void> result = Ok();
    while (placed_ && !error_ && !remaining_.empty()) {
      const ByteRange range = transfer::PartAt(remaining_.front(), remaining_.front().begin, plan_.NextBlock(read_));
      const bool awaited = slots_.empty() && reader != nullptr;
      if (!awaited && !plan_.MayFetchAhead(read_, slots_.size(), ahead_bytes_, range.size())) break;
      mutex_.Unlock();
      Result<std::optional<BlockMemory>> memory = TakeMemory(range.size(), awaited ? reader : nullptr);
      mutex_.Lock();
      if (!memory.ok()) result = std::move(memory).error();
      if (!memory.ok() || !*memory) break;
      remaining_.front().begin = range.end;
      if (remaining_.front().size() == 0) remaining_.pop_front();
      const auto slot = std::make_shared<Slot>();
      *slot = {range.begin, range.size(), std::move(**memory), checksum_.crc, 0, false};
      transfer::RangeFetchSpec spec = PinnedSpec(range, slot);
      mutex_.Unlock();
      Fetch(std::move(spec), slot);
      mutex_.Lock();
    }
    pumping_ = false;
    mutex_.Unlock();
    return result;
  }

  static Result<std::optional<BlockMemory>> TakeMemory(std::uint64_t bytes, const Interrupt* reader) {
    if (reader == nullptr) return BlockMemory::TryTake(BufferPool::OfProcess(), bytes);
    PENSTOCK_ASSIGN(BlockMemory memory, BlockMemory::Take(BufferPool::OfProcess(), bytes, *reader));
    return std::optional<BlockMemory>(std::move(memory));
  }

  transfer::RangeFetchSpec PinnedSpec(ByteRange range, const std::shared_ptr<Slot>& slot) PENSTOCK_REQUIRES(mutex_) {
    transfer::RangeFetchSpec spec = SpecFor(range);
    spec.etag = metadata_.etag;
    spec.place = [slot, size = metadata_.size](const ObjectMetadata& metadata,
                                               std::uint64_t) -> Result<transfer::Placement> {
      if (metadata.size != size) return Changed(metadata.size, size);
      return transfer::Placement{slot->memory.bytes(), slot->crc};
    };
    return spec;
  }

  // `this` stays: the destructor waits for in_flight_ to reach zero.
  void Fetch(transfer::RangeFetchSpec spec, const std::shared_ptr<Slot>& slot) {
    slot->memory.SetInFlight(true);
    {
      const MutexLock lock(mutex_);
      slots_.push_back(slot);
      ahead_bytes_ += slot->size;
      ++in_flight_;
    }
    transfer::StartRangeFetch(*store_, std::move(spec), [this, slot](Result<RangeFetched> result) {
      Fetched(slot, result);
    });
  }

  void Fetched(const std::shared_ptr<Slot>& slot, const Result<RangeFetched>& result) {
    bool failed = false;
    if (!result.ok()) {
      failed = !AcceptNothing(slot, result.error());
      if (failed) stop_.RequestStop();
    }
    slot->memory.SetInFlight(false);
    const MutexLock lock(mutex_);
    if (failed && !error_) error_ = result.error();
    if (result.ok()) slot->crc_value = result->crc;
    slot->ready = !failed;
    // Under the lock to the end: once in_flight_ is zero and the lock free, the stream may be gone.
    --in_flight_;
    changed_.NotifyAll();
  }

  // The first block of an object with nothing from `begin` on: no block, no error.
  bool AcceptNothing(const std::shared_ptr<Slot>& slot, const Error& error) {
    std::optional<ObjectMetadata> beyond = transfer::BeyondTheEnd(error);
    if (!beyond || source_.known_size) return false;
    const MutexLock lock(mutex_);
    if (placed_) return false;
    PENSTOCK_CHECK(slots_.size() == 1 && slots_.front() == slot);
    slots_.clear();
    metadata_ = std::move(*beyond);
    metadata_.size = std::min(metadata_.size, source_.begin);
    if (source_.known_etag) metadata_.etag = *source_.known_etag;
    placed_ = true;
    return true;
  }

  // The block that is ready. The one that makes the object whole only when all amount to its checksum.
  Result<StreamBlock> Take() {
    std::shared_ptr<Slot> slot;
    {
      const MutexLock lock(mutex_);
      slot = slots_.front();
      if (!arrived_ && checksum_.crc != Crc::kNone) arrived_.emplace(checksum_, metadata_.size);
    }
    if (arrived_) {
      const ByteRange range{slot->offset, slot->offset + slot->size};
      if (Result<void> compared = arrived_->Add(range, slot->crc_value); !compared.ok()) {
        Error error = At(std::move(compared).error());
        const MutexLock lock(mutex_);
        error_ = error;
        return error;
      }
    }
    {
      const MutexLock lock(mutex_);
      slots_.pop_front();
      ++read_.blocks;
      read_.bytes += slot->size;
      ahead_bytes_ -= slot->size;
    }
    StreamBlock block;
    block.offset = slot->offset;
    block.size = slot->size;
    auto owner = std::make_shared<BlockMemory>(std::move(slot->memory));
    block.data = std::shared_ptr<const std::byte[]>(owner, owner->data());  // the reader may keep it
    return block;
  }

  const std::shared_ptr<ObjectStore> store_;  // shared with the opener: requests in flight need it
  const Source source_;
  const StreamOptions options_;
  const transfer::StreamPlan plan_;
  const bool covers_object_;
  transfer::ChainedStop stop_;
  bool started_ = false;                                // the reader's
  std::optional<transfer::PiecewiseChecksum> arrived_;  // the reader's: what he was given; none: not to be verified here

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<Slot>> slots_ PENSTOCK_GUARDED_BY(mutex_);  // in the object's order
  ObjectMetadata metadata_ PENSTOCK_GUARDED_BY(mutex_);
  std::deque<ByteRange> remaining_ PENSTOCK_GUARDED_BY(mutex_);           // not yet asked for
  std::uint64_t ahead_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;            // of slots_
  transfer::StreamProgress read_ PENSTOCK_GUARDED_BY(mutex_);
  ExpectedCrc checksum_ PENSTOCK_GUARDED_BY(mutex_);  // of kNone: not to be verified here
  bool placed_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<ObjectStream> ObjectStream::Open(std::shared_ptr<ObjectStore> store, Source source,
                                                 StreamOptions options) {
  std::optional<transfer::PiecewiseChecksum> arrived = ChecksumOfRanges(source);
  source.read_elsewhere.clear();
  return std::make_unique<StreamImpl>(std::move(store), std::move(source), std::move(options), std::move(arrived));
}

}  // namespace penstock
