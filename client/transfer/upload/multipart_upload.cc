#include "client/transfer/upload/multipart_upload.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/caught.h"
#include "base/crc/named_crc.h"
#include "client/transfer/upload/late_cleanup.h"
#include "client/transfer/upload/part_plan.h"
#include "client/transfer/upload/settle.h"

namespace penstock::transfer {
namespace {

constexpr std::chrono::milliseconds kPoll{100};
constexpr int kCompleteTries = 2;  // each with the client's own retries inside
constexpr int kAbortTries = 4;
constexpr int kDamagedTries = 3;  // of one part, likewise
constexpr int kRemovalsUnasked = 1;
constexpr int kRemovalsByAbort = 2;
constexpr std::string_view kPart = "the upload of a part";
constexpr std::string_view kProgress = "the progress callback of an upload";

// What is left of an upload at S3, to be removed; owns what that takes.
struct Removal {
  std::shared_ptr<ObjectStore> store;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  bool stray_part_possible = false;  // a part may still arrive at S3 after it failed here
  CallOptions options;               // one time limit over all tries
};

Result<void> RemoveParts(const Removal& removal) {
  Result<void> last = Ok();
  for (int tried = 0; tried < kAbortTries; ++tried) {
    AbortMultipartUploadRequest abort;
    abort.bucket = removal.bucket;
    abort.key = removal.key;
    abort.upload_id = removal.upload_id;
    abort.options = removal.options;
    const Result<NoResponse> aborted = removal.store->Call(std::move(abort));
    if (!aborted.ok()) {
      if (aborted.error().kind == ErrorKind::kNotFound) return Ok();
      last = aborted.error();
      continue;
    }
    last = Ok();
    if (!removal.stray_part_possible) return last;
    // A part that raced with the abort may still have been stored: abort until the upload is gone
    // (spec §2.11).
    ListPartsRequest list;
    list.bucket = removal.bucket;
    list.key = removal.key;
    list.upload_id = removal.upload_id;
    list.options = removal.options;
    const Result<ListPartsResponse> parts = removal.store->Call(std::move(list));
    if (!parts.ok()) return last;
  }
  return last;
}

// The same behind the back of whoever interrupted, as far as it takes longer than he waits.
Result<void> RemovePartsSoon(Removal removal) {
  struct Shared {
    Removal removal;
    Result<void> result = Ok();
  };
  auto shared = std::make_shared<Shared>(Shared{std::move(removal)});
  if (RunCleanup([shared] { shared->result = RemoveParts(shared->removal); }, kInterruptedPatience))
    return shared->result;
  return Error::Make(ErrorKind::kTimeout, "the removal of its parts takes longer than " +
                                              std::to_string(kInterruptedPatience.count()) +
                                              " ms, and goes on");
}

}  // namespace

MultipartUpload::MultipartUpload(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                 ObjectKey key, UploadOptions options)
    : store_(std::move(store)),
      bucket_(std::move(bucket)),
      key_(std::move(key)),
      options_(std::move(options)),
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
  keeps_crc_ = created->keeps_crc64nvme;
  return Ok();
}

Result<void> MultipartUpload::Send(PartBody body, const Interrupt& interrupt) {
  if (failed_) return *failed_;
  const std::uint64_t held = body.held_bytes();
  PENSTOCK_TRY(WaitUntil("UploadPart", interrupt, [&]() PENSTOCK_REQUIRES(mutex_) {
    const InFlightLimit most = PlanInFlight(rate_, sent_bytes_, options_);
    return in_flight_ == 0 || (in_flight_ < most.parts && held_bytes_ + held <= most.held_bytes);
  }));
  if (last_part_number_ == kMaxParts) {
    return Fail(
        Error::Make(
            ErrorKind::kInvalidArgument,
            "the object needs more than 10,000 parts: use a larger part size or give a size hint")
            .About("part_size_bytes")
            .At("UploadPart", bucket_.value, key_.value));
  }
  Result<void> started = Caught(kPart, [&] { StartPart(std::move(body), held); });
  // Without that part the object would have a hole.
  if (!started.ok()) return Fail(std::move(started).error());
  return Ok();
}

