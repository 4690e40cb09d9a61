#include "client/cache/block_download.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"

namespace penstock::cache {
namespace {

constexpr std::string_view kBookkeeping = "the download of blocks of the node cache";

// The sink of the request. The store calls it from one thread at a time.
class Download final : public BodySink, public std::enable_shared_from_this<Download> {
 public:
  Download(NodeCache& cache, std::shared_ptr<CacheBackend> backend, BlockDownload what)
      : cache_(cache), backend_(std::move(backend)), what_(std::move(what)) {}

  void Start() {
    GetObjectRequest request;
    request.bucket = BucketName(what_.version.bucket);
    request.key = ObjectKey(what_.version.key);
    request.range = RangeRequest{
        first() * kCacheBlockBytes, (first() + what_.fetches.size()) * kCacheBlockBytes, {}};
    if (what_.metadata) request.range->end = std::min(*request.range->end, what_.metadata->size);
    request.if_match = ETag(what_.version.etag);
    request.options = what_.options;
    request.sink = this;
    backend_->get(std::move(request), [self = shared_from_this()](Result<ObjectMetadata> result) {
      self->End(std::move(result));
    });
  }

  Result<void> Begin(const ObjectMetadata& metadata, std::optional<std::uint64_t>) override {
    if (metadata.etag.value != what_.version.etag) {
      return Error::Make(ErrorKind::kPreconditionFailed,
                         "the object changed while it was read: ETag " + metadata.etag.value +
                             " instead of " + what_.version.etag);
    }
    if (!what_.metadata) {
      what_.metadata = metadata;
      // S3 may send the checksum of a part with a range that is this part.
      if (metadata.range.size() != metadata.size) what_.metadata->checksums.clear();
    }
    if (what_.metadata->size != metadata.size) {
      return Error::Make(ErrorKind::kDataLoss, "the object has " + std::to_string(metadata.size) +
                                                   " bytes instead of " +
                                                   std::to_string(what_.metadata->size));
    }
    // Blocks that are complete already arrive again.
    skip_bytes_ = done_ * kCacheBlockBytes;
    filled_ = 0;
    return done_ == 0 && block_ == nullptr ? NextBlock() : Ok();
  }

  MutableByteView Window() override {
    if (skip_bytes_ > 0)
      return MutableByteView(skipped_).first(std::min<std::uint64_t>(skipped_.size(), skip_bytes_));
    if (block_ == nullptr) return {};
    return MutableByteView(block_->bytes.get(), block_->size).subspan(filled_);
  }

  Result<void> Commit(std::size_t count) override {
    if (skip_bytes_ > 0) {
      skip_bytes_ -= count;
      return Ok();
    }
    filled_ += count;
    if (filled_ < block_->size) return Ok();
    BlockHead head;
    head.version = what_.version;
    head.index = first() + done_;
    head.complete_metadata = what_.complete_metadata;
    head.metadata = *what_.metadata;
    backend_->misses.fetch_add(1, std::memory_order_relaxed);
    backend_->miss_bytes.fetch_add(block_->size, std::memory_order_relaxed);
    cache_.Complete(what_.fetches[done_], std::exchange(block_, nullptr), std::move(head));
    ++done_;
    filled_ = 0;
    return NextBlock();
  }

  void End(Result<ObjectMetadata> result) {
    Error error = result.ok() ? Error::Make(ErrorKind::kDataLoss, "the response is too short")
                              : std::move(result).error();
    for (; done_ < what_.fetches.size(); ++done_)
      Contain(kBookkeeping, [&] { cache_.Fail(what_.fetches[done_], error); });
  }

 private:
  std::uint64_t first() const { return what_.fetches.front()->id.index; }

  Result<void> NextBlock() {
    if (done_ == what_.fetches.size()) return Ok();
    const std::uint64_t bytes = BytesOfBlock(first() + done_, what_.metadata->size);
    if (bytes == 0) return Ok();  // The object ends before; Fail the rest at the end.
    block_ = BlockBytes::Take(static_cast<std::size_t>(bytes));
    if (block_ != nullptr) return Ok();
    return Error::Make(ErrorKind::kResourceExhausted,
                       "no memory is free for a block of the node cache");
  }

  NodeCache& cache_;
  const std::shared_ptr<CacheBackend> backend_;  // shared with other reads
  BlockDownload what_;
  std::size_t done_ = 0;               // completed fetches
  std::shared_ptr<BlockBytes> block_;  // being filled
  std::size_t filled_ = 0;
  std::uint64_t skip_bytes_ = 0;
  std::array<std::byte, 16 << 10> skipped_;
};

}  // namespace

void StartBlockDownload(NodeCache& cache, std::shared_ptr<CacheBackend> backend,
                        BlockDownload download) {
  const std::vector<BlockFetchPtr> fetches = download.fetches;
  Result<void> started = Caught(kBookkeeping, [&] {
    std::make_shared<Download>(cache, std::move(backend), std::move(download))->Start();
  });
  if (started.ok()) return;
  for (const BlockFetchPtr& fetch : fetches) cache.Fail(fetch, started.error());
}

}  // namespace penstock::cache
