// A whole object, or a range of it, into the caller's memory by parallel parts.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "client/transfer/chained_stop.h"
#include "client/transfer/part_plan.h"
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
  if (request.options.max_parallel_parts < 1) {
    return invalid("max_parallel_parts is " + std::to_string(request.options.max_parallel_parts) +
                   "; it takes at least 1");
  }
  if (request.end && *request.end < request.begin) {
    return invalid("the range [" + std::to_string(request.begin) + ", " + std::to_string(*request.end) +
                   ") ends before it begins");
  }
  if (!request.destination) return invalid("`destination` is not set");
  return Ok();
}

// One download. Parts run in parallel; the first failure stops the others, and the completion waits for all of them,
// since afterwards the memory is the caller's again.
class DownloadTask : public std::enable_shared_from_this<DownloadTask> {
 public:
  DownloadTask(ObjectStore& store, DownloadRequest request, Callback<DownloadResponse> done)
      : store_(store), request_(std::move(request)), done_(std::move(done)), stop_(request_.options.call.cancel) {}

  void Run() {
    if (Result<void> checked = Check(request_); !checked.ok()) return Fail(std::move(checked).error());
    ObjectMetadata known;
    if (request_.known_size) known.size = *request_.known_size;
    if (request_.known_etag) known.etag = *request_.known_etag;
    const bool certain = request_.known_size && request_.known_etag;
    const bool nothing =
        request_.end == request_.begin || (request_.known_size && request_.begin >= *request_.known_size);
    if (!certain && !nothing) return Probe();
    if (Result<void> placed = Place(known); !placed.ok()) return Fail(std::move(placed).error());
    Pump();
  }

 private:
  // The first part, asked for before the size is known.
  void Probe() {
    {
      const MutexLock lock(mutex_);
      ++in_flight_;
    }
    const ByteRange whole{request_.begin, request_.end.value_or(UINT64_MAX)};
    transfer::RangeFetchSpec spec = SpecFor(transfer::PartAt(whole, request_.begin, request_.options.part_size_bytes));
    spec.etag = request_.known_etag;
    spec.place = [this](const ObjectMetadata& metadata, std::uint64_t length) -> Result<MutableByteView> {
      if (request_.known_size && *request_.known_size != metadata.size) {
        return Error::Make(ErrorKind::kPreconditionFailed,
                           "the object has " + std::to_string(metadata.size) + " bytes, not the known " +
                               std::to_string(*request_.known_size) + ": it changed");
      }
      PENSTOCK_TRY(Place(metadata));
      if (length < target_.size() && metadata.etag.empty()) {
        return Error::Make(ErrorKind::kUnsupported,
                           "the store sent no ETag, so the parts cannot be pinned to one version of the object");
      }
      {
        const MutexLock lock(mutex_);
        next_ = whole_.begin + length;
      }
      Pump();  // the other parts need not wait for this one's last byte
      return target_.first(length);
    };
    Fetch(std::move(spec));
  }

  // The size is known: asks for the memory, once.
  Result<void> Place(const ObjectMetadata& metadata) {
    const ByteRange whole = transfer::ClipRange(request_.begin, request_.end, metadata.size);
    PENSTOCK_ASSIGN(const MutableByteView target, request_.destination(whole.size()));
    if (target.size() != whole.size()) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "`destination` returned " + std::to_string(target.size()) + " bytes, but " +
                             std::to_string(whole.size()) + " will arrive: return memory of exactly that size");
    }
    const MutexLock lock(mutex_);
    metadata_ = metadata;
    whole_ = whole;
    target_ = target;
    next_ = whole.begin;
    placed_ = true;
    return Ok();
  }

  transfer::RangeFetchSpec SpecFor(ByteRange range) {
    transfer::RangeFetchSpec spec;
    spec.bucket = request_.bucket;
    spec.key = request_.key;
    spec.range = range;
    spec.call = request_.options.call;
    spec.call.cancel = stop_.token();
    return spec;
  }

  transfer::RangeFetchSpec PinnedSpec(ByteRange range, const ETag& etag, MutableByteView slice, std::uint64_t size) {
    transfer::RangeFetchSpec spec = SpecFor(range);
    spec.etag = etag;
    spec.place = [slice, size](const ObjectMetadata& metadata, std::uint64_t) -> Result<MutableByteView> {
      if (metadata.size == size) return slice;
      return Error::Make(ErrorKind::kPreconditionFailed, "the object has " + std::to_string(metadata.size) +
                                                             " bytes, not " + std::to_string(size) + ": it changed");
    };
    return spec;
  }

  // Keeps the parts flowing. A store may complete calls before Start returns, so parts that end during a round are
  // taken up by that round instead of a deeper one.
  void Pump() {
    mutex_.Lock();
    if (pumping_) {
      mutex_.Unlock();
      return;
    }
    pumping_ = true;
    while (placed_ && !error_ && next_ < whole_.end && in_flight_ < request_.options.max_parallel_parts) {
      const ByteRange range = transfer::PartAt(whole_, next_, request_.options.part_size_bytes);
      next_ = range.end;
      ++in_flight_;
      transfer::RangeFetchSpec spec = PinnedSpec(
          range, metadata_.etag, target_.subspan(range.begin - whole_.begin, range.size()), metadata_.size);
      mutex_.Unlock();
      Fetch(std::move(spec));
      mutex_.Lock();
    }
    pumping_ = false;
    const bool over = in_flight_ == 0 && !finished_ && (error_ || (placed_ && next_ == whole_.end));
    if (over) finished_ = true;
    mutex_.Unlock();
    if (over) Finish();
  }

  void Fetch(transfer::RangeFetchSpec spec) {
    transfer::StartRangeFetch(store_, std::move(spec), [self = shared_from_this()](Result<RangeFetched> result) {
      self->Fetched(result);
    });
  }

  void Fetched(const Result<RangeFetched>& result) {
    std::optional<Error> error;
    if (!result.ok()) {
      error = result.error();
      const auto beyond = placed_ ? std::nullopt : transfer::BeyondTheEnd(*error);
      if (beyond) error = PlaceNothing(*beyond);
    }
    {
      const MutexLock lock(mutex_);
      --in_flight_;
      if (result.ok()) delivered_ += result->bytes;
      if (error && !error_) error_ = error;
    }
    if (error) stop_.RequestStop();
    Pump();
  }

  // The first part was refused because there is nothing from `begin` on. What is wrong with that, if anything.
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

  void Finish() {
    if (error_) return Fail(std::move(*error_));
    if (delivered_ != target_.size()) {
      return Fail(Error::Make(ErrorKind::kDataLoss, std::to_string(delivered_) + " of " +
                                                        std::to_string(target_.size()) + " bytes arrived"));
    }
    DownloadResponse response{delivered_, std::move(metadata_)};
    std::exchange(done_, nullptr)(std::move(response));
  }

  ObjectStore& store_;  // outlives the completion
  const DownloadRequest request_;
  Callback<DownloadResponse> done_;
  transfer::ChainedStop stop_;

  Mutex mutex_;
  bool placed_ = false;
  ByteRange whole_;
  MutableByteView target_;
  ObjectMetadata metadata_;
  std::uint64_t next_ = 0;  // where the next part starts, in the object
  int in_flight_ = 0;
  bool pumping_ = false;
  bool finished_ = false;
  std::uint64_t delivered_ = 0;
  std::optional<Error> error_;
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