// An exception leaves it only before the part is in flight.
void MultipartUpload::StartPart(PartBody body, std::uint64_t held) {
  auto flight = std::make_shared<PendingPart>();  // shared with the request's callback
  flight->body = std::move(body);
  flight->body.set_follows_checksum(keeps_crc_);
  flight->body.set_progress(&progress_);
  flight->body.SetInFlight(true);
  flight->number = ++last_part_number_;
  flight->started = std::chrono::steady_clock::now();
  sent_bytes_ += flight->body.size();
  {
    const MutexLock lock(mutex_);
    // For all parts, so that PartEnded needs no memory.
    const auto parts = static_cast<std::size_t>(last_part_number_);
    if (sent_.capacity() < parts) sent_.reserve(2 * parts);
    ++in_flight_;
    borrowing_ += flight->body.borrows() ? 1 : 0;
    held_bytes_ += held;
  }
  Result<void> launched = Caught(kPart, [&] { Launch(flight); });
  if (!launched.ok()) PartEnded(*flight, std::move(launched).error());
}

// An exception leaves it only before the store takes the request.
void MultipartUpload::Launch(const std::shared_ptr<PendingPart>& flight) {
  flight->body.Rewind();
  UploadPartRequest request;
  request.bucket = bucket_;
  request.key = key_;
  request.upload_id = *upload_id_;
  request.part_number = flight->number;
  request.body = &flight->body;
  request.options = options_.call;
  request.options.cancel = stop_.token();
  store_->Start(std::move(request), [this, flight](Result<CompletedPart> result) {
    OnAnswer(flight, std::move(result));
  });
}

void MultipartUpload::OnAnswer(const std::shared_ptr<PendingPart>& flight,
                               Result<CompletedPart> result) {
  bool sent_again = false;
  Result<void> checked = Caught(kPart, [&]() -> Result<void> {
    if (!result.ok() || !keeps_crc_ || result->checksum_crc64nvme.empty()) return Ok();
    const std::string ours = CrcText(Crc::kCrc64Nvme, flight->body.Crc());
    if (ours == result->checksum_crc64nvme) return Ok();
    if (++flight->times_damaged < kDamagedTries) {
      Launch(flight);
      sent_again = true;
      return Ok();
    }
    return Error::Make(ErrorKind::kDataLoss,
                       "part " + std::to_string(flight->number) + " arrived damaged " +
                           std::to_string(kDamagedTries) + " times: its CRC64NVME is " + ours +
                           ", but the service received " + result->checksum_crc64nvme)
        .At("UploadPart", bucket_.value, key_.value);
  });
  if (sent_again) return;
  if (!checked.ok()) result = std::move(checked).error();
  PartEnded(*flight, std::move(result));
}

void MultipartUpload::PartEnded(PendingPart& flight, Result<CompletedPart> result) {
  const bool failed = !result.ok();
  if (failed) {
    const MutexLock lock(mutex_);
    stray_part_possible_ = stray_part_possible_ || OutcomeUnknown(result.error());
    if (!part_error_) part_error_ = std::move(result).error();
  }
  // The others are of no use any more. Only now: the cancellations they end with are not what went
  // wrong.
  if (failed) stop_.RequestStop();
  const std::uint64_t held = flight.body.held_bytes();
  const bool borrowed = flight.body.borrows();
  Sent sent;
  if (!failed) {
    sent = {std::move(result).value(), flight.body.size(), keeps_crc_ ? flight.body.Crc() : 0};
    sent.part.part_number = flight.number;
  }
  flight.body = PartBody();  // whoever waits for memory need not wait for the lock
  const MutexLock lock(mutex_);
  if (!failed) {
    Measure(flight.started, sent.size);
    sent_.push_back(std::move(sent));
  }
  // Under the lock to the end: once in_flight_ is zero and the lock free, the upload may be gone.
  --in_flight_;
  borrowing_ -= borrowed ? 1 : 0;
  held_bytes_ -= held;
  changed_.NotifyAll();
}

void MultipartUpload::Measure(std::chrono::steady_clock::time_point started, std::uint64_t bytes) {
  const PartRate part{bytes, std::chrono::steady_clock::now() - started};
  // Each counts for as much as all before it: connections get faster, and networks slower.
  if (!rate_) rate_ = PartRate{};
  rate_ = PartRate{(rate_->bytes + part.bytes) / 2, (rate_->elapsed + part.elapsed) / 2};
}

InFlightLimit MultipartUpload::limit() const {
  const MutexLock lock(mutex_);
  return PlanInFlight(rate_, sent_bytes_, options_);
}

