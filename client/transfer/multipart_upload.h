// One multipart upload from Create to Complete or Abort: parts sent in parallel from memory that others own.
//
// The part under ObjectWriter and Upload. It does not cut a stream into parts and copies no bytes.
#ifndef PENSTOCK_CLIENT_TRANSFER_MULTIPART_UPLOAD_H_
#define PENSTOCK_CLIENT_TRANSFER_MULTIPART_UPLOAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "client/transfer/chained_stop.h"
#include "client/transfer/progress_meter.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// Every member blocks; an interrupt ends it with kCancelled. After any error the upload has been aborted, no part is in
// flight any more, and every further call returns that error. Destruction aborts what was not completed.
//
// Removing the parts is tried once, within settle.h's limits: where the network hangs, whoever lets go of a failed
// upload does not wait again. Only Abort tries once more.
//
// Thread safety: one caller at a time.
class MultipartUpload {
 public:
  // `in_flight_limit_bytes` bounds the sum of parts in flight, but one part may always fly.
  MultipartUpload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key, UploadOptions options,
                  std::uint64_t in_flight_limit_bytes);
  ~MultipartUpload();
  MultipartUpload(const MultipartUpload&) = delete;
  MultipartUpload& operator=(const MultipartUpload&) = delete;

  // How much will be sent, where that is known: for the progress that is told.
  void ExpectTotal(std::uint64_t bytes) { progress_.SetTotal(bytes); }
  Result<void> Create(const Interrupt& interrupt);
  // Waits for room, then sends `data` as the next part. `released` runs once, when the memory is free again, on any
  // thread; also when this fails.
  Result<void> Send(ByteView data, std::function<void()> released, const Interrupt& interrupt);
  // Waits for the parts, then publishes. What was published is reported as such, even when S3's answer was lost.
  Result<UploadResponse> Complete(const Interrupt& interrupt);
  // Gives up: cancels and awaits the parts, removes them at S3. Nothing to do: success. Where that failed twice it
  // returns the last error without asking again.
  Result<void> Abort();

 private:
  void PartEnded(std::uint64_t size, Result<CompletedPart> result);
  Result<void> WaitForRoom(std::uint64_t size, const Interrupt& interrupt);
  Result<void> WaitForParts(const Interrupt& interrupt);
  Error Fail(Error error);
  Result<PutObjectResponse> TryComplete(const std::vector<CompletedPart>& parts, const Interrupt& interrupt);
  Result<void> GiveUp(int removals_allowed);
  Result<void> RemoveParts(const CallOptions& cleanup);

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator: parts in flight need it
  const BucketName bucket_;
  const ObjectKey key_;
  const UploadOptions options_;
  const std::uint64_t in_flight_limit_bytes_;
  ChainedStop stop_;
  std::optional<UploadId> upload_id_;  // unset: not created, completed or aborted
  std::optional<Error> failed_;
  bool interrupted_ = false;  // failed_ says so, and somebody waits for the end
  int removals_ = 0;          // times RemoveParts ran
  Result<void> removed_ = Ok();  // of the last one
  CallOptions cleanup_;          // of the last one
  int last_part_number_ = 0;
  std::uint64_t sent_bytes_ = 0;
  ProgressMeter progress_;

  Mutex mutex_;
  CondVar changed_;
  int in_flight_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t in_flight_bytes_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::vector<CompletedPart> parts_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Error> part_error_ PENSTOCK_GUARDED_BY(mutex_);
  bool stray_part_possible_ PENSTOCK_GUARDED_BY(mutex_) = false;  // a part may still arrive at S3 after it failed here
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_MULTIPART_UPLOAD_H_
