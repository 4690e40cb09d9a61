// A stream of writes as one object: a single PUT while it is small, growing parts beyond.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "client/transfer/multipart_upload.h"
#include "client/transfer/part_buffers.h"
#include "client/transfer/part_plan.h"
#include "client/transfer/single_put.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

class WriterImpl final : public ObjectWriter {
 public:
  WriterImpl(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key, UploadOptions options)
      : store_(std::move(store)),
        bucket_(std::move(bucket)),
        key_(std::move(key)),
        options_(std::move(options)),
        buffers_(std::make_shared<transfer::PartBuffers>(std::max(1, options_.max_parallel_parts))) {}

  // The upload's destructor cancels and awaits the parts, then aborts.
  ~WriterImpl() override = default;

  Result<void> Write(ByteView data, const Interrupt& interrupt) override {
    if (finished_) return Refuse("Finish was already called");
    if (failed_) return *failed_;
    if (Result<void> written = Append(data, interrupt); !written.ok()) return Fail(std::move(written).error());
    return Ok();
  }

  Result<UploadResponse> Finish(const Interrupt& interrupt) override {
    if (finished_) return *finished_;
    if (failed_) return *failed_;
    Result<UploadResponse> result = Publish(interrupt);
    buffer_ = {};
    if (!result.ok()) failed_ = result.error();
    finished_ = result;
    return result;
  }

  Result<void> Abort() override {
    if (finished_ && finished_->ok()) return Ok();
    if (!failed_) failed_ = Refuse("the upload was aborted");
    buffer_ = {};
    return upload_ ? upload_->Abort() : Ok();
  }

  std::uint64_t bytes_written() const override { return written_; }

 private:
  Error Refuse(std::string why) const {
    return Error::Make(ErrorKind::kCancelled, std::move(why)).At("PutObject", bucket_.value, key_.value);
  }

  Error Fail(Error error) {
    failed_ = std::move(error);
    buffer_ = {};
    return *failed_;
  }

  Result<void> Append(ByteView data, const Interrupt& interrupt) {
    while (!data.empty()) {
      if (!buffer_.data) {
        PENSTOCK_TRY(transfer::CheckUploadOptions(options_));
        PENSTOCK_ASSIGN(buffer_, buffers_->Take(NextCapacity()));
      }
      // Only once more bytes are there: an object that just fits is still one PUT, and no part is empty.
      if (buffer_.room() == 0) {
        PENSTOCK_TRY(SendBuffer(interrupt));
        continue;
      }
      const std::size_t count = buffer_.Append(data);
      written_ += count;
      data = data.subspan(count);
    }
    return Ok();
  }

  // The first buffer holds what a single PUT may carry; if more comes, it becomes the first part.
  std::size_t NextCapacity() const {
    std::uint64_t least = options_.part_size_bytes;
    if (options_.size_hint_bytes) {
      const Result<std::uint64_t> sized = transfer::PartSizeFor(*options_.size_hint_bytes, least);
      if (sized.ok()) least = *sized;
    }
    const std::uint64_t size = transfer::NextPartSize(written_, least);
    return upload_ ? size : std::max(size, options_.single_put_limit_bytes);
  }

  Result<void> SendBuffer(const Interrupt& interrupt) {
    if (!upload_) {
      const std::uint64_t limit = options_.part_size_bytes * static_cast<std::uint64_t>(options_.max_parallel_parts);
      upload_ = std::make_unique<transfer::MultipartUpload>(store_, bucket_, key_, options_, limit);
      PENSTOCK_TRY(upload_->Create(interrupt));
    }
    const auto part = std::make_shared<transfer::PartBuffer>(std::move(buffer_));  // shared with the part in flight
    buffer_ = {};
    return upload_->Send(
        part->view(), [part, buffers = buffers_] { buffers->Return(std::move(*part)); }, interrupt);
  }

  Result<UploadResponse> Publish(const Interrupt& interrupt) {
    PENSTOCK_TRY(transfer::CheckUploadOptions(options_));
    if (!upload_ && written_ <= options_.single_put_limit_bytes) {
      return transfer::PutWhole(*store_, bucket_, key_, buffer_.view(), options_, interrupt);
    }
    if (buffer_.size > 0) PENSTOCK_TRY(SendBuffer(interrupt));
    return upload_->Complete(interrupt);
  }

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator: parts in flight need it
  const BucketName bucket_;
  const ObjectKey key_;
  const UploadOptions options_;
  const std::shared_ptr<transfer::PartBuffers> buffers_;  // shared with parts in flight, which return theirs
  transfer::PartBuffer buffer_;                           // being filled
  std::unique_ptr<transfer::MultipartUpload> upload_;     // null while a single PUT may do
  std::uint64_t written_ = 0;
  std::optional<Error> failed_;
  std::optional<Result<UploadResponse>> finished_;
};

}  // namespace

std::unique_ptr<ObjectWriter> ObjectWriter::Create(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                                                   UploadOptions options) {
  return std::make_unique<WriterImpl>(std::move(store), std::move(bucket), std::move(key), std::move(options));
}

}  // namespace penstock
