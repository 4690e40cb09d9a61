#include "penstock/append_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/crc/named_crc.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/missing.h"
#include "client/transfer/upload/part_body.h"
#include "client/transfer/upload/upload_outcome.h"
#include "penstock/bucket_kind.h"

namespace penstock {
namespace {

constexpr int kMaxReadings = 3;

// What a read of a range returned.
struct Reading {
  std::size_t same = 0;   // Number of bytes before the first difference from the expected ones.
  std::uint64_t crc = 0;  // CRC64NVME of all bytes.

  friend bool operator==(const Reading&, const Reading&) = default;
};

// Compares received bytes with the expected ones and stores nothing.
class ComparingSink final : public BodySink {
 public:
  explicit ComparingSink(ByteView expected) : expected_(expected) {}
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t>) override {
    at_ = 0;
    reading_ = {};
    return Ok();
  }
  MutableByteView Window() override {
    return MutableByteView(window_).first(std::min(window_.size(), expected_.size() - at_));
  }
  Result<void> Commit(std::size_t count) override {
    const ByteView arrived = ByteView(window_).first(count);
    if (reading_.same == at_) {
      reading_.same += static_cast<std::size_t>(
          std::ranges::mismatch(arrived, expected_.subspan(at_, count)).in1 - arrived.begin());
    }
    reading_.crc = UpdateCrc(Crc::kCrc64Nvme, arrived, reading_.crc);
    at_ += count;
    return Ok();
  }
  Reading reading() const { return reading_; }

 private:
  const ByteView expected_;
  std::size_t at_ = 0;
  Reading reading_;
  std::array<std::byte, 64 << 10> window_{};
};

// The response to a HEAD request reports that the object does not exist.
bool IsGone(const Error& error) {
  return error.kind == ErrorKind::kNotFound && !IsMissingBucket(error);
}

// S3 rejected the request because the object differs from the writer's state. It will reject every
// later request with that condition too.
bool SaysChanged(const Error& error) {
  return error.kind == ErrorKind::kPreconditionFailed || error.code == "InvalidWriteOffset" ||
         IsMissingKey(error);
}

// S3 counts each append, each part of an upload, and a copy as one part. The writer does not copy
// the object itself, because a concurrent append of another writer would be lost.
void ExplainLimit(Error& error) {
  if (error.code != "TooManyParts") return;
  error.message +=
      " (the object has 10,000 appends and parts, the maximum of S3: continue in another object; "
      "or, "
      "while no other writer appends, copy it to another key, which makes it one part, rename the "
      "copy to this key and open another writer; and append more bytes at a time)";
}

// Returns the CRC that the object was stored with, which every append must have. Returns "none" if
// this client cannot compute it.
std::string AlgorithmOf(const ObjectMetadata& metadata) {
  for (const char* name : {"crc64nvme", "crc32c", "crc32"}) {
    for (const auto& [algorithm, value] : metadata.checksums) {
      if (algorithm == name) return algorithm;
    }
  }
  return "none";
}

// Returns the CRC that an object with this algorithm has. Empty: a new object, for which the client
// and S3 choose CRC64NVME.
Crc CrcOf(const std::string& algorithm) {
  return FindCrc({{algorithm.empty() ? "crc64nvme" : algorithm, {}}}).crc;
}

// Returns the number that CrcText writes.
std::optional<std::uint64_t> ParseCrc(const std::string& text) {
  const std::optional<std::string> raw = Base64Decode(text);
  if (!raw || raw->size() > sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : *raw) value = value << 8 | static_cast<unsigned char>(c);
  return value;
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
    writer->crc_ = ParseCrc(FindCrc(now->checksums).expected);
  } else if (IsGone(now.error())) {
    writer->crc_ = 0;
  } else {
    return now.error();
  }
  return writer;
}

