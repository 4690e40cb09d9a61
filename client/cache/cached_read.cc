#include "client/cache/cached_read.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crc/named_crc.h"
#include "base/log/caught.h"
#include "client/cache/block_download.h"
#include "penstock/base/clock.h"

namespace penstock::cache {
namespace {

constexpr std::string_view kCallback = "the callback of a cached read";
constexpr std::string_view kBookkeeping = "the bookkeeping of a cached read";
constexpr std::string_view kSink = "the sink of a cached read";
constexpr std::uint64_t kMaxRunBlocks = 8;  // of one request
constexpr int kMaxLooks = 16;               // for one byte
constexpr std::uint64_t kNone = UINT64_MAX;

bool PinsVersion(const std::optional<ETag>& etag) {
  return etag && !etag->empty() && etag->value != "*" && !etag->value.starts_with("W/");
}

// Another request would fail in the same way. For other errors S3's response to a GetObject is
// better than that to a HEAD request, which has no error document.
bool IsTransient(const Error& error) {
  return error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kThrottled ||
         error.kind == ErrorKind::kTimeout || error.kind == ErrorKind::kCancelled;
}

// One read. One step runs at a time: on a thread of the pool, or in the callback of a request.
class CachedRead final : public BodySink, public std::enable_shared_from_this<CachedRead> {
 public:
  CachedRead(NodeCache& cache, std::shared_ptr<CacheBackend> backend, GetObjectRequest request,
             Callback<ObjectMetadata> done)
      : cache_(cache),
        backend_(std::move(backend)),
        request_(std::move(request)),
        done_(std::move(done)),
        listed_(!request_.if_match && PinsVersion(request_.listed_etag)) {}

  void Start() { Continue(&CachedRead::Resolve); }

  // The sink of Direct: the rest of the read, without the cache.
  Result<void> Begin(const ObjectMetadata& metadata, std::optional<std::uint64_t>) override {
    if (metadata.etag.value != version_.etag || metadata.size != metadata_.size)
      return Error::Make(ErrorKind::kPreconditionFailed, "the object changed while it was read");
    if (pos_ == direct_from_) return Ok();
    return Error::Make(ErrorKind::kDataLoss, "the rest of the object began again");
  }
  MutableByteView Window() override { return window_ = request_.sink->Window(); }
  Result<void> Commit(std::size_t count) override { return Committed(window_, count); }

 private:
  using Step = void (CachedRead::*)();

  // Runs a step on a thread of the pool.
  void Continue(Step step) {
    Result<bool> submitted = Caught(kBookkeeping, [&]() -> Result<bool> {
      return cache_.pool().Submit([self = shared_from_this(), step] { self->Run(step); });
    });
    if (!submitted.ok() || !*submitted) Passthrough();
  }

  void Run(Step step) {
    if (!done_) return;
    Result<void> ran = Caught(kBookkeeping, [&] { (this->*step)(); });
    if (!ran.ok()) Fail(std::move(ran).error());
  }

  // Runs Serve once `ready`, or when the read must stop.
  void Wait(std::function<bool()> ready) {
    const bool waits = cache_.pool().When(
        [self = shared_from_this(), ready = std::move(ready)] {
          return ready() || self->StopError().has_value();
        },
        [self = shared_from_this()] { self->Run(&CachedRead::Serve); });
    if (!waits) Direct();
  }

  std::optional<Error> StopError() const {
    if (request_.options.cancel.stop_requested())
      return Error::Make(ErrorKind::kCancelled, "the read was cancelled");
    if (request_.options.deadline.Passed(SystemClock()))
      return Error::Make(ErrorKind::kTimeout, "the deadline passed during a read");
    return std::nullopt;
  }

  // ---- the version ----

  void Resolve() {
    const std::optional<ETag>& etag = request_.if_match ? request_.if_match : request_.listed_etag;
    if (!PinsVersion(etag)) return request_.if_match ? Passthrough() : Head(std::nullopt);
    SetVersion(*etag);
    const RangeRequest range = request_.range.value_or(RangeRequest());
    const std::uint64_t first = range.begin.value_or(0) / kCacheBlockBytes;
    if (const auto block = cache_.folder().OpenForRead({hash_, first})) Adopt(block->head);
    // The response to a request for the whole object has all checksums.
    const bool needs_head =
        range.suffix ? !metadata_known_ : !request_.range && !complete_metadata_;
    if (needs_head) return Head(etag);
    must_check_ = listed_;
    Serve();
  }

