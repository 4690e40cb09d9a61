// An object's bytes in order, block by block, with the next blocks already on their way.
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "client/transfer/chained_stop.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/range_fetch.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

using transfer::RangeFetched;

constexpr std::chrono::milliseconds kPoll{100};

// One part between its request and the reader.
struct Slot {
  std::uint64_t offset = 0;
  std::shared_ptr<std::byte[]> data;  // shared with the block handed out
  std::size_t size = 0;
  bool ready = false;
};

class StreamImpl final : public ObjectStream {
 public:
  StreamImpl(std::shared_ptr<ObjectStore> store, Source source, StreamOptions options)
      : store_(std::move(store)),
        source_(std::move(source)),
        options_(std::move(options)),
        stop_(options_.call.cancel) {}

  ~StreamImpl() override {
    stop_.RequestStop();
    const MutexLock lock(mutex_);
    while (in_flight_ > 0) changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
  }

  Result<std::optional<StreamBlock>> Next(const Interrupt& interrupt) override {
    if (!started_) {
      PENSTOCK_TRY(StartReading());
      started_ = true;
    }
    for (;;) {
      Pump();
      {
        const MutexLock lock(mutex_);
        if (error_) return *error_;
        if (placed_ && slots_.empty() && next_ == whole_.end) return std::optional<StreamBlock>();
        if (!slots_.empty() && slots_.front()->ready) break;
        changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
        if (error_ || (!slots_.empty() && slots_.front()->ready)) continue;
      }
      // The fetches go on: after an interrupt the next call finds their blocks.
      if (interrupt && interrupt()) return At(Error::Make(ErrorKind::kCancelled, "the wait for a block was interrupted"));
    }
    StreamBlock block;
    {
      const MutexLock lock(mutex_);
      const std::shared_ptr<Slot> slot = std::move(slots_.front());
      slots_.pop_front();
      block = {slot->offset, std::move(slot->data), slot->size};
    }
    Pump();
    return std::optional<StreamBlock>(std::move(block));
  }

  std::optional<ObjectMetadata> metadata() const override {
    const MutexLock lock(mutex_);
    if (!placed_) return std::nullopt;
    return metadata_;
  }

 private:
  Error At(Error error) const { return std::move(error).At("GetObject", source_.bucket.value, source_.key.value); }

  Result<void> StartReading() {
    if (options_.part_size_bytes == 0 || options_.read_ahead_parts < 0) {
      return At(Error::Make(ErrorKind::kInvalidArgument, "a stream needs part_size_bytes of at least 1 and "
                                                         "read_ahead_parts of at least 0"));
    }
    if (source_.end && *source_.end < source_.begin) {
      return At(Error::Make(ErrorKind::kInvalidArgument, "the range [" + std::to_string(source_.begin) + ", " +
                                                             std::to_string(*source_.end) + ") ends before it begins"));
    }
    ObjectMetadata known;
    if (source_.known_size) known.size = *source_.known_size;
    if (source_.known_etag) known.etag = *source_.known_etag;
    const bool nothing = source_.end == source_.begin || (source_.known_size && source_.begin >= *source_.known_size);
    if ((source_.known_size && source_.known_etag) || nothing) {
      Place(known);
      return Ok();
    }
    Probe();
    return Ok();
  }

  void Place(const ObjectMetadata& metadata) {
    const MutexLock lock(mutex_);
    metadata_ = metadata;
    whole_ = transfer::ClipRange(source_.begin, source_.end, metadata.size);
    next_ = whole_.begin;
    placed_ = true;
  }

