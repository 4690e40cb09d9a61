// A whole object, or a range of it, into the caller's memory by one request or several.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/transfer/chained_stop.h"
#include "client/transfer/connection_plan.h"
#include "client/transfer/object_checksum.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/progress_meter.h"
#include "client/transfer/range_claims.h"
#include "client/transfer/range_fetch.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"
#include "penstock/waiter.h"

namespace penstock {
namespace {

using transfer::RangeFetched;

Result<void> Check(const DownloadRequest& request) {
  const auto invalid = [](std::string message) { return Error::Make(ErrorKind::kInvalidArgument, std::move(message)); };
  if (request.options.part_size_bytes == 0) return invalid("part_size_bytes is 0; it takes at least 1");
  if (request.options.max_parallel_parts && *request.options.max_parallel_parts < 1) {
    return invalid("max_parallel_parts is " + std::to_string(*request.options.max_parallel_parts) +
                   "; it takes at least 1");
  }
  if (request.end && *request.end < request.begin) {
    return invalid("the range [" + std::to_string(request.begin) + ", " + std::to_string(*request.end) +
                   ") ends before it begins");
  }
  if (!request.destination) return invalid("`destination` is not set");
  return Ok();
}

constexpr std::uint64_t kGrantBytes = 1ull << 20;  // what the front may be ahead of the division

// One download. Its front asks for everything and runs from the begin; the answer's head tells size, ETag and checksum.
// While it runs, parts are taken from the end by further requests, as many as its rate makes worth having, until the
// front meets them and lets go of the rest of its answer. The first failure stops all, and the completion waits for
// all of them, since afterwards the memory is the caller's again.
class DownloadTask : public std::enable_shared_from_this<DownloadTask> {
 public:
  DownloadTask(ObjectStore& store, DownloadRequest request, Callback<DownloadResponse> done)
      : store_(store), request_(std::move(request)), done_(std::move(done)), stop_(request_.options.call.cancel),
        progress_(request_.options.progress) {}

  void Run() {
    if (Result<void> checked = Check(request_); !checked.ok()) return Fail(std::move(checked).error());
    ObjectMetadata known;
    if (request_.known_size) known.size = *request_.known_size;
    if (request_.known_etag) known.etag = *request_.known_etag;
    const bool certain = request_.known_size && request_.known_etag;
    const bool nothing =
        request_.end == request_.begin || (request_.known_size && request_.begin >= *request_.known_size);
    if (certain || nothing) {
      if (Result<void> placed = Place(known); !placed.ok()) return Fail(std::move(placed).error());
    }
    if (nothing) return Pump();
    StartFront();
    Pump();
  }

 private:
  void StartFront() {
    {
      const MutexLock lock(mutex_);
      ++in_flight_;
    }
    transfer::RangeFetchSpec spec = SpecFor({request_.begin, request_.end.value_or(UINT64_MAX)});
    spec.etag = request_.known_etag;
    spec.place = [this](const ObjectMetadata& metadata, std::uint64_t length) { return PlaceFront(metadata, length); };
    spec.grant = [this](std::uint64_t reached) { return GrantFront(reached); };
    Fetch(std::move(spec), std::nullopt);
  }

  Result<transfer::Placement> PlaceFront(const ObjectMetadata& metadata, std::uint64_t length) {
    if (request_.known_size && *request_.known_size != metadata.size) {
      return Error::Make(ErrorKind::kPreconditionFailed,
                         "the object has " + std::to_string(metadata.size) + " bytes, not the known " +
                             std::to_string(*request_.known_size) + ": it changed");
    }
    bool placed = false;
    {
      const MutexLock lock(mutex_);
      placed = placed_;
      if (placed) metadata_ = metadata;
    }
    if (!placed) PENSTOCK_TRY(Place(metadata));
    const MutexLock lock(mutex_);
    front_began_ = SystemClock().Monotonic();
    front_etag_known_ = !metadata.etag.empty();
    // An object that comes whole in one answer is the store's to verify, which then also tries again.
    if (whole_.size() == metadata.size && metadata.size > FirstGrant()) checksum_ = transfer::ChecksumOf(metadata);
    return transfer::Placement{target_.first(length), checksum_.crc};
  }

  // On the front's thread: it goes on, and others may be worth having by now.
  std::uint64_t GrantFront(std::uint64_t reached) {
    Pump(reached);
    const MutexLock lock(mutex_);
    return claims_.Grant(whole_.begin + reached, std::min(kGrantBytes, FirstGrant())) - whole_.begin;
  }

