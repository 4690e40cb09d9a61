#include "client/transfer/upload/multipart_upload.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/poll_interrupt.h"
#include "base/crc/named_crc.h"
#include "base/log/caught.h"
#include "client/transfer/late_cleanup.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/upload/upload_outcome.h"
#include "penstock/base/blocking.h"
#include "penstock/base/clock.h"

namespace penstock::transfer {
namespace {

constexpr std::chrono::milliseconds kPoll{100};
constexpr int kCompleteTries = 2;  // each includes the client's own retries
constexpr int kAbortTries = 4;
constexpr int kDamagedTries = 3;  // of one part; each includes the client's own retries
constexpr int kAutomaticRemovals = 1;
constexpr int kRemovalsByAbort = 2;
constexpr const char* kPartChecksum = "crc64nvme";
constexpr std::string_view kPart = "the upload of a part";
constexpr std::string_view kProgress = "the progress callback of an upload";

// Removes the parts of an upload from S3. Owns everything that this needs.
struct Removal {
  std::shared_ptr<ObjectStore> store;
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  bool stray_part_possible = false;  // a failed part may still arrive at S3
  CallOptions options;               // one time limit for all tries
  CustomerKey customer_key;
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
    // S3 may have stored a part that raced with the abort. Abort until the upload is gone (AWS API
    // reference, "AbortMultipartUpload").
    ListPartsRequest list;
    list.bucket = removal.bucket;
    list.key = removal.key;
    list.upload_id = removal.upload_id;
    list.options = removal.options;
    list.customer_key = removal.customer_key;
    const Result<ListPartsResponse> parts = removal.store->Call(std::move(list));
    if (!parts.ok()) return last;
  }
  return last;
}

// Same after an interrupt: if it takes longer than kInterruptedWait, it continues in the
// background.
Result<void> RemovePartsInBackground(Removal removal) {
  struct Shared {
    Removal removal;
    Result<void> result = Ok();
  };
  auto shared = std::make_shared<Shared>(Shared{std::move(removal)});
  if (RunCleanup([shared] { shared->result = RemoveParts(shared->removal); }, kInterruptedWait))
    return shared->result;
  return Error::Make(ErrorKind::kTimeout, "removing the parts takes longer than " +
                                              std::to_string(kInterruptedWait.count()) +
                                              " ms and continues in the background");
}

// A CreateMultipartUpload in progress. Shared by its callback, the caller who waits, and the
// cleanup after the caller has stopped waiting.
struct PendingCreate {
  // Separate: on_response may stop the upload, which locks `mutex`.
  Mutex response_mutex;
  // Null: none, or the caller has stopped waiting.
  std::function<void(const ResponseInfo&)> on_response PENSTOCK_GUARDED_BY(response_mutex);
  Mutex mutex;
  CondVar changed;
  std::optional<Result<CreateMultipartUploadResponse>> result PENSTOCK_GUARDED_BY(mutex);
  std::stop_source stop;

  void Wake() {
    const MutexLock lock(mutex);
    changed.NotifyAll();
  }

  void Responded(const ResponseInfo& info) {
    const MutexLock lock(response_mutex);
    if (on_response) on_response(info);
  }

  // The caller's on_response does not run after this returns.
  void Abandon() {
    std::function<void(const ResponseInfo&)> dropped;
    const MutexLock lock(response_mutex);
    dropped.swap(on_response);
  }

  // Waits until `until` at most, or until Wake. Nullopt: there is no result yet.
  std::optional<Result<CreateMultipartUploadResponse>> WaitUntil(
      std::chrono::steady_clock::time_point until) {
    const MutexLock lock(mutex);
    if (!result) changed.WaitUntil(mutex, until);
    return std::exchange(result, std::nullopt);
  }
};

// Removes the upload that a request makes whose caller does not wait for it any more: a request
// that is cancelled now may still take effect, and its id would be unknown.
void RemoveLateUpload(PendingCreate& pending, Removal removal) {
  using Clock = std::chrono::steady_clock;
  auto until = Clock::now() + kInterruptedCleanupLimit;
  std::optional<Result<CreateMultipartUploadResponse>> created;
  for (int round = 0; round < 2 && !created; ++round) {
    do created = pending.WaitUntil(until);
    while (!created && Clock::now() < until);
    if (created) break;
    pending.stop.request_stop();
    until = Clock::now() + kInterruptedCleanupLimit;
  }
  if (!created || !created->ok()) return;
  removal.upload_id = std::move((*created)->upload_id);
  removal.options = CleanupOptions(removal.options, true);
  const Result<void> ignored = RemoveParts(removal);  // the caller has its error already
  static_cast<void>(ignored);
}

// S3 refused a part without a checksum, because the bucket locks its objects by default.
bool NeedsChecksum(const Error& error) {
  return error.http_status == 400 && error.code == "InvalidRequest" &&
         error.message.find("Object Lock parameters") != std::string::npos;
}

}  // namespace

