#include "penstock/range_reader.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"
#include "client/transfer/chained_stop.h"
#include "client/transfer/connection_plan.h"
#include "client/transfer/download/range_fetch.h"
#include "client/transfer/download/range_plan.h"
#include "client/transfer/process_bound.h"
#include "client/transfer/ranges/range_overlap.h"
#include "client/transfer/thread_use.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock {
namespace {

using transfer::RangeBuffer;
using transfer::RangeFetched;

constexpr std::string_view kCallback = "the callback of a batch of ranges";
constexpr std::string_view kBookkeeping = "the bookkeeping of ranged reads";
constexpr int kFirstRequests = 2;  // before the latency is known
// A first byte that takes longer came from a remote service.
constexpr std::chrono::milliseconds kRemoteLatency{4};

// One batch in flight. The reader's lock guards the members that change.
struct Batch {
  explicit Batch(std::stop_token all) : stop(std::move(all)) {}

  BucketName bucket;
  ObjectKey key;
  std::vector<RangePiece> pieces;
  std::vector<transfer::PieceCopy> copies;
  std::uint64_t bytes = 0;
  Callback<RangesRead> done;
  transfer::ChainedStop stop;
  std::size_t requests_left = 0;
  std::optional<Error> error;
};

struct Request {
  std::shared_ptr<Batch> batch;
  ByteRange range;
};

// Measures the rate of single requests, including the time to the first byte.
class RateEstimate {
 public:
  void Completed(std::uint64_t bytes, std::chrono::nanoseconds elapsed,
                 const transfer::ThreadUse& use) {
    use_ = use;
    const double rate =
        static_cast<double>(bytes) / std::max(std::chrono::duration<double>(elapsed).count(), 1e-6);
    rate_ = rate_ == 0 ? rate : (rate_ + rate) / 2;
  }
  void SawFirstByte(std::chrono::nanoseconds waited) { far_ = far_ || waited >= kRemoteLatency; }

  int Wanted(int in_flight, int idle_threads) const {
    if (rate_ > 0) {
      return std::max(
          transfer::ConnectionsForRate(rate_),
          transfer::ConnectionsForThreads(use_.cpu, use_.elapsed, in_flight, idle_threads));
    }
    return far_ ? transfer::kMaxConnections : kFirstRequests;
  }

 private:
  double rate_ = 0;          // bytes per second; 0: nothing has completed
  transfer::ThreadUse use_;  // of the last response, from its first byte on
  bool far_ = false;
};

class Reader : public std::enable_shared_from_this<Reader> {
 public:
  Reader(ObjectStore& store, RangeReaderOptions options)
      : store_(store), options_(std::move(options)), stop_(options_.call.cancel) {}

  // `done` runs exactly once, even if memory runs out.
  void Start(RangeBatch asked, Callback<RangesRead> done) {
    std::shared_ptr<Batch> batch;
    Result<void> queued = Caught(kBookkeeping, [&]() -> Result<void> {
      PENSTOCK_TRY(Check(asked.pieces));
      batch = std::make_shared<Batch>(stop_.token());
      Queue(std::move(asked), batch, done);
      return Ok();
    });
    if (!queued.ok()) return Contain(kCallback, [&] { done(std::move(queued).error()); });
    if (done) return Contain(kCallback, [&] { done(RangesRead{}); });  // no bytes to read
    Pump();
  }

  void Cancel() {
    stop_.RequestStop();
    Pump();
  }

  void CancelAndWait() {
    Cancel();
    const MutexLock lock(mutex_);
    while (in_flight_ > 0 || !waiting_.empty() || pumping_ || ending_ > 0) {
      idle_.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
    }
  }

  RangeReader::Usage usage() const {
    const MutexLock lock(mutex_);
    return usage_;
  }

 private:
  using ObjectPlace = std::pair<std::string, std::string>;
  static ObjectPlace PlaceOf(const Batch& batch) { return {batch.bucket.value, batch.key.value}; }