  // The size is known: asks for the memory, once.
  Result<void> Place(const ObjectMetadata& metadata) {
    const ByteRange whole = transfer::ClipRange(request_.begin, request_.end, metadata.size);
    PENSTOCK_ASSIGN(const MutableByteView target, request_.destination(whole.size()));
    progress_.SetTotal(whole.size());
    if (target.size() != whole.size()) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "`destination` returned " + std::to_string(target.size()) + " bytes, but " +
                             std::to_string(whole.size()) + " will arrive: return memory of exactly that size");
    }
    const MutexLock lock(mutex_);
    metadata_ = metadata;
    whole_ = whole;
    target_ = target;
    claims_ = transfer::RangeClaims(whole, FirstGrant());
    front_etag_known_ = !metadata.etag.empty();
    placed_ = true;
    return Ok();
  }

  // Objects up to this size are one request.
  std::uint64_t FirstGrant() const { return request_.options.part_size_bytes.value_or(transfer::kLeastPartBytes); }

  // Requests at a time, when the front has come so far. Parts can be pinned to the front's version only by its ETag.
  int Wanted(std::uint64_t front_bytes) const PENSTOCK_REQUIRES(mutex_) {
    if (!front_etag_known_) return 1;
    if (request_.options.max_parallel_parts) return *request_.options.max_parallel_parts;
    if (front_bytes == 0) return 1;
    return transfer::WantedConnections({.bytes = front_bytes,
                                        .elapsed = SystemClock().Monotonic() - front_began_,
                                        .unclaimed_bytes = claims_.unclaimed()});
  }

  transfer::RangeFetchSpec SpecFor(ByteRange range) {
    transfer::RangeFetchSpec spec;
    spec.bucket = request_.bucket;
    spec.key = request_.key;
    spec.version_id = request_.version_id;
    spec.range = range;
    spec.call = request_.options.call;
    spec.call.cancel = stop_.token();
    spec.progress = &progress_;
    return spec;
  }

  transfer::RangeFetchSpec PinnedSpec(ByteRange range) PENSTOCK_REQUIRES(mutex_) {
    transfer::RangeFetchSpec spec = SpecFor(range);
    spec.etag = metadata_.etag;
    const transfer::Placement slice{target_.subspan(range.begin - whole_.begin, range.size()), checksum_.crc};
    spec.place = [slice, size = metadata_.size](const ObjectMetadata& metadata,
                                                std::uint64_t) -> Result<transfer::Placement> {
      if (metadata.size == size) return slice;
      return Error::Make(ErrorKind::kPreconditionFailed, "the object has " + std::to_string(metadata.size) +
                                                             " bytes, not " + std::to_string(size) + ": it changed");
    };
    return spec;
  }

  // Keeps the parts flowing. A store may complete calls before Start returns, so parts that end during a round are
  // taken up by that round instead of a deeper one. `front_bytes`: where the front is, if that is news.
  void Pump(std::uint64_t front_bytes = 0) {
    mutex_.Lock();
    front_bytes_ = std::max(front_bytes_, front_bytes);
    if (pumping_) {
      mutex_.Unlock();
      return;
    }
    pumping_ = true;
    while (placed_ && !error_ && claims_.unclaimed() > 0) {
      const int wanted = Wanted(front_bytes_);
      if (in_flight_ >= wanted) break;
      const auto part = claims_.TakePart(
          request_.options.part_size_bytes.value_or(transfer::PlannedPartSize(claims_.unclaimed(), wanted)));
      if (!part) break;
      ++in_flight_;
      transfer::RangeFetchSpec spec = PinnedSpec(*part);
      const Crc crc = checksum_.crc;
      mutex_.Unlock();
      Fetch(std::move(spec), transfer::ChecksumPiece{*part, crc, 0});
      mutex_.Lock();
    }
    pumping_ = false;
    const bool over = in_flight_ == 0 && !finished_;
    if (over) finished_ = true;
    mutex_.Unlock();
    if (over) Finish();
  }

  // `part`: what a part is to bring; unset: the front, which brings as much as nobody else does.
  void Fetch(transfer::RangeFetchSpec spec, std::optional<transfer::ChecksumPiece> part) {
    transfer::StartRangeFetch(store_, std::move(spec), [self = shared_from_this(), part](Result<RangeFetched> result) {
      self->Fetched(result, part);
    });
  }

