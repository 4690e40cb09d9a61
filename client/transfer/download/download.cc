// Downloads a whole object or a range into the caller's memory, with one or several requests.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/caught.h"
#include "client/transfer/chained_stop.h"
#include "client/transfer/connection_plan.h"
#include "client/transfer/download/range_fetch.h"
#include "client/transfer/object_checksum.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/progress_meter.h"
#include "client/transfer/range_claims.h"
#include "client/transfer/thread_use.h"
#include "penstock/base/blocking.h"
#include "penstock/base/mutex.h"
#include "penstock/memory.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

using transfer::RangeFetched;

Result<void> Check(const DownloadRequest& request) {
  const auto invalid = [](std::string message) {
    return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
  };
  if (request.options.part_size_bytes == 0)
    return invalid("part_size_bytes must be 1 or more, not 0");
  if (request.options.max_parallel_parts && *request.options.max_parallel_parts < 1) {
    return invalid("max_parallel_parts must be 1 or more, not " +
                   std::to_string(*request.options.max_parallel_parts));
  }
  if (request.end && *request.end < request.begin) {
    return invalid("the range [" + std::to_string(request.begin) + ", " +
                   std::to_string(*request.end) + ") ends before it begins");
  }
  if (!request.destination == !request.ask_memory)
    return invalid("set exactly one of `destination` and `ask_memory`");
  return Ok();
}

// The first connection is granted at most this many bytes ahead of its position.
constexpr std::uint64_t kGrantBytes = 1ull << 20;
// Limits while the download waits for the caller's memory: the bytes staged at most, and the step
// between two checks for the memory.
constexpr std::uint64_t kMaxStagedBytes = 64ull << 20;
constexpr std::uint64_t kStagedStepBytes = 256ull << 10;
constexpr std::uint64_t kMaxPooledBytes = 8ull << 20;
constexpr std::string_view kCallback = "the callback of a download";
constexpr std::string_view kBookkeeping = "the bookkeeping of a download";
constexpr std::string_view kProgress = "the progress callback of a download";

// Memory for bytes that arrive before the caller's memory is available. Pages that receive no bytes
// are never mapped.
class StagedBytes {
 public:
  // Allocates exactly `size` bytes.
  Result<void> Take(std::uint64_t size) {
    if (size >= BufferPool::kMinHugeBytes && size <= kMaxPooledBytes) {
      PENSTOCK_ASSIGN(std::optional<PooledBuffer> pooled,
                      BufferPool::PerProcess().TryTake(static_cast<std::size_t>(size)));
      if (pooled) {
        pooled_ = *std::move(pooled);
        bytes_ = pooled_.bytes().first(static_cast<std::size_t>(size));
        return Ok();
      }
    }
    heap_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(size)]);
    if (heap_ == nullptr) {
      return Error::Make(ErrorKind::kResourceExhausted,
                         "no memory for the first " + std::to_string(size) + " bytes of an object");
    }
    bytes_ = {heap_.get(), static_cast<std::size_t>(size)};
    return Ok();
  }
  MutableByteView bytes() const { return bytes_; }
  void Release() {
    bytes_ = {};
    heap_.reset();
    pooled_.Release();
  }

 private:
  MutableByteView bytes_;
  std::unique_ptr<std::byte[]> heap_;
  PooledBuffer pooled_;
};

// One download. The first request, the front, asks for the whole range and reads it from the start.
// The head of its response gives size, ETag and checksum. Meanwhile, further requests fetch parts
// from the end, as many as the measured rate justifies. When the front reaches the parts, the rest
// of its response is dropped. The first failure stops all requests. The completion waits for all of
// them, because the caller owns the memory again afterwards.
class DownloadTask : public std::enable_shared_from_this<DownloadTask> {
 public:
  DownloadTask(std::shared_ptr<ObjectStore> store, DownloadRequest request)
      : store_(std::move(store)),
        request_(std::move(request)),
        stop_(request_.options.call.cancel),
        progress_(request_.options.progress) {}

  // `done` runs exactly once, even if memory runs out.
  void Run(Callback<DownloadResponse> done) {
    done_ = std::move(done);
    Result<void> begun = Caught(kBookkeeping, [this] { return Begin(); });
    if (!begun.ok()) return Fail(std::move(begun).error());
    Pump();
  }

