#include "client/transfer/multipart_upload.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "client/transfer/memory_source.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/settle.h"

namespace penstock::transfer {
namespace {

constexpr std::chrono::milliseconds kPoll{100};
constexpr int kCompleteTries = 2;  // each with the client's own retries inside
constexpr int kAbortTries = 4;
constexpr int kRemovalsUnasked = 1;
constexpr int kRemovalsByAbort = 2;

}  // namespace

MultipartUpload::MultipartUpload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                                 UploadOptions options, std::uint64_t in_flight_limit_bytes)
    : store_(std::move(store)),
      bucket_(std::move(bucket)),
      key_(std::move(key)),
      options_(std::move(options)),
      in_flight_limit_bytes_(in_flight_limit_bytes),
      stop_(options_.call.cancel),
      progress_(options_.progress) {}

MultipartUpload::~MultipartUpload() {
  const Result<void> ignored = GiveUp(kRemovalsUnasked);  // nobody is left to tell
  static_cast<void>(ignored);
}

Result<void> MultipartUpload::Create(const Interrupt& interrupt) {
  PENSTOCK_CHECK(!upload_id_ && last_part_number_ == 0);
  if (failed_) return *failed_;
  CreateMultipartUploadRequest request;
  request.bucket = bucket_;
  request.key = key_;
  request.attributes = options_.attributes;
  request.options = options_.call;
  Result<CreateMultipartUploadResponse> created = store_->Call(std::move(request), interrupt);
  if (!created.ok()) return Fail(std::move(created).error());
  upload_id_ = std::move(created->upload_id);
  return Ok();
}

Result<void> MultipartUpload::Send(ByteView data, std::function<void()> released, const Interrupt& interrupt) {
  Result<void> room = failed_ ? Result<void>(*failed_) : WaitForRoom(data.size(), interrupt);
  if (room.ok() && last_part_number_ == kMaxParts) {
    room = Fail(Error::Make(ErrorKind::kInvalidArgument,
                            "the object needs more than 10,000 parts: use a larger part_size_bytes or size_hint_bytes")
                    .At("UploadPart", bucket_.value, key_.value));
  }
  if (!room.ok()) {
    released();
    return room;
  }
  {
    const MutexLock lock(mutex_);
    ++in_flight_;
    in_flight_bytes_ += data.size();
  }
  sent_bytes_ += data.size();
  auto source = std::make_shared<MemorySource>(data, &progress_);
  UploadPartRequest request;
  request.bucket = bucket_;
  request.key = key_;
  request.upload_id = *upload_id_;
  request.part_number = ++last_part_number_;
  request.body = source.get();
  request.options = options_.call;
  request.options.cancel = stop_.token();
  const int number = request.part_number;
  store_->Start(std::move(request), [this, source, number, size = data.size(),
                                     released = std::move(released)](Result<CompletedPart> result) {
    if (result.ok()) result->part_number = number;
    released();
    PartEnded(size, std::move(result));
  });
  return Ok();
}

void MultipartUpload::PartEnded(std::uint64_t size, Result<CompletedPart> result) {
  const bool failed = !result.ok();
  if (failed) {
    const MutexLock lock(mutex_);
    stray_part_possible_ = stray_part_possible_ || OutcomeUnknown(result.error());
    if (!part_error_) part_error_ = std::move(result).error();
  }
  // The others are of no use any more. Only now: the cancellations they end with are not what went wrong.
  if (failed) stop_.RequestStop();
  const MutexLock lock(mutex_);
  if (!failed) parts_.push_back(std::move(result).value());
  // Under the lock to the end: once in_flight_ is zero and the lock free, the upload may be gone.
  --in_flight_;
  in_flight_bytes_ -= size;
  changed_.NotifyAll();
}

Result<void> MultipartUpload::WaitForRoom(std::uint64_t size, const Interrupt& interrupt) {
  for (;;) {
    std::optional<Error> error;
    {
      const MutexLock lock(mutex_);
      const auto free = [&]() PENSTOCK_REQUIRES(mutex_) {
        return in_flight_ == 0 || (in_flight_ < options_.max_parallel_parts &&
                                   in_flight_bytes_ + size <= in_flight_limit_bytes_);
      };
      if (!part_error_ && !free()) changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
      if (!part_error_ && free()) return Ok();
      error = part_error_;
    }
    if (error) return Fail(std::move(*error));
    if (interrupt && interrupt()) {
      return Fail(Error::Make(ErrorKind::kCancelled, "the upload was interrupted")
                      .At("UploadPart", bucket_.value, key_.value));
    }
  }
}

Result<void> MultipartUpload::WaitForParts(const Interrupt& interrupt) {
  for (;;) {
    std::optional<Error> error;
    {
      const MutexLock lock(mutex_);
      if (in_flight_ > 0 && !part_error_) changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
      if (in_flight_ == 0 && !part_error_) return Ok();
      error = part_error_;
    }
    if (error) return Fail(std::move(*error));
    if (interrupt && interrupt()) {
      return Fail(Error::Make(ErrorKind::kCancelled, "the upload was interrupted")
                      .At("CompleteMultipartUpload", bucket_.value, key_.value));
    }
  }
}