  void Fetched(const Result<RangeFetched>& result, std::optional<transfer::ChecksumPiece> part) {
    std::optional<Error> error;
    if (!result.ok()) {
      error = result.error();
      bool placed = false;
      {
        const MutexLock lock(mutex_);
        placed = placed_;
      }
      const auto beyond = placed ? std::nullopt : transfer::BeyondTheEnd(*error);
      if (beyond) error = PlaceNothing(*beyond);
    }
    {
      const MutexLock lock(mutex_);
      --in_flight_;
      if (result.ok()) {
        delivered_ += result->bytes;
        if (!part) part = {{whole_.begin, whole_.begin + result->bytes}, checksum_.crc, 0};
        part->value = result->crc;
        pieces_.push_back(*part);
      }
      if (error && !error_) error_ = error;
    }
    if (error) stop_.RequestStop();
    Pump();
  }

  // The front was refused because there is nothing from `begin` on. What is wrong with that, if anything.
  std::optional<Error> PlaceNothing(ObjectMetadata metadata) {
    if (request_.known_size) {
      return Error::Make(ErrorKind::kPreconditionFailed, "the object no longer reaches byte " +
                                                             std::to_string(request_.begin) + ", though " +
                                                             std::to_string(*request_.known_size) + " bytes were known");
    }
    metadata.size = std::min(metadata.size, request_.begin);
    if (request_.known_etag) metadata.etag = *request_.known_etag;
    Result<void> placed = Place(metadata);
    if (!placed.ok()) return std::move(placed).error();
    return std::nullopt;
  }

  void Fail(Error error) {
    error.At("GetObject", request_.bucket.value, request_.key.value);
    std::exchange(done_, nullptr)(std::move(error));
  }

  // After the last request, so nobody else is here.
  void Finish() {
    mutex_.Lock();
    std::optional<Error> error = std::move(error_);
    if (!error && delivered_ != target_.size()) {
      error = Error::Make(ErrorKind::kDataLoss, std::to_string(delivered_) + " of " + std::to_string(target_.size()) +
                                                    " bytes arrived");
    }
    if (!error) {
      Result<void> verified = transfer::VerifyPieces(checksum_, std::move(pieces_), target_);
      if (!verified.ok()) error = std::move(verified).error();
    }
    DownloadResponse response{delivered_, std::move(metadata_)};
    mutex_.Unlock();
    if (error) return Fail(std::move(*error));
    progress_.Finish(response.bytes);
    std::exchange(done_, nullptr)(std::move(response));
  }

  ObjectStore& store_;  // outlives the completion
  const DownloadRequest request_;
  Callback<DownloadResponse> done_;
  transfer::ChainedStop stop_;
  transfer::ProgressMeter progress_;

  Mutex mutex_;
  bool placed_ PENSTOCK_GUARDED_BY(mutex_) = false;
  ByteRange whole_ PENSTOCK_GUARDED_BY(mutex_);
  MutableByteView target_ PENSTOCK_GUARDED_BY(mutex_);
  ObjectMetadata metadata_ PENSTOCK_GUARDED_BY(mutex_);
  transfer::RangeClaims claims_ PENSTOCK_GUARDED_BY(mutex_);
  transfer::ObjectChecksum checksum_ PENSTOCK_GUARDED_BY(mutex_);  // of kNone: not to be verified here
  std::vector<transfer::ChecksumPiece> pieces_ PENSTOCK_GUARDED_BY(mutex_);
  MonotonicTime front_began_ PENSTOCK_GUARDED_BY(mutex_){};
  std::uint64_t front_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool front_etag_known_ PENSTOCK_GUARDED_BY(mutex_) = false;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool finished_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::uint64_t delivered_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

void StartDownload(ObjectStore& store, DownloadRequest request, Callback<DownloadResponse> done) {
  std::make_shared<DownloadTask>(store, std::move(request), std::move(done))->Run();
}

Result<DownloadResponse> Download(ObjectStore& store, DownloadRequest request, const Interrupt& interrupt) {
  const transfer::ChainedStop stop(request.options.call.cancel);
  request.options.call.cancel = stop.token();
  Waiter<DownloadResponse> waiter;
  StartDownload(store, std::move(request), waiter.Done());
  return waiter.Wait(interrupt, stop.source());
}

}  // namespace penstock