// Until `ready`, asked under the lock, or a part fails, or the interrupt says so; the last two are
// failures.
template <class Ready>
Result<void> MultipartUpload::WaitUntil(const char* operation, const Interrupt& interrupt,
                                        Ready ready) {
  for (;;) {
    std::optional<Error> error;
    {
      const MutexLock lock(mutex_);
      if (!part_error_ && !ready())
        changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPoll);
      if (!part_error_ && ready()) return Ok();
      error = part_error_;
    }
    if (error) return Fail(std::move(*error));
    if (interrupt && interrupt()) {
      return Fail(Error::Make(ErrorKind::kCancelled, "the upload was interrupted")
                      .At(operation, bucket_.value, key_.value));
    }
  }
}

Result<void> MultipartUpload::WaitForBorrowed(const Interrupt& interrupt) {
  if (failed_) return *failed_;
  return WaitUntil("UploadPart", interrupt,
                   [&]() PENSTOCK_REQUIRES(mutex_) { return borrowing_ == 0; });
}

// In order; also combines their CRCs.
std::vector<CompletedPart> MultipartUpload::TakeParts() {
  const MutexLock lock(mutex_);
  std::sort(sent_.begin(), sent_.end(),
            [](const Sent& a, const Sent& b) { return a.part.part_number < b.part.part_number; });
  std::vector<CompletedPart> parts;
  std::uint64_t crc = 0;
  for (const Sent& sent : sent_) {
    parts.push_back(sent.part);
    crc = CombineCrc(Crc::kCrc64Nvme, crc, sent.crc, sent.size);
  }
  if (keeps_crc_) crc_ = crc;
  return parts;
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
    request.if_match = options_.if_match;
    request.if_none_match_any = options_.if_none_match_any;
    request.options = options_.call;
    request.crc64nvme = crc_;
    Result<PutObjectResponse> result = store_->Call(std::move(request), interrupt);
    if (result.ok()) return result;
    // S3 answers a repeated Complete of a completed upload with success (spec §2.11), so asking
    // again is safe.
    const ErrorKind kind = result.error().kind;
    const bool again = kind == ErrorKind::kUnavailable || kind == ErrorKind::kDataLoss ||
                       kind == ErrorKind::kInternal;
    if (!again || tried == kCompleteTries) return result;
  }
}

Result<UploadResponse> MultipartUpload::Complete(const Interrupt& interrupt) {
  if (failed_) return *failed_;
  PENSTOCK_TRY(WaitUntil("CompleteMultipartUpload", interrupt,
                         [&]() PENSTOCK_REQUIRES(mutex_) { return in_flight_ == 0; }));
  const std::vector<CompletedPart> parts = TakeParts();
  Result<PutObjectResponse> result = TryComplete(parts, interrupt);
  if (result.ok()) {
    upload_id_.reset();
    // published, whatever the callback does
    Contain(kProgress, [&] { progress_.Finish(sent_bytes_); });
    return UploadResponse{result->etag, sent_bytes_};
  }
  // An upload that is gone may be gone because an earlier, unanswered Complete published it.
  const bool unknown =
      OutcomeUnknown(result.error()) || result.error().kind == ErrorKind::kNotFound;
  // The abort comes first: after it S3 has decided, and what the key holds is final.
  Error error = Fail(std::move(result).error());
  // Whoever interrupted does not wait to be told how it ended.
  if (!unknown || interrupted_) return error;
  const Fingerprint ours{sent_bytes_, MultipartETag(parts), crc_};
  if (std::optional<ETag> etag =
          FindPublished(*store_, bucket_, key_, ours, CleanupOptions(false))) {
    failed_.reset();
    upload_id_.reset();
    // published, whatever the callback does
    Contain(kProgress, [&] { progress_.Finish(sent_bytes_); });
    return UploadResponse{*std::move(etag), sent_bytes_};
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

void MultipartUpload::Cancel(Error error) {
  if (failed_) return;
  const Error ignored = Fail(std::move(error));
  static_cast<void>(ignored);
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
    failed_ = Error::Make(ErrorKind::kCancelled, "the upload was aborted")
                  .At("UploadPart", bucket_.value, key_.value);
  }
  if (removals_ >= removals_allowed) return removed_;
  ++removals_;
  Removal removal{store_, bucket_, key_, *upload_id_, false, CleanupOptions(interrupted_)};
  {
    const MutexLock lock(mutex_);
    removal.stray_part_possible = stray_part_possible_;
  }
  removed_ = interrupted_ ? RemovePartsSoon(std::move(removal)) : RemoveParts(removal);
  if (removed_.ok()) upload_id_.reset();
  return removed_;
}

}  // namespace penstock::transfer
