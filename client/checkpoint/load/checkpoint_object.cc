#include "client/checkpoint/load/checkpoint_object.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "penstock/base/blocking.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock::checkpoint {
namespace {

struct Fetched {
  std::string bytes;
  ObjectMetadata metadata;
};

Result<Fetched> Fetch(const LoadContext& context, const BucketName& bucket, const ObjectKey& key,
                      std::uint64_t begin, std::uint64_t end, std::optional<ETag> etag,
                      std::optional<std::uint64_t> size) {
  Fetched fetched;
  DownloadRequest request;
  request.bucket = bucket;
  request.key = key;
  request.begin = begin;
  request.end = end;
  if (etag && !etag->empty()) request.known_etag = std::move(etag);
  request.known_size = size;
  request.options.call = context.ranges.call;
  request.options.customer_key = context.ranges.customer_key;
  request.destination = [&fetched](std::uint64_t bytes) -> Result<MutableByteView> {
    fetched.bytes.resize(bytes);
    return MutableByteView(reinterpret_cast<std::byte*>(fetched.bytes.data()), bytes);
  };
  PENSTOCK_ASSIGN(DownloadResponse response,
                  Download(*context.store, std::move(request), context.interrupt));
  fetched.metadata = std::move(response.metadata);
  return fetched;
}

}  // namespace

Result<CheckpointObject> CheckpointObject::Open(const LoadContext& context, BucketName bucket,
                                                ObjectKey key, std::uint64_t first_bytes) {
  PENSTOCK_TRY(CheckMayBlock("loading a checkpoint"));
  PENSTOCK_ASSIGN(Fetched fetched,
                  Fetch(context, bucket, key, 0, first_bytes, std::nullopt, std::nullopt));
  CheckpointObject object;
  object.bucket_ = std::move(bucket);
  object.key_ = std::move(key);
  object.etag_ = fetched.metadata.etag;
  object.size_ = fetched.metadata.size;
  object.first_ = std::move(fetched.bytes);
  return object;
}

Result<std::string> CheckpointObject::Read(const LoadContext& context, std::uint64_t begin,
                                           std::uint64_t end) const {
  if (end <= first_.size()) return first_.substr(begin, end - begin);
  const std::uint64_t from = std::max<std::uint64_t>(begin, first_.size());
  PENSTOCK_ASSIGN(Fetched fetched, Fetch(context, bucket_, key_, from, end, etag_, size_));
  if (fetched.bytes.size() != end - from) {
    return At(Error::Make(ErrorKind::kDataLoss, "bytes " + std::to_string(from) + " to " +
                                                    std::to_string(end) + " were requested, and " +
                                                    std::to_string(fetched.bytes.size()) +
                                                    " bytes received"),
              "GetObject");
  }
  if (begin < from) return first_.substr(begin) + fetched.bytes;
  return std::move(fetched.bytes);
}

Error CheckpointObject::At(Error error, std::string_view operation) const {
  return std::move(error).At(operation, bucket_.value, key_.value);
}

struct BatchReader::Completed {
  Mutex mutex;
  CondVar ready;
  std::deque<std::pair<std::uint64_t, std::optional<Error>>> batches PENSTOCK_GUARDED_BY(mutex);
};

BatchReader::BatchReader(const LoadContext& context)
    : interrupt_(context.interrupt),
      completed_(std::make_shared<Completed>()),
      reader_(RangeReader::Create(context.store, context.ranges)) {}

BatchReader::~BatchReader() = default;  // the reader waits

void BatchReader::Start(RangeBatch batch, std::uint64_t token) {
  ++in_flight_;
  reader_->Start(std::move(batch), [completed = completed_, token](Result<RangesRead> result) {
    std::optional<Error> error;
    if (!result.ok()) error = std::move(result).error();
    const MutexLock lock(completed->mutex);
    completed->batches.emplace_back(token, std::move(error));
    completed->ready.NotifyAll();
  });
}

Result<std::uint64_t> BatchReader::Next() {
  constexpr std::chrono::milliseconds kPoll{100};
  for (bool stopped = false;;) {
    {
      const MutexLock lock(completed_->mutex);
      if (completed_->batches.empty())
        completed_->ready.WaitUntil(completed_->mutex, std::chrono::steady_clock::now() + kPoll);
      if (!completed_->batches.empty()) {
        auto [token, error] = std::move(completed_->batches.front());
        completed_->batches.pop_front();
        --in_flight_;
        if (error) return std::move(*error);
        return token;
      }
    }
    if (!stopped && interrupt_ && interrupt_()) {
      stopped = true;
      reader_->Cancel();
    }
  }
}

Result<void> ReadPieces(const LoadContext& context, const CheckpointObject& object,
                        std::vector<RangePiece> pieces) {
  if (pieces.empty()) return Ok();
  BatchReader reader(context);
  RangeBatch batch{object.bucket(), object.key(), std::move(pieces), {}};
  if (!object.etag().empty()) batch.known_etag = object.etag();
  reader.Start(std::move(batch), 0);
  PENSTOCK_TRY(reader.Next());
  return Ok();
}

}  // namespace penstock::checkpoint