MultipartUpload::MultipartUpload(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                 ObjectKey key, UploadOptions options)
    : store_(std::move(store)),
      bucket_(std::move(bucket)),
      key_(std::move(key)),
      options_(std::move(options)),
      stop_(options_.call.cancel),
      progress_(options_.progress),
      checksum_algorithm_(options_.attributes.lock.IsSet() ? kPartChecksum : ""),
      parts_need_checksums_(!checksum_algorithm_.empty()) {}

MultipartUpload::~MultipartUpload() {
  // A destructor cannot report an error.
  const Result<void> ignored = GiveUp(kAutomaticRemovals, interrupted_);
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
  request.checksum_algorithm = checksum_algorithm_;
  Result<CreateMultipartUploadResponse> created = CallCreate(std::move(request), interrupt);
  if (!created.ok()) return Fail(std::move(created).error());
  upload_id_ = std::move(created->upload_id);
  keeps_crc_ = created->keeps_crc64nvme;
  return Ok();
}

// Unlike ObjectStore::Call, the request outlives an interrupt, the deadline and operation_timeout
// by kInterruptedCleanupLimit, so that an upload which it makes is removed.
Result<CreateMultipartUploadResponse> MultipartUpload::CallCreate(
    CreateMultipartUploadRequest request, const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("CreateMultipartUpload"));
  const auto pending = std::make_shared<PendingCreate>();
  const Deadline deadline = store_->DeadlineOf(options_.call);
  request.options.grace = kInterruptedCleanupLimit;
  request.options.cancel = pending->stop.get_token();
  if (options_.call.on_response) {
    const MutexLock lock(pending->response_mutex);
    pending->on_response = options_.call.on_response;
    request.options.on_response = [pending](const ResponseInfo& info) { pending->Responded(info); };
  }
  const std::stop_callback wake(stop_.token(), [&pending] { pending->Wake(); });
  store_->Start(std::move(request), [pending](Result<CreateMultipartUploadResponse> result) {
    const MutexLock lock(pending->mutex);
    pending->result.emplace(std::move(result));
    pending->changed.NotifyAll();
  });
  std::optional<Error> error;
  while (!error) {
    const auto poll = std::chrono::steady_clock::now() + kPoll;
    if (auto created = pending->WaitUntil(std::min(poll, deadline.when())))
      return *std::move(created);
    const Result<bool> interrupted = PollInterrupt(interrupt);
    if (!interrupted.ok()) {
      error = interrupted.error();
    } else if (stop_.token().stop_requested() || *interrupted) {
      error = Error::Make(ErrorKind::kCancelled, "the upload was interrupted");
    } else if (deadline.Passed(SystemClock())) {
      error = Error::Make(ErrorKind::kTimeout, "the deadline passed before the upload was created");
    }
  }
  pending->Abandon();
  Removal removal{store_, bucket_, key_, {}, false, {}, customer_key()};
  removal.options = CleanupOptions(options_.call, true);
  RunCleanup([pending, removal] { RemoveLateUpload(*pending, removal); }, kInterruptedWait);
  return std::move(*error).At("CreateMultipartUpload", bucket_.value, key_.value);
}

void MultipartUpload::ReserveFirst() {
  PENSTOCK_CHECK(last_part_number_ == 0);
  last_part_number_ = 1;
}

Result<void> MultipartUpload::SendFirst(PartBody body, const Interrupt& interrupt) {
  return SendAs(1, std::move(body), interrupt);
}

Result<void> MultipartUpload::Send(PartBody body, const Interrupt& interrupt) {
  return SendAs(last_part_number_ + 1, std::move(body), interrupt);
}

Result<void> MultipartUpload::SendAs(int number, PartBody body, const Interrupt& interrupt) {
  if (failed_) return *failed_;
  const std::uint64_t held = body.held_bytes();
  PENSTOCK_TRY(WaitUntil("UploadPart", interrupt, [&]() PENSTOCK_REQUIRES(mutex_) {
    const InFlightLimit most = PlanInFlight(rate_, sent_bytes_, options_);
    return in_flight_ == 0 || (in_flight_ < most.parts && held_bytes_ + held <= most.held_bytes);
  }));
  if (number > kMaxParts) {
    return Fail(
        Error::Make(
            ErrorKind::kInvalidArgument,
            "the object needs more than 10,000 parts: use a larger part size or give a size hint")
            .About("part_size_bytes")
            .At("UploadPart", bucket_.value, key_.value));
  }
  Result<void> started = Caught(kPart, [&] { StartPart(number, std::move(body), held); });
  // Without that part the object would have a gap.
  if (!started.ok()) return Fail(std::move(started).error());
  return Ok();
}