  void SetVersion(const ETag& etag) {
    version_ = {backend_->endpoint, request_.bucket.value, request_.key.value, etag.value};
    hash_ = HashOf(version_);
  }

  void Adopt(const BlockHead& head) {
    metadata_ = head.metadata;
    complete_metadata_ = head.complete_metadata;
    metadata_known_ = true;
  }

  void Head(std::optional<ETag> if_match) {
    HeadObjectRequest head{.bucket = request_.bucket, .key = request_.key};
    head.options = request_.options;
    head.if_match = if_match;
    backend_->head(std::move(head),
                   [self = shared_from_this(), if_match](Result<ObjectMetadata> result) {
                     if (!result.ok() && if_match && self->listed_ &&
                         result.error().kind == ErrorKind::kPreconditionFailed)
                       return self->Replaced();
                     if (!result.ok() && IsTransient(result.error()))
                       return self->Fail(std::move(result).error());
                     if (!result.ok() || !PinsVersion(result->etag)) return self->Passthrough();
                     self->head_ = std::move(result);
                     self->Continue(&CachedRead::UseHead);
                   });
  }

  void UseHead() {
    metadata_ = std::move(head_).value();
    metadata_known_ = complete_metadata_ = true;
    range_known_ = false;  // a listed version may have another size
    must_check_ = false;
    SetVersion(metadata_.etag);
    Serve();
  }

  // The listed version is no longer current.
  void Replaced() {
    listed_ = false;
    metadata_known_ = complete_metadata_ = false;
    run_.clear();
    Head(std::nullopt);
  }

  // ---- the bytes ----

  // Computes the range once the size is known. Returns false for a range without bytes, which S3
  // shall judge.
  bool ResolveRange() {
    if (range_known_) return true;
    const RangeRequest range = request_.range.value_or(RangeRequest());
    const std::uint64_t size = metadata_.size;
    begin_ = range.suffix ? size - std::min(size, *range.suffix) : range.begin.value_or(0);
    end_ =
        metadata_known_ ? std::min(range.end.value_or(size), size) : range.end.value_or(UINT64_MAX);
    pos_ = begin_;
    range_known_ = metadata_known_;
    return begin_ < end_;
  }

  void Serve() {
    for (;;) {
      if (auto stop = StopError()) return Fail(*std::move(stop));
      if (!ResolveRange()) return Passthrough();
      if (GetsNowhere()) return Direct();
      const std::uint64_t index = must_check_ ? FirstMissing() : pos_ / kCacheBlockBytes;
      if (index == kNone) {
        must_check_ = false;
        continue;
      }
      if (!must_check_ && pos_ == end_) return Complete();
      if (!ServeBlock({hash_, index})) return;
    }
  }

  // A file may be unreadable and impossible to remove, for example on a file system that became
  // read-only. Or no process can store the block, and many take turns to download it.
  bool GetsNowhere() {
    if (std::exchange(looked_for_, pos_) != pos_) looks_ = 0;
    return ++looks_ > kMaxLooks;
  }

  std::uint64_t FirstMissing() const {
    std::uint64_t index = begin_ / kCacheBlockBytes;
    if (!metadata_known_) return index;
    for (; index * kCacheBlockBytes < end_; ++index)
      if (!cache_.folder().Has({hash_, index})) return index;
    return kNone;
  }

  // Delivers the block, or does one thing for it. Returns false if the read waits or has ended.
  bool ServeBlock(const BlockId& id) {
    if (const BlockFetchPtr own = OwnFetch(id.index)) return ServeOwn(own);
    if (const BlockFetchPtr other = cache_.Find(id)) {
      const BlockFetch::State state = other->state;
      if (state == BlockFetch::State::kReady) {
        const std::uint64_t before = pos_;
        const bool goes_on = ServeReady(*other);
        if (range_known_ && pos_ > before) CountHit(pos_ - before);
        return goes_on;
      }
      if (state == BlockFetch::State::kFailed) return true;  // about to be removed: look again
      Wait([other] { return other->state != BlockFetch::State::kLoading; });
      return false;
    }
    if (!must_check_) {
      if (const auto block = cache_.folder().OpenForRead(id)) return ServeFile(id, *block);
    }
    if (StartRun(id.index) || cache_.Find(id) != nullptr || cache_.folder().Has(id)) return true;
    return WaitForOtherProcess(id);
  }