 private:
  // After an error or an exception, no request is in flight.
  Result<void> Begin() {
    PENSTOCK_TRY(Check(request_));
    ObjectMetadata known;
    if (request_.known_size) known.size = *request_.known_size;
    if (request_.known_etag) known.etag = *request_.known_etag;
    const bool certain = request_.known_size && request_.known_etag;
    ExpectAfterPrefix();
    const bool nothing = request_.end == request_.begin ||
                         (request_.known_size && request_.begin >= *request_.known_size);
    if (nothing || (certain && request_.destination)) {
      PENSTOCK_TRY(Place(known));
    }
    if (!nothing) StartFront();
    return Ok();
  }

  // The response to a request for the whole object has the checksum. Other requests depend on the
  // caller.
  void ExpectAfterPrefix() {
    const bool covers_object = request_.begin == 0 && (!request_.end || !request_.known_size ||
                                                       *request_.end >= *request_.known_size);
    if (covers_object || !request_.prefix_crc) return;
    const MutexLock lock(mutex_);
    checksum_ = FindCrc(request_.known_checksums);
  }

  void StartFront() {
    // The download may complete before the store's Start returns.
    const std::shared_ptr<ObjectStore> kept = store_;
    transfer::RangeFetchSpec spec = SpecFor({request_.begin, request_.end.value_or(UINT64_MAX)});
    spec.etag = request_.known_etag;
    spec.listed_etag = request_.listed_etag;
    spec.place = [this](const ObjectMetadata& metadata, std::uint64_t length) {
      return PlaceFront(metadata, length);
    };
    spec.grant = [this](std::uint64_t reached) { return GrantFront(reached); };
    Callback<RangeFetched> done = DoneWith(std::nullopt);
    {
      const MutexLock lock(mutex_);
      ++in_flight_;
    }
    transfer::StartRangeFetch(*kept, std::move(spec), std::move(done));
  }

  Result<transfer::Placement> PlaceFront(const ObjectMetadata& metadata, std::uint64_t length) {
    if (request_.known_size && *request_.known_size != metadata.size)
      return transfer::OtherSize(metadata.size, *request_.known_size, request_.known_etag);
    bool placed = false;
    {
      const MutexLock lock(mutex_);
      placed = placed_;
      if (placed && metadata.size != metadata_.size) {
        // The caller's memory has the size of the earlier response.
        if (!waits_for_memory_ || memory_asked_)
          return transfer::OtherSize(metadata.size, metadata_.size, metadata.etag);
        waits_for_memory_ = placed = false;
        --in_flight_;
      }
      if (placed) metadata_ = metadata;
    }
    if (!placed)
      PENSTOCK_TRY(request_.ask_memory && length > 0 ? Stage(metadata) : Place(metadata));
    const MutexLock lock(mutex_);
    front_began_ = SystemClock().Monotonic();
    front_meter_ = transfer::ThreadMeter::Start();
    front_etag_known_ = !metadata.etag.empty();
    // If one response contains the whole object, the store verifies it and retries if necessary.
    const std::uint64_t most =
        staged_.bytes().empty() ? FirstGrant() : std::min(FirstGrant(), kMaxStagedBytes);
    if (whole_.size() == metadata.size && metadata.size > most)
      checksum_ = transfer::ChecksumOf(metadata);
    return transfer::Placement{staged_.bytes().empty() ? target_.first(length) : staged_.bytes(),
                               checksum_.crc};
  }

  // Called on the front's thread while it makes progress. More requests may be useful now.
  transfer::Grant GrantFront(std::uint64_t reached) {
    MeasureFront();
    Pump(reached);
    const MutexLock lock(mutex_);
    transfer::Grant grant;
    if (!staged_.bytes().empty()) {
      if (waits_for_memory_ || error_) return {GrantStaged(reached), {}};
      MoveStaged(reached);
      grant.memory = target_;
    }
    grant.until =
        claims_.Grant(whole_.begin + reached, std::min(kGrantBytes, FirstGrant())) - whole_.begin;
    return grant;
  }

  // A front that was resumed on another thread has no CPU time.
  void MeasureFront() {
    const MutexLock lock(mutex_);
    front_cpu_ = front_meter_.Used().cpu;
  }

  // Grant while the caller's memory is missing: in steps, because the memory may arrive soon, and
  // within `staged_`.
  std::uint64_t GrantStaged(std::uint64_t reached) const PENSTOCK_REQUIRES(mutex_) {
    return std::min<std::uint64_t>(reached + kStagedStepBytes, staged_.bytes().size());
  }