// Throws only before the part is in flight.
void MultipartUpload::StartPart(int number, PartBody body, std::uint64_t held) {
  auto pending = std::make_shared<PendingPart>();  // shared with the request's callback
  pending->body = std::move(body);
  pending->body.set_follows_checksum(keeps_crc_);
  pending->body.set_progress(&progress_);
  pending->body.SetInFlight(true);
  pending->number = number;
  last_part_number_ = std::max(last_part_number_, number);
  pending->started = std::chrono::steady_clock::now();
  sent_bytes_ += pending->body.size();
  {
    const MutexLock lock(mutex_);
    // Reserves memory for all parts, so that PartEnded does not allocate.
    const auto parts = static_cast<std::size_t>(last_part_number_);
    if (sent_.capacity() < parts) sent_.reserve(2 * parts);
    ++in_flight_;
    borrowing_ += pending->body.borrows() ? 1 : 0;
    held_bytes_ += held;
  }
  Result<void> sent = Caught(kPart, [&] { SendRequest(pending); });
  if (!sent.ok()) PartEnded(*pending, std::move(sent).error());
}

// Throws only before the store accepts the request.
void MultipartUpload::SendRequest(const std::shared_ptr<PendingPart>& pending) {
  pending->body.Rewind();
  UploadPartRequest request;
  request.bucket = bucket_;
  request.key = key_;
  request.upload_id = *upload_id_;
  request.part_number = pending->number;
  request.body = &pending->body;
  request.options = options_.call;
  request.options.cancel = stop_.token();
  request.customer_key = customer_key();
  pending->has_checksum = parts_need_checksums_;
  if (pending->has_checksum) request.checksum_algorithm = kPartChecksum;
  store_->Start(std::move(request), [this, pending](Result<CompletedPart> result) {
    OnResponse(pending, std::move(result));
  });
}

void MultipartUpload::OnResponse(const std::shared_ptr<PendingPart>& pending,
                                 Result<CompletedPart> result) {
  bool sent_again = false;
  Result<void> checked = Caught(kPart, [&]() -> Result<void> {
    if (!result.ok() && !pending->has_checksum && NeedsChecksum(result.error())) {
      parts_need_checksums_ = true;
      SendRequest(pending);
      sent_again = true;
      return Ok();
    }
    if (!result.ok() || !keeps_crc_ || result->checksum_crc64nvme.empty()) return Ok();
    const std::string sent = CrcText(Crc::kCrc64Nvme, pending->body.Crc());
    if (sent == result->checksum_crc64nvme) return Ok();
    if (++pending->times_damaged < kDamagedTries && store_->may_repeat()) {
      SendRequest(pending);
      sent_again = true;
      return Ok();
    }
    const int times = pending->times_damaged;
    return Error::Make(ErrorKind::kDataLoss,
                       "part " + std::to_string(pending->number) + " arrived damaged " +
                           (times == 1 ? "once" : std::to_string(times) + " times") +
                           ": its CRC64NVME is " + sent + ", but the service received " +
                           result->checksum_crc64nvme)
        .At("UploadPart", bucket_.value, key_.value);
  });
  if (sent_again) return;
  if (!checked.ok()) result = std::move(checked).error();
  PartEnded(*pending, std::move(result));
}

void MultipartUpload::PartEnded(PendingPart& pending, Result<CompletedPart> result) {
  const bool failed = !result.ok();
  if (failed) {
    const MutexLock lock(mutex_);
    stray_part_possible_ = stray_part_possible_ || OutcomeUnknown(result.error());
    if (!part_error_) part_error_ = std::move(result).error();
  }
  // The other parts are useless now. Cancel them only after part_error_ is set, so that their
  // cancellations do not hide the cause.
  if (failed) stop_.RequestStop();
  const std::uint64_t held = pending.body.held_bytes();
  const bool borrowed = pending.body.borrows();
  SentPart sent;
  if (!failed) {
    sent = {std::move(result).value(), pending.body.size(), keeps_crc_ ? pending.body.Crc() : 0};
    sent.part.part_number = pending.number;
  }
  // Frees the memory before the lock, so that waiters for memory need not wait for it.
  pending.body = PartBody();
  const MutexLock lock(mutex_);
  if (!failed) {
    Measure(pending.started, sent.size);
    sent_.push_back(std::move(sent));
  }
  // Keep the lock until the end: once in_flight_ is zero and the lock is free, the upload may be
  // destroyed.
  --in_flight_;
  borrowing_ -= borrowed ? 1 : 0;
  held_bytes_ -= held;
  changed_.NotifyAll();
}