  BlockFetchPtr OwnFetch(std::uint64_t index) const {
    for (const BlockFetchPtr& fetch : run_)
      if (fetch->id.index == index) return fetch;
    return nullptr;
  }

  bool ServeOwn(const BlockFetchPtr& fetch) {
    switch (fetch->state) {
      case BlockFetch::State::kLoading:
        Wait([fetch] { return fetch->state != BlockFetch::State::kLoading; });
        return false;
      case BlockFetch::State::kReady: return ServeReady(*fetch);
      case BlockFetch::State::kFailed: break;
    }
    const Error error = fetch->error.value_or(Error::Make(ErrorKind::kInternal, "no bytes"));
    if (error.kind == ErrorKind::kResourceExhausted) {
      Direct();
    } else if (!request_.if_match && !begun_ && error.kind == ErrorKind::kPreconditionFailed) {
      // If it is replaced again after a HEAD request, the caller, who set no condition, gets what
      // one GetObject returns.
      listed_ ? Replaced() : Passthrough();
    } else if (!begun_ && error.http_status == 416) {
      Passthrough();  // S3's own error names the range that the caller asked for
    } else {
      Fail(error);
    }
    return false;
  }

  bool ServeReady(const BlockFetch& fetch) {
    if (!metadata_known_) {
      metadata_ = fetch.metadata;
      metadata_known_ = true;
    }
    must_check_ = false;
    if (!ResolveRange()) {
      Passthrough();
      return false;
    }
    StartAhead();
    if (fetch.id.index != pos_ / kCacheBlockBytes) return true;  // it was only a check
    lock_deadline_.reset();
    return Deliver(fetch.id.index, fetch.data->view());
  }

  // Requests blocks from `index` on. Returns false if the first one is locked or present.
  bool StartRun(std::uint64_t index) {
    const std::uint64_t last = end_ == UINT64_MAX ? kNone : (end_ - 1) / kCacheBlockBytes;
    const bool exact = request_.range && (request_.range->end || request_.range->suffix);
    const std::uint64_t most =
        exact ? kMaxRunBlocks
              : std::exchange(run_blocks_, std::min(run_blocks_ * 2, kMaxRunBlocks));
    const std::uint64_t count = last == kNone ? most : std::min(most, last - index + 1);
    BlockDownload download;
    download.fetches = cache_.BeginFetches(hash_, index, count);
    if (download.fetches.empty()) return false;
    download.version = version_;
    download.complete_metadata = complete_metadata_;
    if (metadata_known_) download.metadata = metadata_;
    download.options = request_.options;
    run_.insert(run_.end(), download.fetches.begin(), download.fetches.end());
    ++runs_;
    StartBlockDownload(cache_, backend_, std::move(download));
    return true;
  }

  // Requests the next blocks while the last ones are delivered. A reader without an end may stop
  // early, so its first two requests are not followed by another.
  void StartAhead() {
    if (run_.empty() || end_ == UINT64_MAX) return;
    const bool exact = request_.range && (request_.range->end || request_.range->suffix);
    const std::uint64_t next = run_.back()->id.index + 1;
    const bool near = run_.size() <= kMaxRunBlocks;
    if (near && (exact || runs_ > 2) && next * kCacheBlockBytes < end_ &&
        !cache_.folder().Has({hash_, next}))
      StartRun(next);
  }

  bool WaitForOtherProcess(const BlockId& id) {
    const MonotonicTime now = SystemClock().Monotonic();
    if (!lock_deadline_) lock_deadline_ = now + backend_->lock_wait;
    if (now >= *lock_deadline_) {
      Direct();
      return false;
    }
    Wait([this, id, deadline = *lock_deadline_] {
      return !cache_.folder().IsBlockLocked(id) || SystemClock().Monotonic() >= deadline;
    });
    return false;
  }

  // ---- delivery ----