  // The first part, asked for before the size is known.
  void Probe() {
    auto slot = std::make_shared<Slot>();
    slot->offset = source_.begin;
    {
      const MutexLock lock(mutex_);
      slots_.push_back(slot);
      ++in_flight_;
    }
    const ByteRange whole{source_.begin, source_.end.value_or(UINT64_MAX)};
    transfer::RangeFetchSpec spec = SpecFor(transfer::PartAt(whole, source_.begin, options_.part_size_bytes));
    spec.etag = source_.known_etag;
    spec.place = [this, slot](const ObjectMetadata& metadata, std::uint64_t length) -> Result<transfer::Placement> {
      if (source_.known_size && *source_.known_size != metadata.size) {
        return Error::Make(ErrorKind::kPreconditionFailed,
                           "the object has " + std::to_string(metadata.size) + " bytes, not the known " +
                               std::to_string(*source_.known_size) + ": it changed");
      }
      Place(metadata);
      PENSTOCK_ASSIGN(const transfer::Placement target, Allocate(*slot, length));
      {
        const MutexLock lock(mutex_);
        if (length < whole_.size() && metadata.etag.empty()) {
          return Error::Make(ErrorKind::kUnsupported,
                             "the store sent no ETag, so the parts cannot be pinned to one version of the object");
        }
        next_ = whole_.begin + length;
      }
      Pump();
      return target;
    };
    Fetch(std::move(spec), slot);
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

  // Each block has memory of its own, not zero-filled, since every byte is about to be written.
  static Result<transfer::Placement> Allocate(Slot& slot, std::uint64_t size) {
    try {
      slot.data = std::make_shared_for_overwrite<std::byte[]>(size);
    } catch (const std::bad_alloc&) {
      return Error::Make(ErrorKind::kResourceExhausted, "no memory for a block of " + std::to_string(size) +
                                                            " bytes: use smaller or fewer parts");
    }
    slot.size = size;
    return transfer::Placement{MutableByteView(slot.data.get(), size)};
  }

  // Starts parts until read_ahead_parts wait or run; one at least, or the reader would wait for nothing.
  void Pump() {
    mutex_.Lock();
    if (pumping_) {
      mutex_.Unlock();
      return;
    }
    pumping_ = true;
    const std::size_t most = std::max(1, options_.read_ahead_parts);
    while (placed_ && !error_ && next_ < whole_.end && slots_.size() < most) {
      const ByteRange range = transfer::PartAt(whole_, next_, options_.part_size_bytes);
      next_ = range.end;
      ++in_flight_;
      auto slot = std::make_shared<Slot>();
      slot->offset = range.begin;
      slots_.push_back(slot);
      transfer::RangeFetchSpec spec = SpecFor(range);
      spec.etag = metadata_.etag;
      spec.place = [slot, size = metadata_.size](const ObjectMetadata& metadata,
                                                 std::uint64_t length) -> Result<transfer::Placement> {
        if (metadata.size == size) return Allocate(*slot, length);
        return Error::Make(ErrorKind::kPreconditionFailed, "the object has " + std::to_string(metadata.size) +
                                                               " bytes, not " + std::to_string(size) + ": it changed");
      };
      mutex_.Unlock();
      Fetch(std::move(spec), slot);
      mutex_.Lock();
    }
    pumping_ = false;
    mutex_.Unlock();
  }

  // `this` stays: the destructor waits for in_flight_ to reach zero.
  void Fetch(transfer::RangeFetchSpec spec, const std::shared_ptr<Slot>& slot) {
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
    const MutexLock lock(mutex_);
    if (failed && !error_) error_ = result.error();
    slot->ready = !failed;
    // Under the lock to the end: once in_flight_ is zero and the lock free, the stream may be gone.
    --in_flight_;
    changed_.NotifyAll();
  }

  // The first part of an object with nothing from `begin` on: no block, no error.
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
    whole_ = {source_.begin, source_.begin};
    next_ = source_.begin;
    placed_ = true;
    return true;
  }

  const std::shared_ptr<ObjectStore> store_;  // shared with the opener: requests in flight need it
  const Source source_;
  const StreamOptions options_;
  transfer::ChainedStop stop_;
  bool started_ = false;  // the reader's

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<std::shared_ptr<Slot>> slots_ PENSTOCK_GUARDED_BY(mutex_);  // in the object's order
  ObjectMetadata metadata_ PENSTOCK_GUARDED_BY(mutex_);
  ByteRange whole_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t next_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool placed_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<ObjectStream> ObjectStream::Open(std::shared_ptr<ObjectStore> store, Source source,
                                                 StreamOptions options) {
  return std::make_unique<StreamImpl>(std::move(store), std::move(source), std::move(options));
}

}  // namespace penstock
