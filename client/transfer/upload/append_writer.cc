#include "penstock/append_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/digest.h"
#include "client/transfer/upload/part_body.h"
#include "client/transfer/upload/settle.h"
#include "penstock/bucket_kind.h"

namespace penstock {
namespace {

// Compares what arrives with what should be there, and keeps nothing.
class ComparingSink final : public BodySink {
 public:
  explicit ComparingSink(ByteView expected) : expected_(expected) {}
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t>) override {
    at_ = 0;
    same_ = 0;
    return Ok();
  }
  MutableByteView Window() override {
    return MutableByteView(window_).first(std::min(window_.size(), expected_.size() - at_));
  }
  Result<void> Commit(std::size_t count) override {
    if (same_ == at_) {
      const ByteView arrived = ByteView(window_).first(count);
      same_ += static_cast<std::size_t>(
          std::ranges::mismatch(arrived, expected_.subspan(at_, count)).in1 - arrived.begin());
    }
    at_ += count;
    return Ok();
  }
  // How many bytes there are before the first that differs.
  std::size_t same() const { return same_; }

 private:
  const ByteView expected_;
  std::size_t at_ = 0;
  std::size_t same_ = 0;
  std::array<std::byte, 64 << 10> window_{};
};

// S3 refused because the object is not as the writer left it: from then on it refuses all that
// stands on that condition.
bool SaysChanged(const Error& error) {
  return error.kind == ErrorKind::kPreconditionFailed || error.code == "InvalidWriteOffset" ||
         error.code == "NoSuchKey";
}

// S3 counts each append and each part of an upload, and a copy as one. Not done here: whoever
// appends while an object is copied and put in its place would lose it.
void ExplainLimit(Error& error) {
  if (error.code != "TooManyParts") return;
  error.message +=
      " (the object is made of 10,000 appends and parts, the most S3 takes: go on in another "
      "object; or, while "
      "nobody else appends, copy it to another key, which makes it one piece, rename that over it "
      "and open another "
      "writer; and append more at a time)";
}

// The CRC an object was stored with, which every append has to bring; "none" for what we do not
// compute.
std::string AlgorithmOf(const ObjectMetadata& metadata) {
  for (const char* name : {"crc64nvme", "crc32c", "crc32"}) {
    for (const auto& [algorithm, value] : metadata.checksums) {
      if (algorithm == name) return algorithm;
    }
  }
  return "none";
}

}  // namespace

AppendWriter::AppendWriter(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                           AppendOptions options)
    : store_(std::move(store)),
      bucket_(std::move(bucket)),
      key_(std::move(key)),
      options_(std::move(options)) {}

Result<std::unique_ptr<AppendWriter>> AppendWriter::Open(std::shared_ptr<ObjectStore> store,
                                                         BucketName bucket, ObjectKey key,
                                                         AppendOptions options,
                                                         const Interrupt& interrupt) {
  if (!IsDirectoryBucket(bucket.value)) {
    return Error::Make(ErrorKind::kUnsupported,
                       "appending works in directory buckets (S3 Express One Zone) only, and `" +
                           bucket.value + "` is a general purpose bucket; write a new object")
        .At("PutObject", bucket.value, key.value);
  }
  std::unique_ptr<AppendWriter> writer(
      new AppendWriter(std::move(store), std::move(bucket), std::move(key), std::move(options)));
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
  PENSTOCK_TRY(CheckTriedAgain(data));
  // Twice at the most: after a try that had arrived comes what was written since.
  while (!data.empty()) {
    if (!ended_.empty()) return Ended();
    Result<PutObjectResponse> put = Put(data, interrupt);
    if (put.ok()) return Take(data.size(), *std::move(put));
    PENSTOCK_ASSIGN(const std::uint64_t arrived, Settle(data, std::move(put).error(), interrupt));
    data = data.subspan(arrived);
  }
  return Ok();
}

Result<PutObjectResponse> AppendWriter::Put(ByteView data, const Interrupt& interrupt) {
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
  if (!put.ok()) ExplainLimit(put.error());
  return put;
}

// `count` bytes were appended, by the latest request and no other.
Result<void> AppendWriter::Take(std::uint64_t count, PutObjectResponse response) {
  tries_.clear();
  const std::uint64_t expected = size_ + count;
  if (response.object_size.value_or(expected) != expected) {
    ended_ =
        "an earlier append left open what the object holds; open another writer, and look at its "
        "size";
    return Error::Make(ErrorKind::kDataLoss,
                       "the object has " + std::to_string(*response.object_size) +
                           " bytes after an append that ends at " + std::to_string(expected) +
                           " (whether these bytes were appended is not known; open another writer, "
                           "and look at its size)")
        .At("PutObject", bucket_.value, key_.value);
  }
  size_ = expected;
  etag_ = std::move(response.etag);
  return Ok();
}