  void MoveStaged(std::uint64_t reached) PENSTOCK_REQUIRES(mutex_) {
    if (reached > 0)
      std::memcpy(target_.data(), staged_.bytes().data(), static_cast<std::size_t>(reached));
    staged_.Release();
  }

  // The size is known but the memory is not, so the front fills `staged_` meanwhile. Asks the
  // caller for memory now, or for small objects once all bytes are staged, which saves a wake-up.
  Result<void> Stage(const ObjectMetadata& metadata) {
    const ByteRange whole = transfer::ClipRange(request_.begin, request_.end, metadata.size);
    // Without an ETag, other requests cannot be pinned to this version, so this request must fetch
    // everything.
    const std::uint64_t most =
        metadata.etag.empty() ? UINT64_MAX : std::min(FirstGrant(), kMaxStagedBytes);
    progress_.SetTotal(whole.size());
    {
      const MutexLock lock(mutex_);
      PENSTOCK_TRY(staged_.Take(std::min(whole.size(), most)));
      metadata_ = metadata;
      whole_ = whole;
      claims_ = transfer::RangeClaims(whole, staged_.bytes().size());
      placed_ = true;
      waits_for_memory_ = true;
      ++in_flight_;  // until TakeMemory, so that the download cannot end before
    }
    if (whole.size() > kStagedStepBytes) AskMemory();
    return Ok();
  }

  void AskMemory() {
    std::uint64_t size = 0;
    {
      const MutexLock lock(mutex_);
      if (!waits_for_memory_ || std::exchange(memory_asked_, true)) return;
      size = whole_.size();
    }
    Result<void> asked = Caught(kCallback, [&] {
      request_.ask_memory(size, [self = shared_from_this()](Result<MutableByteView> memory) {
        self->TakeMemory(std::move(memory));
      });
    });
    if (!asked.ok()) TakeMemory(std::move(asked).error());
  }

  void TakeMemory(Result<MutableByteView> given) {
    Result<MutableByteView> memory = Caught(kBookkeeping, [&]() -> Result<MutableByteView> {
      if (given.ok() && given->size() != whole_size())
        return WrongSize(given->size(), whole_size());
      return std::move(given);
    });
    const bool failed = !memory.ok();
    {
      const MutexLock lock(mutex_);
      if (!waits_for_memory_) return;  // the download has failed
      waits_for_memory_ = false;
      --in_flight_;
      if (memory.ok()) {
        target_ = *memory;
        if (front_over_) MoveStaged(front_bytes_);
      } else if (!error_) {
        error_ = std::move(memory).error();
      }
    }
    if (failed) stop_.RequestStop();
    Pump();
  }

  bool reads_again() const {
    const MutexLock lock(mutex_);
    return difference_.has_value();
  }

  ObjectMetadata metadata() const {
    const MutexLock lock(mutex_);
    return metadata_;
  }

  std::uint64_t whole_size() const {
    const MutexLock lock(mutex_);
    return whole_.size();
  }