  bool ServeFile(const BlockId& id, const OpenBlock& block) {
    if (!metadata_known_) Adopt(block.head);
    if (block.head.metadata.size != metadata_.size) {
      cache_.folder().RemoveDamaged(id, "a block of the cache is of an object of another size");
      return true;
    }
    if (!ResolveRange()) {
      Passthrough();
      return false;
    }
    if (!EnsureBegun()) return false;
    const std::uint64_t offset = id.index * kCacheBlockBytes;
    const std::uint64_t from = pos_ - offset;
    const std::uint64_t until = std::min(end_ - offset, block.head.data_bytes);
    lock_deadline_.reset();
    const bool whole = from == 0 && until == block.head.data_bytes;
    const std::uint64_t before = pos_;
    bool goes_on = true;
    if (cache_.IsVerified(id, block)) {
      goes_on = DeliverFromFile(id, block, offset + until);
    } else if (whole && Window().size() >= until) {
      // Read into the caller's memory. It is committed only if the checksum matches.
      window_ = window_.first(static_cast<std::size_t>(until));
      if (!ReadVerified(id, block, window_)) return true;  // the file is removed: look again
      goes_on = Commits(window_.size());
    } else {
      std::vector<std::byte> bytes(static_cast<std::size_t>(block.head.data_bytes));
      if (!ReadVerified(id, block, bytes)) return true;
      goes_on = Deliver(id.index, bytes);
    }
    if (pos_ > before) CountHit(pos_ - before);
    return goes_on;
  }

  // Reads a whole block and compares its checksum. Removes a damaged one.
  bool ReadVerified(const BlockId& id, const OpenBlock& block, MutableByteView into) {
    Result<void> read = ReadAt(block.file.get(), into, 0);
    if (read.ok() && UpdateCrc(Crc::kCrc32c, into, 0) != block.head.data_crc)
      read = Error::Make(ErrorKind::kDataLoss, "the checksum of a block of the cache differs");
    if (read.ok()) cache_.SetVerified(id, block);
    else cache_.folder().RemoveDamaged(id, read.error().message);
    return read.ok();
  }

  // Reads from a verified file into the caller's memory, up to the byte `until` of the object.
  bool DeliverFromFile(const BlockId& id, const OpenBlock& block, std::uint64_t until) {
    while (pos_ < until) {
      const MutableByteView window = Window();
      if (window.empty()) return FailFull();
      window_ = window.first(std::min<std::uint64_t>(window.size(), until - pos_));
      const Result<void> read =
          ReadAt(block.file.get(), window_, pos_ - id.index * kCacheBlockBytes);
      if (!read.ok()) {
        cache_.folder().RemoveDamaged(id, read.error().message);
        return true;
      }
      if (!Commits(window_.size())) return false;
    }
    return true;
  }

  bool FailFull() {
    Fail(Error::Make(ErrorKind::kDataLoss, "more bytes arrived than the sink takes"));
    return false;
  }

  void CountHit(std::uint64_t bytes) {
    cache_.folder().Add({.hits = 1, .hit_bytes = bytes});
    backend_->hits.fetch_add(1, std::memory_order_relaxed);
    backend_->hit_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }

  // Calls Begin of the caller's sink once. Returns false if the read has ended.
  bool EnsureBegun() {
    if (begun_) return true;
    ObjectMetadata metadata = ResponseMetadata();
    const bool follows = IsWhole() && backend_->verify && !request_.sink->FollowsChecksum();
    if (follows) expected_ = FindCrc(metadata.checksums);
    Result<void> begun =
        Caught(kSink, [&] { return request_.sink->Begin(metadata, end_ - begin_); });
    begun_ = true;
    if (!begun.ok()) Fail(std::move(begun).error());
    return begun.ok();
  }

  bool IsWhole() const { return begin_ == 0 && end_ == metadata_.size; }

  ObjectMetadata ResponseMetadata() const {
    ObjectMetadata metadata = metadata_;
    metadata.range = {begin_, end_};
    if (!IsWhole() || !backend_->verify) metadata.checksums.clear();
    return metadata;
  }

  bool Deliver(std::uint64_t index, ByteView block) {
    if (!EnsureBegun()) return false;
    const std::uint64_t offset = index * kCacheBlockBytes;
    const std::uint64_t until = std::min<std::uint64_t>(end_ - offset, block.size());
    while (pos_ < offset + until) {
      const MutableByteView window = Window();
      const ByteView rest = block.subspan(static_cast<std::size_t>(pos_ - offset),
                                          static_cast<std::size_t>(offset + until - pos_));
      const std::size_t count = std::min(window.size(), rest.size());
      if (count == 0) return FailFull();
      std::copy_n(rest.begin(), count, window.begin());
      if (!Commits(count)) return false;
    }
    std::erase_if(run_, [&](const BlockFetchPtr& fetch) { return fetch->id.index == index; });
    return true;
  }

