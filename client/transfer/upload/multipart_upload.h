// One multipart upload from Create to Complete or Abort. Sends parts in parallel, and verifies each
// part and the whole object.
//
// ObjectWriter and Upload use it. It does not split a stream into parts and copies no bytes.
//
// If the service keeps a CRC64NVME of the whole object, no part is read before it is sent. The CRC
// of a part is computed while its bytes are copied or sent, and compared with the CRC in S3's
// response. A damaged part is sent again. The combined CRC of all parts is a condition of Complete.
// Otherwise each request carries the CRC of its part, and also if the object gets a retention or a
// legal hold, because S3 requires it then. If the bucket locks its objects by default, S3 refuses
// the first parts, which are sent again with their CRC.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_MULTIPART_UPLOAD_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_MULTIPART_UPLOAD_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/transfer/chained_stop.h"
#include "client/transfer/progress_meter.h"
#include "client/transfer/upload/part_body.h"
#include "client/transfer/upload/upload_plan.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// Every member blocks; an interrupt ends it with kCancelled. After any error the upload has been
// aborted, no part is in flight, and every later call returns that error. The destructor aborts an
// upload that was not completed.
//
// The parts are removed once, within the limits of upload_outcome.h. If the network hangs,
// destroying a failed upload does not wait again. Only Abort tries a second time.
//
// Thread safety: one caller at a time.
class MultipartUpload {
 public:
  MultipartUpload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                  UploadOptions options);
  ~MultipartUpload();
  MultipartUpload(const MultipartUpload&) = delete;
  MultipartUpload& operator=(const MultipartUpload&) = delete;

  // Sets the total size for progress reports, if known.
  void ExpectTotal(std::uint64_t bytes) { progress_.SetTotal(bytes); }
  Result<void> Create(const Interrupt& interrupt);
  // Waits until PlanInFlight allows one more part (one is always allowed), then sends `body` as the
  // next part. Its memory is released when it has been sent, and also on failure.
  Result<void> Send(PartBody body, const Interrupt& interrupt);
  // Leaves the first part to SendFirst. Before the first Send.
  void ReserveFirst();
  // Sends `body` as the reserved first part, like Send.
  Result<void> SendFirst(PartBody body, const Interrupt& interrupt);
  // Waits until no part in flight borrows the caller's memory.
  Result<void> WaitForBorrowed(const Interrupt& interrupt);
  // Returns the current result of PlanInFlight.
  InFlightLimit limit() const;
  // Waits for the parts, then publishes the object. A published object is reported as a success
  // even if S3's response was lost. After an interrupt the result is kCancelled, and the outcome is
  // unknown.
  Result<UploadResponse> Complete(const Interrupt& interrupt);
  // Cancels the parts, waits for them, and removes them from S3. Returns ok if there is nothing to
  // do. After two failed removals it returns the last error without another request. (The removal
  // that follows an interrupt by itself delays the caller by kInterruptedWait at most, and then
  // continues in the background, see late_cleanup.h.)
  Result<void> Abort();
  // Same because of `error`, which every later call returns. Not repeated.
  void Cancel(Error error);

 private:
  // A part between its first request and its last response.
  struct PendingPart {
    PartBody body;
    int number = 0;
    int times_damaged = 0;
    bool has_checksum = false;  // its last request carries its CRC
    std::chrono::steady_clock::time_point started;
  };
  struct SentPart {
    CompletedPart part;
    std::uint64_t size = 0;
    std::uint64_t crc = 0;
  };

  Result<void> SendAs(int number, PartBody body, const Interrupt& interrupt);
  void StartPart(int number, PartBody body, std::uint64_t held);
  void SendRequest(const std::shared_ptr<PendingPart>& pending);
  void OnResponse(const std::shared_ptr<PendingPart>& pending, Result<CompletedPart> result);
  void PartEnded(PendingPart& pending, Result<CompletedPart> result);
  void Measure(std::chrono::steady_clock::time_point started, std::uint64_t bytes)
      PENSTOCK_REQUIRES(mutex_);
  template <class Ready>
  Result<void> WaitUntil(const char* operation, const Interrupt& interrupt, Ready ready);
  Error Fail(Error error);
  std::vector<CompletedPart> TakeParts();
  Result<PutObjectResponse> TryComplete(const std::vector<CompletedPart>& parts,
                                        const Interrupt& interrupt);
  Result<CreateMultipartUploadResponse> CallCreate(CreateMultipartUploadRequest request,
                                                   const Interrupt& interrupt);
  Result<void> GiveUp(int removals_allowed, bool in_background);
  CustomerKey customer_key() const { return CustomerKeyOf(options_.attributes.encryption); }

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator: parts in flight need it
  const BucketName bucket_;
  const ObjectKey key_;
  const UploadOptions options_;
  ChainedStop stop_;
  std::optional<UploadId> upload_id_;  // unset: not created, completed or aborted
  bool keeps_crc_ = false;             // the service keeps a CRC of the whole object
  std::optional<Error> failed_;
  bool interrupted_ = false;     // failed_ is kCancelled, and the caller waits for the end
  int removals_ = 0;             // number of times the parts were removed
  Result<void> removed_ = Ok();  // result of the last removal
  int last_part_number_ = 0;
  std::uint64_t sent_bytes_ = 0;
  ProgressMeter progress_;
  const std::string checksum_algorithm_;    // of the upload; empty: as configured
  std::atomic<bool> parts_need_checksums_;  // the object is locked
  std::optional<std::uint64_t> crc_;        // of the whole object, once all parts have been sent

  mutable Mutex mutex_;
  CondVar changed_;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int borrowing_ PENSTOCK_GUARDED_BY(mutex_) = 0;             // parts in flight that borrow memory
  std::uint64_t held_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;  // by parts in flight
  std::vector<SentPart> sent_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<PartRate> rate_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Error> part_error_ PENSTOCK_GUARDED_BY(mutex_);
  // A failed part may still arrive at S3.
  bool stray_part_possible_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_MULTIPART_UPLOAD_H_