  Result<void> Check(std::span<const RangePiece> pieces) const {
    if (options_.max_request_bytes == 0) {
      return Error::Make(ErrorKind::kInvalidArgument, "max_request_bytes must be 1 or more, not 0");
    }
    if (options_.max_parallel_requests && *options_.max_parallel_requests < 1) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "max_parallel_requests must be 1 or more, not " +
                             std::to_string(*options_.max_parallel_requests));
    }
    return transfer::CheckPieces(pieces);
  }

  // Queues the requests of the batch. Moves `done` into the batch if there are any. If it throws,
  // nothing is queued.
  void Queue(RangeBatch asked, const std::shared_ptr<Batch>& batch, Callback<RangesRead>& done) {
    batch->bucket = std::move(asked.bucket);
    batch->key = std::move(asked.key);
    transfer::DisjointPieces disjoint = transfer::WithoutOverlap(std::move(asked.pieces));
    batch->pieces = std::move(disjoint.pieces);
    batch->copies = std::move(disjoint.copies);
    for (const RangePiece& piece : batch->pieces) batch->bytes += piece.memory.size();
    const std::uint64_t gap =
        options_.max_gap_bytes.value_or(transfer::GapWorthReading(batch->pieces));
    const std::uint64_t most = options_.max_request_bytes.value_or(
        transfer::PlannedPartSize(batch->bytes, transfer::kMaxConnections));
    std::vector<Request> requests;
    for (const ByteRange range : transfer::PlanRequests(batch->pieces, gap, most))
      requests.push_back({batch, range});
    if (requests.empty()) return;
    batch->requests_left = requests.size();
    const MutexLock lock(mutex_);
    if (asked.known_etag && !asked.known_etag->empty())
      etags_.try_emplace(PlaceOf(*batch), *asked.known_etag);
    // Inserts all requests, or throws and inserts none.
    waiting_.insert(waiting_.end(), requests.begin(), requests.end());
    usage_.bytes_wanted += batch->bytes;
    batch->done = std::exchange(done, nullptr);
  }

  int Wanted() const PENSTOCK_REQUIRES(mutex_) {
    if (options_.max_parallel_requests) return *options_.max_parallel_requests;
    return rate_estimate_.Wanted(in_flight_, store_.idle_threads());
  }

  // Starts requests as long as allowed. A store may complete calls before Start returns; the
  // running round handles those.
  void Pump() {
    mutex_.Lock();
    if (pumping_) {
      mutex_.Unlock();
      return;
    }
    pumping_ = true;
    while (!waiting_.empty()) {
      const bool over = waiting_.front().batch->error.has_value() || stop_.token().stop_requested();
      if (!over && in_flight_ >= Wanted()) break;
      Request request = std::move(waiting_.front());
      waiting_.pop_front();
      ++ending_;
      if (!over) {
        ++in_flight_;
        usage_.peak_parallel = std::max(usage_.peak_parallel, in_flight_);
        ++usage_.requests;
        usage_.bytes_asked += request.range.size();
      }
      mutex_.Unlock();
      over ? Drop(request) : Begin(request);
      mutex_.Lock();
    }
    pumping_ = false;
    idle_.NotifyAll();
    mutex_.Unlock();
  }

  void Drop(const Request& request) {
    Result<void> dropped = Caught(kBookkeeping, []() -> Result<void> {
      return Error::Make(ErrorKind::kCancelled, "the rest of the batch was cancelled");
    });
    Ended(request, std::move(dropped));
  }

  void Begin(const Request& request) {
    Result<void> begun = Caught(kBookkeeping, [&] { Fetch(request); });
    if (begun.ok()) return;
    {
      const MutexLock lock(mutex_);
      --in_flight_;
    }
    Ended(request, std::move(begun));
  }

  std::optional<ETag> KnownETag(const Batch& batch) const {
    const ObjectPlace place = PlaceOf(batch);
    const MutexLock lock(mutex_);
    const auto known = etags_.find(place);
    return known == etags_.end() ? std::nullopt : std::optional<ETag>(known->second);
  }

  // Throws only before the request is in flight.
  void Fetch(const Request& request) {
    struct PendingRange {
      RangeBuffer buffer;
      MonotonicTime began;
      transfer::ThreadMeter since_first_byte = {};
      std::optional<std::uint64_t> object_size = {};  // If the object ends within the range.
    };
    auto pending = std::make_shared<PendingRange>(
        PendingRange{RangeBuffer(request.batch->pieces, request.range), SystemClock().Monotonic()});
    transfer::RangeFetchSpec spec;
    spec.bucket = request.batch->bucket;
    spec.key = request.batch->key;
    spec.range = request.range;
    spec.etag = KnownETag(*request.batch);
    spec.call = options_.call;
    spec.customer_key = options_.customer_key;
    spec.call.cancel = request.batch->stop.token();
    spec.place = [this, request, pending](const ObjectMetadata& metadata,
                                          std::uint64_t length) -> Result<transfer::Placement> {
      if (length != request.range.size()) {
        pending->object_size = metadata.size;
        // After kDataLoss the store would read again, and an object that ends here is usual.
        return Error::Make(ErrorKind::kInvalidArgument, "the object ends within the range");
      }
      PENSTOCK_TRY(Pin(*request.batch, metadata, SystemClock().Monotonic() - pending->began));
      pending->since_first_byte = transfer::ThreadMeter::Start();
      return transfer::Placement{.pieces = pending->buffer.views()};
    };
    Callback<RangeFetched> done = [self = shared_from_this(), request,
                                   pending](Result<RangeFetched> result) {
      Result<void> finished = Caught(kBookkeeping, [&]() -> Result<void> {
        if (result.ok()) {
          pending->buffer.CopyStaged();
          return Ok();
        }
        if (pending->object_size) return EndsEarly(request, *pending->object_size);
        const auto beyond = transfer::BeyondTheEnd(result.error(), request.range.begin);
        return beyond ? EndsEarly(request, beyond->size) : std::move(result).error();
      });
      {
        const MutexLock lock(self->mutex_);
        --self->in_flight_;
        if (finished.ok())
          self->rate_estimate_.Completed(request.range.size(),
                                         SystemClock().Monotonic() - pending->began,
                                         pending->since_first_byte.Used());
      }
      self->Ended(request, std::move(finished));
      self->Pump();
    };
    transfer::StartRangeFetch(store_, std::move(spec), std::move(done));
  }

  static Error EndsEarly(const Request& request, std::uint64_t size) {
    return Error::Make(ErrorKind::kDataLoss,
                       "the object has " + std::to_string(size) + " bytes, but bytes " +
                           std::to_string(request.range.begin) + " to " +
                           std::to_string(request.range.end) +
                           " were requested: the object was truncated or replaced, or the range is "
                           "wrong; compare it with the size of the object")
        .At("GetObject", request.batch->bucket.value, request.batch->key.value);
  }

  // The first response pins the version.
  Result<void> Pin(const Batch& batch, const ObjectMetadata& metadata,
                   std::chrono::nanoseconds waited) {
    {
      const MutexLock lock(mutex_);
      rate_estimate_.SawFirstByte(waited);
      if (metadata.etag.empty()) return Ok();
      const ETag& pinned = etags_.try_emplace(PlaceOf(batch), metadata.etag).first->second;
      if (pinned != metadata.etag) {
        return Error::Make(ErrorKind::kPreconditionFailed,
                           "the object changed while it was read: ETag " + metadata.etag.value +
                               " instead of " + pinned.value + "; read it again from the start");
      }
    }
    Pump();  // more requests may be useful now
    return Ok();
  }

  void Ended(const Request& request, Result<void> result) {
    Batch& batch = *request.batch;
    bool over = false;
    bool stop = false;
    {
      const MutexLock lock(mutex_);
      stop = !result.ok() && !batch.error;
      if (stop) batch.error = std::move(result).error();
      over = --batch.requests_left == 0;
    }
    if (stop) batch.stop.RequestStop();
    if (over) Complete(batch);
    const MutexLock lock(mutex_);
    --ending_;
    idle_.NotifyAll();
  }

  // Called after the last request of the batch, so no other thread uses it.
  void Complete(Batch& batch) {
    Result<RangesRead> read = Caught(kBookkeeping, [&]() -> Result<RangesRead> {
      {
        const MutexLock lock(mutex_);
        if (batch.error) return *std::move(batch.error);
      }
      return RangesRead{batch.bytes, KnownETag(batch).value_or(ETag())};
    });
    const auto done = std::exchange(batch.done, nullptr);
    if (read.ok()) {
      for (const transfer::PieceCopy& copy : batch.copies)
        std::memcpy(copy.to.data(), copy.from.data(), copy.to.size());
    }
    Contain(kCallback, [&] { done(std::move(read)); });
  }

  ObjectStore& store_;  // not used after CancelAndWait has returned
  const RangeReaderOptions options_;
  transfer::ChainedStop stop_;

  mutable Mutex mutex_;
  CondVar idle_;
  std::deque<Request> waiting_ PENSTOCK_GUARDED_BY(mutex_);
  // The version of each object being read.
  std::map<ObjectPlace, ETag> etags_ PENSTOCK_GUARDED_BY(mutex_);
  RangeReader::Usage usage_ PENSTOCK_GUARDED_BY(mutex_);
  RateEstimate rate_estimate_ PENSTOCK_GUARDED_BY(mutex_);
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int ending_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // requests whose Ended has not returned
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

