// The stream dataset: objects under a prefix in order, prefetched.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "client/torch/object_tensor.h"
#include "client/torch/s3_uri.h"
#include "penstock/base/mutex.h"
#include "penstock/torch.h"

#include <torch/types.h>

namespace penstock::torch {
namespace {

struct PrefetchedObject {
  PrefetchedObject(std::shared_ptr<ObjectStore> store, const BucketName& bucket,
                   const ObjectSummary& summary, const DownloadOptions& options)
      : size(summary.size), object(std::move(store), bucket, summary.key, options) {}
  std::uint64_t size;
  ObjectTensor object;
};

}  // namespace

// One reader at a time uses the epoch: get_batch holds the mutex while it waits, because the next
// batch depends on the current one. The completions that it waits for run on I/O threads, which
// never lock this mutex.
struct [[gnu::visibility("hidden")]] PrefixStreamDataset::Impl {
  Impl(std::shared_ptr<ObjectStore> given, S3Uri uri, Shard shard_, DatasetOptions options_)
      : store(std::move(given)),
        place(std::move(uri)),
        shard(shard_),
        options(std::move(options_)) {}

  void Reset() PENSTOCK_REQUIRES(mutex) {
    ahead.clear();
    ahead_bytes = 0;
    listed.clear();
    ListObjectsRequest request;
    request.bucket = place.bucket;
    request.prefix = place.path;
    request.options = options.download.call;
    lister = Lister::CreateOrdered(store, std::move(request));
    next_index = 0;
    skip = std::exchange(resume_at, 0);
    position = skip;
    failed.reset();
  }

  // Returns the next object of this shard, or nullopt at the end of the listing.
  Result<std::optional<ObjectSummary>> NextListed() PENSTOCK_REQUIRES(mutex) {
    while (lister) {
      while (!listed.empty()) {
        ObjectSummary summary = std::move(listed.front());
        listed.pop_front();
        if (!shard.Owns(next_index++)) continue;
        if (skip == 0) return std::optional<ObjectSummary>(std::move(summary));
        --skip;
      }
      PENSTOCK_ASSIGN(std::optional<ListObjectsResponse> page, lister->Next());
      if (page) {
        listed.assign(std::make_move_iterator(page->objects.begin()),
                      std::make_move_iterator(page->objects.end()));
      } else {
        lister.reset();
      }
    }
    return std::optional<ObjectSummary>();
  }

  Result<void> FetchAhead() PENSTOCK_REQUIRES(mutex) {
    const auto most = static_cast<std::size_t>(std::max(1, options.max_parallel_objects));
    while (lister && ahead.size() < most &&
           (ahead.empty() || ahead_bytes < options.look_ahead_bytes)) {
      PENSTOCK_ASSIGN(const std::optional<ObjectSummary> summary, NextListed());
      if (!summary) break;
      ahead.emplace_back(store, place.bucket, *summary, options.download);
      ahead_bytes += summary->size;
    }
    return Ok();
  }

  Result<std::vector<ObjectExample>> Batch(std::size_t count) PENSTOCK_REQUIRES(mutex) {
    std::vector<ObjectExample> batch;
    while (batch.size() < count) {
      PENSTOCK_TRY(FetchAhead());
      if (ahead.empty()) break;
      PENSTOCK_ASSIGN(ObjectExample example, ahead.front().object.Take());
      ahead_bytes -= ahead.front().size;
      ahead.pop_front();
      batch.push_back(std::move(example));
    }
    // Prefetches the next batch while the reader uses this one. If listing fails here, the next
    // call lists the page again, and this batch is not lost.
    const Result<void> ignored = FetchAhead();
    static_cast<void>(ignored);
    return batch;
  }

  const std::shared_ptr<ObjectStore> store;  // Shared with the creator.
  const S3Uri place;
  const Shard shard;
  const DatasetOptions options;