  bool Commits(std::size_t count) {
    Result<void> committed = Committed(window_, count);
    if (!committed.ok()) Fail(std::move(committed).error());
    return committed.ok();
  }

  Result<void> Committed(MutableByteView window, std::size_t count) {
    crc_ = UpdateCrc(expected_.crc, window.first(count), crc_);
    pos_ += count;
    return Caught(kSink, [&] { return request_.sink->Commit(count); });
  }

  // ---- the end ----

  void Complete() {
    if (Result<void> same = CompareCrc(expected_, crc_); !same.ok()) {
      // The bytes differ from what S3 stores, since their download.
      cache_.Drop(version_, metadata_.size, same.error().message);
      return Passthrough();
    }
    Finish(ResponseMetadata());
  }

  // Reads the rest without the cache.
  void Direct() {
    if (!begun_) return Passthrough();
    direct_from_ = pos_;
    GetObjectRequest request = request_;
    request.range = RangeRequest{pos_, end_, {}};
    request.if_match = ETag(version_.etag);
    request.sink = this;
    backend_->get(std::move(request), [self = shared_from_this()](Result<ObjectMetadata> result) {
      if (!result.ok()) return self->Fail(std::move(result).error());
      self->Continue(&CachedRead::Complete);  // it may remove files
    });
  }

  // Leaves the whole read to S3.
  void Passthrough() {
    GetObjectRequest request = request_;
    backend_->get(std::move(request), [self = shared_from_this()](Result<ObjectMetadata> result) {
      self->Finish(std::move(result));
    });
  }

  void Fail(Error error) {
    Contain(kBookkeeping,
            [&] { error.At("GetObject", request_.bucket.value, request_.key.value); });
    Finish(std::move(error));
  }

  void Finish(Result<ObjectMetadata> result) {
    run_.clear();
    const auto done = std::exchange(done_, nullptr);
    if (!done) return;
    Contain(kCallback, [&] { done(std::move(result)); });
  }

  NodeCache& cache_;                             // never destroyed, or outlives the read
  const std::shared_ptr<CacheBackend> backend_;  // shared with other reads
  const GetObjectRequest request_;
  Callback<ObjectMetadata> done_;

  bool listed_;              // the version comes from a listing: another one may be current
  bool must_check_ = false;  // the first missing block shows whether it is
  ObjectVersion version_;
  std::string hash_;
  Result<ObjectMetadata> head_ = ObjectMetadata();
  ObjectMetadata metadata_;
  bool metadata_known_ = false;
  bool complete_metadata_ = false;

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t pos_ = 0;  // of the next byte for the sink
  bool range_known_ = false;
  bool begun_ = false;  // the sink's Begin was called
  MutableByteView window_;
  ExpectedCrc expected_;
  std::uint64_t crc_ = 0;
  std::uint64_t direct_from_ = 0;
  std::uint64_t looked_for_ = kNone;  // `pos_` at the last look
  int looks_ = 0;

  std::vector<BlockFetchPtr> run_;  // own downloads, until their bytes are delivered
  std::uint64_t run_blocks_ = 1;
  std::uint64_t runs_ = 0;
  std::optional<MonotonicTime> lock_deadline_;  // of the wait for another process
};

}  // namespace

bool IsCacheable(const GetObjectRequest& request) {
  const CallOptions& options = request.options;
  return request.sink != nullptr && request.version_id.empty() && request.customer_key.empty() &&
         !request.part_number && !request.if_none_match && !request.if_modified_since &&
         !request.if_unmodified_since && !request.overrides.has_value() &&
         options.expected_bucket_owner.empty() && options.extra_headers.empty() &&
         options.extra_query.empty() && !options.on_response;
}

void StartCachedRead(NodeCache& cache, std::shared_ptr<CacheBackend> backend,
                     GetObjectRequest request, Callback<ObjectMetadata> done) {
  std::shared_ptr<CachedRead> read;
  Result<void> made = Caught(kBookkeeping, [&] {
    read = std::make_shared<CachedRead>(cache, std::move(backend), std::move(request),
                                        std::move(done));
  });
  if (made.ok()) return read->Start();
  Contain(kCallback, [&] { done(std::move(made).error()); });
}

}  // namespace penstock::cache