void MultipartUpload::Measure(std::chrono::steady_clock::time_point started, std::uint64_t bytes) {
  const PartRate part{bytes, std::chrono::steady_clock::now() - started};
  // Exponential moving average with weight 1/2, because connections speed up and networks slow
  // down.
  if (!rate_) rate_ = PartRate{};
  rate_ = PartRate{(rate_->bytes + part.bytes) / 2, (rate_->elapsed + part.elapsed) / 2};
}

InFlightLimit MultipartUpload::limit() const {
  const MutexLock lock(mutex_);
  return PlanInFlight(rate_, sent_bytes_, options_);
}

// Waits until `ready`, which is called under the lock, returns true. Fails if a part fails or the
// interrupt returns true.
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
    const Result<bool> interrupted = PollInterrupt(interrupt);
    if (!interrupted.ok())
      return Fail(Error(interrupted.error()).At(operation, bucket_.value, key_.value));
    if (*interrupted) {
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

// Returns the parts in order. Also combines their CRCs.
std::vector<CompletedPart> MultipartUpload::TakeParts() {
  const MutexLock lock(mutex_);
  std::sort(sent_.begin(), sent_.end(), [](const SentPart& a, const SentPart& b) {
    return a.part.part_number < b.part.part_number;
  });
  std::vector<CompletedPart> parts;
  std::uint64_t crc = 0;
  for (const SentPart& sent : sent_) {
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
    request.customer_key = customer_key();
    request.checksum_algorithm = checksum_algorithm_;
    Result<PutObjectResponse> result = store_->Call(std::move(request), interrupt);
    if (result.ok()) return result;
    // S3 responds to a repeated CompleteMultipartUpload with success (recorded against Amazon S3),
    // so a retry is safe.
    const ErrorKind kind = result.error().kind;
    const bool again = kind == ErrorKind::kUnavailable || kind == ErrorKind::kDataLoss ||
                       kind == ErrorKind::kInternal;
    if (!again || tried == kCompleteTries || !store_->may_repeat()) return result;
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
    // The object is published, even if the callback throws.
    Contain(kProgress, [&] { progress_.Finish(sent_bytes_); });
    return UploadResponse{result->etag, sent_bytes_};
  }
  // If the upload does not exist, an earlier Complete whose response was lost may have published
  // it.
  const bool unknown =
      OutcomeUnknown(result.error()) || result.error().kind == ErrorKind::kNotFound;
  // Abort first: after that, the outcome at S3 is final.
  Error error = Fail(std::move(result).error());
  // After an interrupt, the caller does not wait for the outcome.
  if (!unknown || interrupted_) return error;
  const Fingerprint sent{sent_bytes_, MultipartETag(parts), crc_};
  if (std::optional<ETag> etag = FindPublished(*store_, bucket_, key_, sent, customer_key(),
                                               CleanupOptions(options_.call, false))) {
    failed_.reset();
    upload_id_.reset();
    // The object is published, even if the callback throws.
    Contain(kProgress, [&] { progress_.Finish(sent_bytes_); });
    return UploadResponse{*std::move(etag), sent_bytes_};
  }
  return error;
}

Error MultipartUpload::Fail(Error error) {
  interrupted_ = error.kind == ErrorKind::kCancelled;
  failed_ = std::move(error);
  // The first error is the one to report.
  const Result<void> ignored = GiveUp(kAutomaticRemovals, interrupted_);
  static_cast<void>(ignored);
  return *failed_;
}

void MultipartUpload::Cancel(Error error) {
  if (failed_) return;
  const Error ignored = Fail(std::move(error));
  static_cast<void>(ignored);
}

Result<void> MultipartUpload::Abort() { return GiveUp(kRemovalsByAbort, false); }

Result<void> MultipartUpload::GiveUp(int removals_allowed, bool in_background) {
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
  Removal removal{store_, bucket_, key_, *upload_id_, false, {}, customer_key()};
  removal.options = CleanupOptions(options_.call, in_background);
  {
    const MutexLock lock(mutex_);
    removal.stray_part_possible = stray_part_possible_;
  }
  removed_ = in_background ? RemovePartsInBackground(std::move(removal)) : RemoveParts(removal);
  if (removed_.ok()) upload_id_.reset();
  return removed_;
}

}  // namespace penstock::transfer
