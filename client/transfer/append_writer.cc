#include "penstock/append_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "client/transfer/part_body.h"
#include "client/transfer/settle.h"
#include "penstock/bucket_kind.h"

namespace penstock {
namespace {

// Compares what arrives with what should be there, and keeps nothing.
class ComparingSink final : public BodySink {
 public:
  explicit ComparingSink(ByteView expected) : expected_(expected) {}
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t>) override {
    at_ = 0;
    same_ = true;
    return Ok();
  }
  MutableByteView Window() override { return MutableByteView(window_).first(std::min(window_.size(), expected_.size() - at_)); }
  Result<void> Commit(std::size_t count) override {
    same_ = same_ && std::equal(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(count),
                                expected_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += count;
    return Ok();
  }
  bool same() const { return same_ && at_ == expected_.size(); }

 private:
  const ByteView expected_;
  std::size_t at_ = 0;
  bool same_ = true;
  std::array<std::byte, 64 << 10> window_{};
};

// The CRC an object was stored with, which every append has to bring; "none" for what we do not compute.
std::string AlgorithmOf(const ObjectMetadata& metadata) {
  for (const char* name : {"crc64nvme", "crc32c", "crc32"}) {
    for (const auto& [algorithm, value] : metadata.checksums) {
      if (algorithm == name) return algorithm;
    }
  }
  return "none";
}

}  // namespace

AppendWriter::AppendWriter(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key, AppendOptions options)
    : store_(std::move(store)), bucket_(std::move(bucket)), key_(std::move(key)), options_(std::move(options)) {}

Result<std::unique_ptr<AppendWriter>> AppendWriter::Open(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                                                         AppendOptions options, const Interrupt& interrupt) {
  if (!IsDirectoryBucket(bucket.value)) {
    return Error::Make(ErrorKind::kUnsupported, "appending works in directory buckets (S3 Express One Zone) only, and `" + bucket.value +
                                                    "` is a general purpose bucket; write a new object")
        .At("PutObject", bucket.value, key.value);
  }
  std::unique_ptr<AppendWriter> writer(new AppendWriter(std::move(store), std::move(bucket), std::move(key), std::move(options)));
  HeadObjectRequest head{writer->bucket_, writer->key_, {}, writer->options_.call};
  const Result<ObjectMetadata> now = writer->store_->Call(std::move(head), interrupt);
  if (now.ok()) {
    writer->size_ = now->size;
    writer->etag_ = now->etag;
    writer->checksum_algorithm_ = AlgorithmOf(*now);
  } else if (now.error().kind != ErrorKind::kNotFound || now.error().code == "NoSuchBucket") {
    return now.error();
  }
  return writer;
}

Result<void> AppendWriter::Append(ByteView data, const Interrupt& interrupt) {
  if (lost_) {
    return Error::Make(ErrorKind::kConflict, "an earlier append left open what the object holds; open another writer, and look at its size")
        .At("PutObject", bucket_.value, key_.value);
  }
  if (data.empty()) return Ok();
  transfer::PartBody body = transfer::PartBody::Of(data);
  PutObjectRequest request;
  request.bucket = bucket_;
  request.key = key_;
  request.body = &body;
  request.if_match = etag_;
  request.options = options_.call;
  request.write_offset = size_;
  request.checksum_algorithm = checksum_algorithm_;
  Result<PutObjectResponse> put = store_->Call(std::move(request), interrupt);
  if (!put.ok()) return Resolve(data, std::move(put).error(), interrupt);
  const std::uint64_t expected = size_ + data.size();
  if (put->object_size.value_or(expected) != expected) {
    return Lost(Error::Make(ErrorKind::kDataLoss, "the object has " + std::to_string(*put->object_size) + " bytes after an append that ends at " +
                                                      std::to_string(expected))
                    .At("PutObject", bucket_.value, key_.value));
  }
  size_ = expected;
  etag_ = std::move(put->etag);
  return Ok();
}

// `error`, now that nobody knows what the object holds.
Error AppendWriter::Lost(Error error) {
  lost_ = true;
  error.message += " (whether these bytes were appended is not known; open another writer, and look at its size)";
  return error;
}

// After `error`: success where `data` is in the object after all; else the error, and this writer goes on where it was.
Result<void> AppendWriter::Resolve(ByteView data, Error error, const Interrupt& interrupt) {
  // Refused at the first attempt: nothing happened.
  if (!transfer::OutcomeUnknown(error)) return error;
  // Whoever interrupted does not wait to be told how it ended.
  if (error.kind == ErrorKind::kCancelled) return Lost(std::move(error));
  HeadObjectRequest head{bucket_, key_, {}, transfer::CleanupOptions(false)};
  const Result<ObjectMetadata> now = store_->Call(std::move(head), interrupt);
  if (!now.ok() && now.error().kind == ErrorKind::kNotFound && !etag_) return error;  // it was never made
  if (!now.ok()) return Lost(std::move(error));
  if (etag_ && now->etag == *etag_) return error;  // as it was
  const Result<bool> holds = HoldsAtEnd(data, *now, interrupt);
  if (!holds.ok()) return Lost(std::move(error));
  if (!*holds) {
    lost_ = true;
    return Error::Make(ErrorKind::kConflict, "the object has changed under this writer: it had " + std::to_string(size_) +
                                                 " bytes and has " + std::to_string(now->size) +
                                                 ", and these were not appended; open another writer")
        .At("PutObject", bucket_.value, key_.value);
  }
  size_ += data.size();
  etag_ = now->etag;
  return Ok();
}

// Whether the object ends with `data` where this writer put it. The size alone could be another writer's.
Result<bool> AppendWriter::HoldsAtEnd(ByteView data, const ObjectMetadata& now, const Interrupt& interrupt) {
  if (now.size != size_ + data.size()) return false;
  const auto sink = std::make_unique<ComparingSink>(data);
  GetObjectRequest get;
  get.bucket = bucket_;
  get.key = key_;
  get.range = RangeRequest{.begin = size_, .end = now.size, .suffix = {}};
  get.if_match = now.etag;
  get.sink = sink.get();
  get.options = transfer::CleanupOptions(false);
  PENSTOCK_TRY(store_->Call(std::move(get), interrupt));
  return sink->same();
}

}  // namespace penstock