Result<void> AppendWriter::Append(ByteView data, const Interrupt& interrupt) {
  if (ended_.empty()) PENSTOCK_TRY(CheckTriedAgain(data));
  // At most two rounds: if an earlier attempt had arrived, the second round appends the rest.
  while (!data.empty()) {
    if (!ended_.empty()) return Ended();
    Result<PutObjectResponse> put = Put(data, interrupt);
    if (put.ok()) return Take(data, *std::move(put));
    PENSTOCK_ASSIGN(const std::uint64_t arrived,
                    ResolveOutcome(data, std::move(put).error(), interrupt));
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

// The latest request, and no other, appended `data`.
Result<void> AppendWriter::Take(ByteView data, PutObjectResponse response) {
  const std::uint64_t expected = size_ + data.size();
  if (response.object_size.value_or(expected) != expected) {
    ended_ = "the outcome of an earlier append is unknown; open another writer, and check its size";
    tries_.assign(1, data.size());
    return Error::Make(
               ErrorKind::kDataLoss,
               "the object has " + std::to_string(*response.object_size) +
                   " bytes after an append that ends at " + std::to_string(expected) +
                   " (it is unknown whether these bytes were appended; open another writer, "
                   "and check its size)")
        .At("PutObject", bucket_.value, key_.value);
  }
  Advance(data, std::move(response.etag));
  return Ok();
}

// The object has these bytes at size_, and then this ETag.
void AppendWriter::Advance(ByteView data, ETag etag) {
  tries_.clear();
  if (crc_) crc_ = UpdateCrc(CrcOf(checksum_algorithm_), data, *crc_);
  size_ += data.size();
  etag_ = std::move(etag);
}

// An unsettled append may still arrive, so new data must start with the same bytes.
Result<void> AppendWriter::CheckTriedAgain(ByteView data) const {
  const std::uint64_t tried = unsettled_bytes();
  if (tried == 0 || data.empty()) return Ok();
  if (data.size() >= tried && Sha256(data.first(tried)) == tried_) return Ok();
  return Error::Make(
             ErrorKind::kInvalidArgument,
             "an append of " + std::to_string(tried) + " bytes at " + std::to_string(size_) +
                 " has an unknown outcome, and these " + std::to_string(data.size()) +
                 " bytes do not start with it; begin with the same bytes, or open another writer")
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

// Ends this writer. `now` describes the current state of the object; empty: it was not read.
Error AppendWriter::Changed(Error error, std::string_view now) {
  tries_.clear();
  ended_ = "the object, which had " + std::to_string(size_) + " bytes" + std::string(now) +
           ", has changed under this writer; open another writer";
  Error changed = Ended();
  changed.message += now.empty()
                         ? " (S3 refused these bytes; if a proxy sent the request twice, they "
                           "are in it: read its end before you append them again)"
                         : " (these bytes are not in it)";
  if (!SaysChanged(error)) return changed;
  error.message = std::move(changed.message);
  if (error.kind != ErrorKind::kPreconditionFailed) error.kind = ErrorKind::kConflict;
  return error;
}

// Returns `error` with a note that the outcome of the attempts is unknown.
Error AppendWriter::Unsettled(Error error) const {
  error.message += " (" + std::to_string(unsettled_bytes()) + " bytes after the first " +
                   std::to_string(size_) +
                   " may have been appended or may still arrive; the next append of this writer "
                   "determines the outcome, and no byte is appended twice)";
  return error;
}

// Called after `error`. Returns how many of the first bytes of `data` are in the object after all,
// at least one; else the error.
Result<std::uint64_t> AppendWriter::ResolveOutcome(ByteView data, Error error,
                                                   const Interrupt& interrupt) {
  const bool unknown = transfer::OutcomeUnknown(error);
  const bool changed = SaysChanged(error);
  if (unknown) NoteTry(data);
  if (tries_.empty()) return changed ? Changed(std::move(error), "") : std::move(error);
  // After an interrupt, the caller does not wait for the outcome. A rejection for another reason
  // gives no information about earlier attempts.
  if (error.kind == ErrorKind::kCancelled || (!unknown && !changed))
    return Unsettled(std::move(error));
  HeadObjectRequest head{bucket_, key_, {}, transfer::CleanupOptions(options_.call, false)};
  const Result<ObjectMetadata> now = store_->Call(std::move(head), interrupt);
  if (!now.ok()) {
    if (IsGone(now.error()) && etag_) return Changed(std::move(error), " and is gone");
    return Unsettled(now.error().kind == ErrorKind::kCancelled ? now.error() : std::move(error));
  }
  // Unchanged. An attempt that would create the object may still arrive if the object is missing or
  // empty.
  if (etag_ ? now->etag == *etag_ : now->size == 0) return Unsettled(std::move(error));
  const Result<std::uint64_t> arrived = Arrived(data, *now, interrupt);
  if (!arrived.ok())
    return Unsettled(arrived.error().kind == ErrorKind::kCancelled ? arrived.error()
                                                                   : std::move(error));
  const std::string sizes = " and has " + std::to_string(now->size);
  if (*arrived == 0) return Changed(std::move(error), sizes);
  Advance(data.first(*arrived), now->etag);
  // Another writer appended after it.
  if (now->size != size_) static_cast<void>(Changed(std::move(error), sizes));
  return *arrived;
}

// Returns whether the object's CRC is that of the bytes before these attempts and of one of them.
bool AppendWriter::ShownByCrc(ByteView data, const ObjectMetadata& now) const {
  if (!crc_ || !std::ranges::binary_search(tries_, now.size - size_)) return false;
  const ExpectedCrc stored = FindCrc(now.checksums);
  const std::uint64_t sent = UpdateCrc(stored.crc, data.first(now.size - size_), *crc_);
  return stored.crc != Crc::kNone && stored.crc == CrcOf(checksum_algorithm_) &&
         CompareCrc(stored, sent).ok();
}

// Returns the length of the longest attempt whose bytes are in the object at the right offset, or
// 0. The size alone could come from another writer. A response to a read of a range has no
// checksum, so a difference counts only if two readings are equal. Returns an error if none are.
Result<std::uint64_t> AppendWriter::Arrived(ByteView data, const ObjectMetadata& now,
                                            const Interrupt& interrupt) const {
  const std::uint64_t end = std::min(now.size, size_ + unsettled_bytes());
  if (end <= size_) return std::uint64_t{0};
  if (ShownByCrc(data, now)) return now.size - size_;
  const auto sink = std::make_unique<ComparingSink>(data.first(end - size_));
  std::vector<Reading> earlier;
  while (earlier.size() < kMaxReadings) {
    GetObjectRequest get;
    get.bucket = bucket_;
    get.key = key_;
    get.range = RangeRequest{.begin = size_, .end = end, .suffix = {}};
    get.if_match = now.etag;
    get.sink = sink.get();
    get.options = transfer::CleanupOptions(options_.call, false);
    PENSTOCK_TRY(store_->Call(std::move(get), interrupt));
    const Reading reading = sink->reading();
    if (reading.same == end - size_ || std::ranges::find(earlier, reading) != earlier.end()) {
      const auto beyond = std::ranges::upper_bound(tries_, reading.same);
      return beyond == tries_.begin() ? std::uint64_t{0} : *std::prev(beyond);
    }
    earlier.push_back(reading);
    // A cache would return the same bytes again.
    store_->OnMismatch(bucket_, key_, now.etag, now.size);
  }
  return Error::Make(ErrorKind::kDataLoss, "reads of the same range returned different bytes");
}

}  // namespace penstock