  mutable Mutex mutex;
  // Null: not started, or completely listed.
  std::unique_ptr<Lister> lister PENSTOCK_GUARDED_BY(mutex);
  // The unprocessed entries of the current page.
  std::deque<ObjectSummary> listed PENSTOCK_GUARDED_BY(mutex);
  std::deque<PrefetchedObject> ahead PENSTOCK_GUARDED_BY(mutex);  // In the order of the listing.
  std::uint64_t ahead_bytes PENSTOCK_GUARDED_BY(mutex) = 0;
  std::uint64_t next_index PENSTOCK_GUARDED_BY(mutex) = 0;  // In the listing.
  // Objects of this shard before the resume position.
  std::uint64_t skip PENSTOCK_GUARDED_BY(mutex) = 0;
  // Objects of this shard returned so far.
  std::uint64_t position PENSTOCK_GUARDED_BY(mutex) = 0;
  std::uint64_t resume_at PENSTOCK_GUARDED_BY(mutex) = 0;  // For the next reset.
  bool begun PENSTOCK_GUARDED_BY(mutex) = false;
  std::optional<Error> failed PENSTOCK_GUARDED_BY(mutex);
};

Result<PrefixStreamDataset> PrefixStreamDataset::Create(std::shared_ptr<ObjectStore> store,
                                                        std::string_view uri, Shard shard,
                                                        DatasetOptions options) {
  PENSTOCK_ASSIGN(S3Uri place, ParseS3Uri(uri));
  if (shard.rank >= shard.world_size || shard.worker >= shard.workers) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "rank " + std::to_string(shard.rank) + " of " +
                           std::to_string(shard.world_size) + ", worker " +
                           std::to_string(shard.worker) + " of " + std::to_string(shard.workers) +
                           ": rank and worker must be 0 or more and below their totals");
  }
  return PrefixStreamDataset(
      std::make_unique<Impl>(std::move(store), std::move(place), shard, std::move(options)));
}

PrefixStreamDataset::PrefixStreamDataset(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrefixStreamDataset::PrefixStreamDataset(PrefixStreamDataset&&) noexcept = default;
PrefixStreamDataset& PrefixStreamDataset::operator=(PrefixStreamDataset&&) noexcept = default;
PrefixStreamDataset::~PrefixStreamDataset() = default;

std::optional<std::vector<ObjectExample>> PrefixStreamDataset::get_batch(std::size_t count) {
  const MutexLock lock(impl_->mutex);
  if (!std::exchange(impl_->begun, true)) impl_->Reset();
  if (impl_->failed) throw DatasetError(*impl_->failed);
  Result<std::vector<ObjectExample>> batch = impl_->Batch(count);
  if (!batch.ok()) {
    impl_->failed = batch.error();
    throw DatasetError(std::move(batch).error());
  }
  if (batch->empty()) return std::nullopt;
  impl_->position += batch->size();
  return std::move(batch).value();
}

void PrefixStreamDataset::reset() {
  const MutexLock lock(impl_->mutex);
  impl_->begun = true;
  impl_->Reset();
}

void PrefixStreamDataset::save(::torch::serialize::OutputArchive& archive) const {
  const MutexLock lock(impl_->mutex);
  archive.write("position", at::scalar_tensor(static_cast<std::int64_t>(impl_->position),
                                              at::TensorOptions().dtype(at::kLong)));
}

void PrefixStreamDataset::load(::torch::serialize::InputArchive& archive) {
  ::torch::Tensor position;
  archive.read("position", position);
  const bool is_count = position.scalar_type() == at::kLong && position.numel() == 1;
  const std::int64_t count = is_count ? position.item<std::int64_t>() : -1;
  if (count < 0) {
    throw DatasetError(Error::Make(
        ErrorKind::kDataLoss,
        "the saved position is not one int64 of 0 or more; load an archive that save() wrote"));
  }
  const MutexLock lock(impl_->mutex);
  impl_->resume_at = static_cast<std::uint64_t>(count);
  impl_->begun = false;
}

}  // namespace penstock::torch