  static Error WrongSize(std::uint64_t given, std::uint64_t wanted) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "`destination` returned " + std::to_string(given) +
                           " bytes of memory, but the download has " + std::to_string(wanted) +
                           ": return memory of exactly that size");
  }

  // The size is known: asks for the memory, once.
  Result<void> Place(const ObjectMetadata& metadata) {
    const ByteRange whole = transfer::ClipRange(request_.begin, request_.end, metadata.size);
    MutableByteView target;
    if (request_.destination) {
      PENSTOCK_ASSIGN(target, Caught("`destination` of a download",
                                     [&] { return request_.destination(whole.size()); }));
    }
    progress_.SetTotal(whole.size());
    if (target.size() != whole.size()) return WrongSize(target.size(), whole.size());
    const MutexLock lock(mutex_);
    metadata_ = metadata;
    whole_ = whole;
    target_ = target;
    claims_ = transfer::RangeClaims(whole, FirstGrant());
    front_etag_known_ = !metadata.etag.empty();
    placed_ = true;
    return Ok();
  }

  // Objects up to this size take one request.
  std::uint64_t FirstGrant() const {
    return request_.options.part_size_bytes.value_or(transfer::kMinPlannedPartBytes);
  }

  // Returns the number of parallel requests when the front has received `front_bytes`. Parts can be
  // pinned to the front's version only by its ETag.
  int Wanted(std::uint64_t front_bytes) const PENSTOCK_REQUIRES(mutex_) {
    if (!front_etag_known_) return 1;
    if (request_.options.max_parallel_parts) return *request_.options.max_parallel_parts;
    if (front_bytes == 0) return 1;
    return transfer::WantedConnections({.bytes = front_bytes,
                                        .elapsed = SystemClock().Monotonic() - front_began_,
                                        .unclaimed_bytes = claims_.unclaimed(),
                                        .thread_cpu = front_cpu_,
                                        .in_flight = in_flight_,
                                        .idle_threads = store_->idle_threads()});
  }

  transfer::RangeFetchSpec SpecFor(ByteRange range) {
    transfer::RangeFetchSpec spec;
    spec.bucket = request_.bucket;
    spec.key = request_.key;
    spec.version_id = request_.version_id;
    spec.customer_key = request_.options.customer_key;
    spec.range = range;
    spec.call = request_.options.call;
    spec.call.cancel = stop_.token();
    spec.progress = &progress_;
    return spec;
  }

  transfer::RangeFetchSpec PinnedSpec(ByteRange range) {
    transfer::RangeFetchSpec spec = SpecFor(range);
    const MutexLock lock(mutex_);
    spec.etag = metadata_.etag;
    const transfer::Placement slice{target_.subspan(range.begin - whole_.begin, range.size()),
                                    checksum_.crc};
    spec.place = [slice, size = metadata_.size](const ObjectMetadata& metadata,
                                                std::uint64_t) -> Result<transfer::Placement> {
      if (metadata.size == size) return slice;
      return transfer::OtherSize(metadata.size, size, metadata.etag);
    };
    return spec;
  }

  // Starts parts as long as they are useful. A store may complete calls before Start returns. The
  // running round handles parts that end during it, so the recursion stays flat. `front_bytes` is
  // the new position of the front, or 0.
  void Pump(std::uint64_t front_bytes = 0) {
    mutex_.Lock();
    front_bytes_ = std::max(front_bytes_, front_bytes);
    if (pumping_) {
      mutex_.Unlock();
      return;
    }
    pumping_ = true;
    bool failed = false;
    while (placed_ && !waits_for_memory_ && !error_ && claims_.unclaimed() > 0) {
      const int wanted = Wanted(front_bytes_);
      if (in_flight_ >= wanted) break;
      std::uint64_t part_bytes = request_.options.part_size_bytes.value_or(
          transfer::PlannedPartSize(claims_.unclaimed(), wanted));
      // The front has ended and will not fetch the rest.
      if (front_over_) part_bytes = std::min(part_bytes, claims_.unclaimed());
      const auto part = claims_.TakePart(part_bytes);
      if (!part) break;
      ++in_flight_;
      const Crc crc = checksum_.crc;
      mutex_.Unlock();
      Result<void> started = Caught(kBookkeeping, [&] { StartPart({*part, crc, 0}); });
      mutex_.Lock();
      if (started.ok()) continue;
      --in_flight_;
      if (!error_) error_ = std::move(started).error();
      failed = true;
    }
    pumping_ = false;
    const bool over = in_flight_ == 0 && !finished_;
    if (over) finished_ = true;
    mutex_.Unlock();
    if (failed) stop_.RequestStop();
    if (over) Finish();
  }

  // Throws only before the request is in flight.
  void StartPart(const transfer::ChecksumPiece& part) {
    Callback<RangeFetched> done = DoneWith(part);
    transfer::StartRangeFetch(*store_, PinnedSpec(part.range), std::move(done));
  }

  // `part` is the range of a part request; unset for the front, which fetches what no part does.
  Callback<RangeFetched> DoneWith(std::optional<transfer::ChecksumPiece> part) {
    return [self = shared_from_this(), part](Result<RangeFetched> result) {
      self->Fetched(std::move(result), part);
    };
  }

  void Fetched(Result<RangeFetched> result, std::optional<transfer::ChecksumPiece> part) {
    Result<std::optional<RangeFetched>> brought =
        Caught(kBookkeeping, [&] { return ResolveFetched(std::move(result)); });
    bool failed = !brought.ok();
    {
      const MutexLock lock(mutex_);
      --in_flight_;
      if (brought.ok() && *brought) {
        try {
          Keep(**brought, part);
        } catch (...) {
          failed = true;
          brought = CaughtError(kBookkeeping);
        }
      }
      if (failed && !error_) error_ = std::move(brought).error();
      if (error_ && std::exchange(waits_for_memory_, false)) --in_flight_;
    }
    if (failed) stop_.RequestStop();
    AskMemory();
    Pump();
  }

  // Resolves the result of a request. Nullopt: the front found no bytes from `begin` on.
  Result<std::optional<RangeFetched>> ResolveFetched(Result<RangeFetched> result) {
    if (result.ok()) return std::optional<RangeFetched>(std::move(result).value());
    bool placed = false;
    {
      const MutexLock lock(mutex_);
      placed = placed_;
    }
    const auto beyond =
        placed ? std::nullopt : transfer::BeyondTheEnd(result.error(), request_.begin);
    if (!beyond) return std::move(result).error();
    PENSTOCK_TRY(PlaceEmpty(*beyond));
    return std::optional<RangeFetched>();
  }

  void Keep(const RangeFetched& fetched, std::optional<transfer::ChecksumPiece> part)
      PENSTOCK_REQUIRES(mutex_) {
    delivered_ += fetched.bytes;
    if (!part) {
      part = {{whole_.begin, whole_.begin + fetched.bytes}, checksum_.crc, 0};
      front_over_ = true;
      front_bytes_ = fetched.bytes;
      if (!staged_.bytes().empty() && !waits_for_memory_ && !error_) MoveStaged(front_bytes_);
    }
    part->value = fetched.crc;
    pieces_.push_back(*part);
  }

  // The front failed because the object has no bytes from `begin` on. Returns an error if that
  // contradicts the request.
  Result<void> PlaceEmpty(ObjectMetadata metadata) {
    if (request_.known_size) {
      return Error::Make(ErrorKind::kPreconditionFailed,
                         "the object changed: it has no byte " + std::to_string(request_.begin) +
                             ", expected " + std::to_string(*request_.known_size) + " bytes");
    }
    metadata.size = std::min(metadata.size, request_.begin);
    if (request_.known_etag) metadata.etag = *request_.known_etag;
    return Place(metadata);
  }

  void Fail(Error error) {
    Contain(kBookkeeping,
            [&] { error.At("GetObject", request_.bucket.value, request_.key.value); });
    const auto done = std::exchange(done_, nullptr);
    // Released before the callback, so that the caller destroys the store: a store must not be
    // destroyed on its own thread.
    store_.reset();
    Contain(kCallback, [&] { done(std::move(error)); });
  }

  // Called after the last request, so no other thread uses this object.
  Result<DownloadResponse> TakeResponse() {
    const MutexLock lock(mutex_);
    if (error_) return WithDifference(*std::move(error_));
    if (delivered_ != target_.size()) {
      return Error::Make(ErrorKind::kDataLoss, "received " + std::to_string(delivered_) + " of " +
                                                   std::to_string(target_.size()) + " bytes");
    }
    std::optional<std::uint64_t> prefix_crc;
    if (checksum_.crc != Crc::kNone) {
      const std::uint64_t value =
          transfer::CombinePieces(checksum_.crc, std::move(pieces_), whole_.begin, target_);
      prefix_crc =
          CombineCrc(checksum_.crc, request_.prefix_crc.value_or(0), value, target_.size());
    }
    if (prefix_crc && whole_.end == metadata_.size && whole_.size() > 0) {
      Result<void> same = CompareCrc(checksum_, *prefix_crc);
      if (!same.ok() && !difference_ && MayReadAgain()) {
        difference_ = same.error();
        return std::move(same).error();
      }
      if (!same.ok()) return WithDifference(std::move(same).error());
    }
    if (!request_.prefix_crc) prefix_crc.reset();
    return DownloadResponse{delivered_, std::move(metadata_), prefix_crc};
  }

  // Without an ETag nothing pins the second read to the same version.
  bool MayReadAgain() const PENSTOCK_REQUIRES(mutex_) {
    return front_etag_known_ && store_->may_repeat() && !stop_.token().stop_requested() &&
           !request_.options.call.deadline.Passed(SystemClock());
  }

  // The error of the second read names the checksums that differed in the first one.
  Error WithDifference(Error error) const PENSTOCK_REQUIRES(mutex_) {
    if (!difference_) return error;
    return transfer::ErrorOfSecondRead(std::move(error), *difference_);
  }

  // The bytes of several requests differ from the object's checksum for the first time: requests
  // all of them again, of the same version. The caller has not seen any of them yet.
  void ReadAgain() {
    std::uint64_t read_bytes = 0;
    {
      const MutexLock lock(mutex_);
      read_bytes = std::exchange(delivered_, 0);
      pieces_.clear();
      claims_ = transfer::RangeClaims(whole_, 0);
      front_over_ = true;
      finished_ = false;
    }
    Result<void> told =
        Caught(kProgress, [&] { progress_.Add(-static_cast<std::int64_t>(read_bytes)); });
    if (!told.ok()) return Fail(std::move(told).error());
    Pump();
  }

  void Finish() {
    const bool first_read = !reads_again();
    Result<DownloadResponse> taken = Caught(kBookkeeping, [this] { return TakeResponse(); });
    if (!taken.ok() && first_read && reads_again()) {
      const ObjectMetadata read = metadata();
      Contain(kBookkeeping,
              [&] { store_->OnMismatch(request_.bucket, request_.key, read.etag, read.size); });
      return ReadAgain();
    }
    if (!taken.ok()) return Fail(std::move(taken).error());
    DownloadResponse response = std::move(taken).value();
    Result<void> reported = Caught(kProgress, [&] { progress_.Finish(response.bytes); });
    if (!reported.ok()) return Fail(std::move(reported).error());
    const auto done = std::exchange(done_, nullptr);
    // Released before the callback, so that the caller destroys the store: a store must not be
    // destroyed on its own thread.
    store_.reset();
    Contain(kCallback, [&] { done(std::move(response)); });
  }

  // Shared with the caller, who may release it. Null once all requests have ended.
  std::shared_ptr<ObjectStore> store_;
  const DownloadRequest request_;
  Callback<DownloadResponse> done_;
  transfer::ChainedStop stop_;
  transfer::ProgressMeter progress_;

  mutable Mutex mutex_;
  bool placed_ PENSTOCK_GUARDED_BY(mutex_) = false;  // size and version are known
  bool waits_for_memory_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool memory_asked_ PENSTOCK_GUARDED_BY(mutex_) = false;
  // Memory of the front; empty: the front writes to target_.
  StagedBytes staged_ PENSTOCK_GUARDED_BY(mutex_);
  bool front_over_ PENSTOCK_GUARDED_BY(mutex_) = false;
  ByteRange whole_ PENSTOCK_GUARDED_BY(mutex_);
  MutableByteView target_ PENSTOCK_GUARDED_BY(mutex_);
  ObjectMetadata metadata_ PENSTOCK_GUARDED_BY(mutex_);
  transfer::RangeClaims claims_ PENSTOCK_GUARDED_BY(mutex_);
  // kNone: not verified here.
  transfer::ObjectChecksum checksum_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<transfer::ChecksumPiece> pieces_ PENSTOCK_GUARDED_BY(mutex_);
  MonotonicTime front_began_ PENSTOCK_GUARDED_BY(mutex_){};
  transfer::ThreadMeter front_meter_ PENSTOCK_GUARDED_BY(mutex_);
  std::chrono::nanoseconds front_cpu_ PENSTOCK_GUARDED_BY(mutex_){};  // since front_began_
  std::uint64_t front_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool front_etag_known_ PENSTOCK_GUARDED_BY(mutex_) = false;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool finished_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::uint64_t delivered_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
  // of the first read from the object's checksum
  std::optional<Error> difference_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

void StartDownload(std::shared_ptr<ObjectStore> store, DownloadRequest request,
                   Callback<DownloadResponse> done) {
  std::shared_ptr<DownloadTask> task;
  Result<void> made = Caught(kBookkeeping, [&] {
    task = std::make_shared<DownloadTask>(std::move(store), std::move(request));
  });
  if (made.ok()) return task->Run(std::move(done));
  Contain(kCallback, [&] { done(std::move(made).error()); });
}

Result<DownloadResponse> Download(ObjectStore& store, DownloadRequest request,
                                  const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("Download"));
  // Not owned: this function waits for the completion.
  return DownloadAsync({std::shared_ptr<void>(), &store}, std::move(request)).Get(interrupt);
}

Pending<DownloadResponse> DownloadAsync(std::shared_ptr<ObjectStore> store,
                                        DownloadRequest request) {
  auto call = MakePending<DownloadResponse>(request.options.call.cancel);
  request.options.call.cancel = std::move(call.cancel);
  StartDownload(std::move(store), std::move(request), std::move(call.done));
  return std::move(call.pending);
}

}  // namespace penstock
