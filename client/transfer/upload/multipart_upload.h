// One multipart upload from Create to Complete or Abort: parts sent in parallel, verified one by
// one and as a whole.
//
// The part under ObjectWriter and Upload. It does not cut a stream into parts and copies no bytes.
//
// Where the service keeps a CRC64NVME of the whole object, no part is read before it is sent: each
// part's CRC is taken as its bytes are copied or sent, compared with the one S3 answers (a part
// that arrived damaged is sent again), and all of them combined are what S3 has to find before it
// publishes. Elsewhere each part carries its own.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_MULTIPART_UPLOAD_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_MULTIPART_UPLOAD_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/transfer/chained_stop.h"
#include "client/transfer/progress_meter.h"
#include "client/transfer/upload/part_body.h"
#include "client/transfer/upload/upload_plan.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// Every member blocks; an interrupt ends it with kCancelled. After any error the upload has been
// aborted, no part is in flight any more, and every further call returns that error. Destruction
// aborts what was not completed.
//
// Removing the parts is tried once, within settle.h's limits: where the network hangs, whoever lets
// go of a failed upload does not wait again. Only Abort tries once more.
//
// Thread safety: one caller at a time.
class MultipartUpload {
 public:
  MultipartUpload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                  UploadOptions options);
  ~MultipartUpload();
  MultipartUpload(const MultipartUpload&) = delete;
  MultipartUpload& operator=(const MultipartUpload&) = delete;

  // How much will be sent, where that is known: for the progress that is told.
  void ExpectTotal(std::uint64_t bytes) { progress_.SetTotal(bytes); }
  Result<void> Create(const Interrupt& interrupt);
  // Waits until PlanInFlight lets one more part fly (one always may), then sends `body` as the
  // next. Its memory goes back when it has been sent, and also when this fails.
  Result<void> Send(PartBody body, const Interrupt& interrupt);
  // Waits until no part in flight borrows a caller's memory.
  Result<void> WaitForBorrowed(const Interrupt& interrupt);
  // What PlanInFlight says now.
  InFlightLimit limit() const;
  // Waits for the parts, then publishes. What was published is reported as such, even when S3's
  // answer was lost, but not to whoever interrupted: kCancelled says no more than that he did.
  Result<UploadResponse> Complete(const Interrupt& interrupt);
  // Gives up: cancels and awaits the parts, removes them at S3. Nothing to do: success. Where that
  // failed twice it returns the last error without asking again. After an interrupt it waits
  // kInterruptedPatience for the removal, which then goes on by itself (late_cleanup.h).
  Result<void> Abort();
  // The same because of `error`, which every further call then returns. Not repeated.
  void Cancel(Error error);

 private:
  // A part between its first request and its last answer.
  struct PendingPart {
    PartBody body;
    int number = 0;
    int times_damaged = 0;
    std::chrono::steady_clock::time_point started;
  };
  struct Sent {
    CompletedPart part;
    std::uint64_t size = 0;
    std::uint64_t crc = 0;
  };

  void StartPart(PartBody body, std::uint64_t held);
  void Launch(const std::shared_ptr<PendingPart>& flight);
  void OnAnswer(const std::shared_ptr<PendingPart>& flight, Result<CompletedPart> result);
  void PartEnded(PendingPart& flight, Result<CompletedPart> result);
  void Measure(std::chrono::steady_clock::time_point started, std::uint64_t bytes)
      PENSTOCK_REQUIRES(mutex_);
  template <class Ready>
  Result<void> WaitUntil(const char* operation, const Interrupt& interrupt, Ready ready);
  Error Fail(Error error);
  std::vector<CompletedPart> TakeParts();
  Result<PutObjectResponse> TryComplete(const std::vector<CompletedPart>& parts,
                                        const Interrupt& interrupt);
  Result<void> GiveUp(int removals_allowed);

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator: parts in flight need it
  const BucketName bucket_;
  const ObjectKey key_;
  const UploadOptions options_;
  ChainedStop stop_;
  std::optional<UploadId> upload_id_;  // unset: not created, completed or aborted
  bool keeps_crc_ = false;             // the service does, of the whole object
  std::optional<Error> failed_;
  bool interrupted_ = false;     // failed_ says so, and somebody waits for the end
  int removals_ = 0;             // times the parts were removed
  Result<void> removed_ = Ok();  // the last time
  int last_part_number_ = 0;
  std::uint64_t sent_bytes_ = 0;
  ProgressMeter progress_;
  std::optional<std::uint64_t> crc_;  // of the whole, once all parts are there

  mutable Mutex mutex_;
  CondVar changed_;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int borrowing_ PENSTOCK_GUARDED_BY(mutex_) = 0;             // parts in flight
  std::uint64_t held_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // by parts in flight
  std::vector<Sent> sent_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<PartRate> rate_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Error> part_error_ PENSTOCK_GUARDED_BY(mutex_);
  // a part may still arrive at S3 after it failed here
  bool stray_part_possible_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_MULTIPART_UPLOAD_H_