// Completions keep the reader alive, and this object keeps the store, which must not be destroyed
// on its own thread.
struct OwnedReader {
  OwnedReader(std::shared_ptr<ObjectStore> given, RangeReaderOptions options)
      : store(std::move(given)), reader(std::make_shared<Reader>(*store, std::move(options))) {}
  ~OwnedReader() { reader->CancelAndWait(); }
  OwnedReader(const OwnedReader&) = delete;
  OwnedReader& operator=(const OwnedReader&) = delete;

  const std::shared_ptr<ObjectStore> store;
  const std::shared_ptr<Reader> reader;
};

class BoundRangeReader final : public RangeReader {
 public:
  explicit BoundRangeReader(std::unique_ptr<OwnedReader> owned)
      : owned_(std::move(owned), "this range reader") {}

  void Start(RangeBatch batch, Callback<RangesRead> done) override {
    if (Result<void> usable = owned_.CheckProcess(); !usable.ok())
      return done(std::move(usable).error());
    owned_.object().reader->Start(std::move(batch), std::move(done));
  }
  void Cancel() override {
    if (owned_.mine()) owned_.object().reader->Cancel();
  }
  Usage usage() const override { return owned_.mine() ? owned_.object().reader->usage() : Usage(); }

 private:
  const transfer::ProcessBound<OwnedReader> owned_;
};

}  // namespace

std::unique_ptr<RangeReader> RangeReader::Create(std::shared_ptr<ObjectStore> store,
                                                 RangeReaderOptions options) {
  return std::make_unique<BoundRangeReader>(
      std::make_unique<OwnedReader>(std::move(store), std::move(options)));
}

}  // namespace penstock