Result<PutObjectResponse> MultipartUpload::TryComplete(const std::vector<CompletedPart>& parts,
                                                       const Interrupt& interrupt) {
  for (int tried = 1;; ++tried) {
    CompleteMultipartUploadRequest request;
    request.bucket = bucket_;
    request.key = key_;
    request.upload_id = *upload_id_;
    request.parts = parts;
    request.object_size = sent_bytes_;
    request.if_none_match_any = options_.if_none_match_any;
    request.options = options_.call;
    Result<PutObjectResponse> result = store_->Call(std::move(request), interrupt);
    if (result.ok()) return result;
    // S3 answers a repeated Complete of a completed upload with success (spec §2.11), so asking again is safe.
    const ErrorKind kind = result.error().kind;
    const bool again = kind == ErrorKind::kUnavailable || kind == ErrorKind::kDataLoss || kind == ErrorKind::kInternal;
    if (!again || tried == kCompleteTries) return result;
  }
}

Result<UploadResponse> MultipartUpload::Complete(const Interrupt& interrupt) {
  if (failed_) return *failed_;
  PENSTOCK_TRY(WaitForParts(interrupt));
  std::vector<CompletedPart> parts;
  {
    const MutexLock lock(mutex_);
    parts = parts_;
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.part_number < b.part_number; });
  Result<PutObjectResponse> result = TryComplete(parts, interrupt);
  if (result.ok()) {
    upload_id_.reset();
    progress_.Finish(sent_bytes_);
    return UploadResponse{result->etag, sent_bytes_};
  }
  // An upload that is gone may be gone because an earlier, unanswered Complete published it.
  const bool unknown = OutcomeUnknown(result.error()) || result.error().kind == ErrorKind::kNotFound;
  // The abort comes first: after it S3 has decided, and what the key holds is final.
  Error error = Fail(std::move(result).error());
  if (!unknown) return error;
  const std::optional<ETag> etag = MultipartETag(parts);
  // Whoever interrupted waits for one limit, not for two.
  const CallOptions cleanup = interrupted_ ? cleanup_ : CleanupOptions(false);
  if (etag && IsPublished(*store_, bucket_, key_, *etag, sent_bytes_, cleanup)) {
    failed_.reset();
    upload_id_.reset();
    progress_.Finish(sent_bytes_);
    return UploadResponse{*etag, sent_bytes_};
  }
  return error;
}

Error MultipartUpload::Fail(Error error) {
  interrupted_ = error.kind == ErrorKind::kCancelled;
  failed_ = std::move(error);
  const Result<void> ignored = GiveUp(kRemovalsUnasked);  // the first error is the one to report
  static_cast<void>(ignored);
  return *failed_;
}

Result<void> MultipartUpload::Abort() { return GiveUp(kRemovalsByAbort); }

Result<void> MultipartUpload::GiveUp(int removals_allowed) {
  stop_.RequestStop();
  {
    const MutexLock lock(mutex_);
    while (in_flight_ > 0) changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
  }
  if (!upload_id_) return Ok();
  if (!failed_) {
    failed_ = Error::Make(ErrorKind::kCancelled, "the upload was aborted").At("UploadPart", bucket_.value, key_.value);
  }
  if (removals_ >= removals_allowed) return removed_;
  ++removals_;
  cleanup_ = CleanupOptions(interrupted_);
  removed_ = RemoveParts(cleanup_);
  if (removed_.ok()) upload_id_.reset();
  return removed_;
}

// `cleanup`: one time limit over all tries.
Result<void> MultipartUpload::RemoveParts(const CallOptions& cleanup) {
  Result<void> last = Ok();
  for (int tried = 0; tried < kAbortTries; ++tried) {
    AbortMultipartUploadRequest abort;
    abort.bucket = bucket_;
    abort.key = key_;
    abort.upload_id = *upload_id_;
    abort.options = cleanup;
    const Result<NoResponse> aborted = store_->Call(std::move(abort));
    if (!aborted.ok()) {
      if (aborted.error().kind == ErrorKind::kNotFound) return Ok();
      last = aborted.error();
      continue;
    }
    last = Ok();
    {
      const MutexLock lock(mutex_);
      if (!stray_part_possible_) return last;
    }
    // A part that raced with the abort may still have been stored: abort until the upload is gone (spec §2.11).
    ListPartsRequest list;
    list.bucket = bucket_;
    list.key = key_;
    list.upload_id = *upload_id_;
    list.options = cleanup;
    const Result<ListPartsResponse> parts = store_->Call(std::move(list));
    if (!parts.ok()) return last;
  }
  return last;
}

}  // namespace penstock::transfer