// What may arrive yet must not be taken for something else.
Result<void> AppendWriter::CheckTriedAgain(ByteView data) const {
  const std::uint64_t tried = unsettled_bytes();
  if (tried == 0 || data.empty()) return Ok();
  if (data.size() >= tried && Sha256(data.first(tried)) == tried_) return Ok();
  return Error::Make(
             ErrorKind::kInvalidArgument,
             "an append of " + std::to_string(tried) + " bytes at " + std::to_string(size_) +
                 " is unsettled, and these " + std::to_string(data.size()) +
                 " bytes do not begin with it; begin with the same bytes, or open another writer")
      .At("PutObject", bucket_.value, key_.value);
}

void AppendWriter::NoteTry(ByteView data) {
  if (unsettled_bytes() == data.size()) return;
  tries_.push_back(data.size());
  tried_ = Sha256(data);
}

Error AppendWriter::Ended() const {
  return Error::Make(ErrorKind::kConflict, ended_).At("PutObject", bucket_.value, key_.value);
}

// Ends this writer: `now` says what the object is like.
Error AppendWriter::Changed(Error error, std::string_view now) {
  tries_.clear();
  ended_ = "the object, which had " + std::to_string(size_) + " bytes" + std::string(now) +
           ", has changed under this writer; open another writer";
  Error changed = Ended();
  changed.message += " (these bytes are not in it)";
  if (!SaysChanged(error)) return changed;
  error.message = std::move(changed.message);
  if (error.kind != ErrorKind::kPreconditionFailed) error.kind = ErrorKind::kConflict;
  return error;
}

// `error`, which leaves open what became of the tries.
Error AppendWriter::Unsettled(Error error) const {
  error.message += " (" + std::to_string(unsettled_bytes()) + " bytes behind the first " +
                   std::to_string(size_) +
                   " may have been appended or may still arrive; the next append of this writer "
                   "settles it, and none is appended twice)";
  return error;
}

// After `error`: how many of the first bytes of `data` are in the object after all, at least one;
// else the error.
Result<std::uint64_t> AppendWriter::Settle(ByteView data, Error error, const Interrupt& interrupt) {
  const bool unknown = transfer::OutcomeUnknown(error);
  const bool changed = SaysChanged(error);
  if (unknown) NoteTry(data);
  if (tries_.empty()) return changed ? Changed(std::move(error), "") : std::move(error);
  // Whoever interrupted does not wait to be told how it ended; another refusal says nothing of the
  // tries before.
  if (error.kind == ErrorKind::kCancelled || (!unknown && !changed))
    return Unsettled(std::move(error));
  HeadObjectRequest head{bucket_, key_, {}, transfer::CleanupOptions(false)};
  const Result<ObjectMetadata> now = store_->Call(std::move(head), interrupt);
  if (!now.ok()) {
    const bool gone =
        now.error().kind == ErrorKind::kNotFound && now.error().code != "NoSuchBucket";
    if (gone && etag_) return Changed(std::move(error), " and is gone");
    return Unsettled(now.error().kind == ErrorKind::kCancelled ? now.error() : std::move(error));
  }
  // As it was. What is to make the object may also follow an empty one.
  if (etag_ ? now->etag == *etag_ : now->size == 0) return Unsettled(std::move(error));
  const Result<std::uint64_t> arrived = Arrived(data, *now, interrupt);
  if (!arrived.ok())
    return Unsettled(arrived.error().kind == ErrorKind::kCancelled ? arrived.error()
                                                                   : std::move(error));
  const std::string sizes = " and has " + std::to_string(now->size);
  if (*arrived == 0) return Changed(std::move(error), sizes);
  size_ += *arrived;
  etag_ = now->etag;
  tries_.clear();
  // after it another writer appended
  if (now->size != size_) static_cast<void>(Changed(std::move(error), sizes));
  return *arrived;
}

// The length of the longest try that the object has where it belongs; 0: none. The size alone could
// be another writer's.
Result<std::uint64_t> AppendWriter::Arrived(ByteView data, const ObjectMetadata& now,
                                            const Interrupt& interrupt) const {
  const std::uint64_t end = std::min(now.size, size_ + unsettled_bytes());
  if (end <= size_) return std::uint64_t{0};
  const auto sink = std::make_unique<ComparingSink>(data.first(end - size_));
  GetObjectRequest get;
  get.bucket = bucket_;
  get.key = key_;
  get.range = RangeRequest{.begin = size_, .end = end, .suffix = {}};
  get.if_match = now.etag;
  get.sink = sink.get();
  get.options = transfer::CleanupOptions(false);
  PENSTOCK_TRY(store_->Call(std::move(get), interrupt));
  const auto beyond = std::ranges::upper_bound(tries_, sink->same());
  return beyond == tries_.begin() ? std::uint64_t{0} : *std::prev(beyond);
}

}  // namespace penstock
