// Writes a stream as one object: a single PUT while it is small, growing parts beyond.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "client/transfer/process_bound.h"
#include "client/transfer/upload/multipart_upload.h"
#include "client/transfer/upload/part_body.h"
#include "client/transfer/upload/single_put.h"
#include "client/transfer/upload/upload_plan.h"
#include "penstock/memory.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

using transfer::PartBody;

// Size of one buffer; at least S3's minimum part size.
constexpr std::uint64_t kPieceBytes = 8ull << 20;
constexpr std::uint64_t kHeapBytes = 64ull << 10;  // smaller buffers do not use a huge page
constexpr std::uint64_t kMinBorrowedBytes = 4ull << 20;
constexpr std::uint64_t kMinNoCopyBytes = 64ull << 10;
constexpr std::uint64_t kMaxHeapBytes = 1ull << 20;  // of one part, between borrowed pieces

class WriterImpl final : public ObjectWriter {
 public:
  WriterImpl(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
             UploadOptions options)
      : store_(std::move(store)),
        bucket_(std::move(bucket)),
        key_(std::move(key)),
        options_(std::move(options)) {}

  // The upload's destructor cancels the parts, waits for them, and aborts.
  ~WriterImpl() override = default;

  Result<void> Write(ByteView data, const Interrupt& interrupt) override {
    if (finished_) return Refuse("Finish was already called");
    if (failed_) return *failed_;
    Result<void> written = Append(data, interrupt);
    if (written.ok() && borrows_) written = upload_->WaitForBorrowed(interrupt);
    borrows_ = false;
    if (!written.ok()) return Fail(std::move(written).error());
    return Ok();
  }

  Result<void> WriteNoCopy(ByteView data, const Interrupt& interrupt) override {
    if (finished_) return Refuse("Finish was already called");
    if (failed_) return *failed_;
    no_copy_ = true;
    Result<void> taken = data.size() < kMinNoCopyBytes ? Append(data, interrupt)
                                                       : AppendNoCopy(data, nullptr, interrupt);
    if (!taken.ok()) return Fail(std::move(taken).error());
    return Ok();
  }

  Result<std::uint64_t> WriteNoCopyWithCrc(ByteView data, const Interrupt& interrupt) override {
    if (data.size() < kMinNoCopyBytes) {
      PENSTOCK_TRY(WriteNoCopy(data, interrupt));
      return Crc64Nvme(data);
    }
    if (finished_) return Refuse("Finish was already called");
    if (failed_) return *failed_;
    no_copy_ = true;
    std::uint64_t crc = 0;
    Result<void> taken = AppendNoCopy(data, &crc, interrupt);
    if (!taken.ok()) return Fail(std::move(taken).error());
    return crc;
  }

  Result<void> ReserveHead(std::uint64_t bytes) override {
    if (finished_) return Refuse("Finish was already called");
    if (failed_) return *failed_;
    if (written_ > 0) {
      return Invalid("the head must be reserved before the first write, not after " +
                     std::to_string(written_) + " bytes");
    }
    reserved_ = bytes;
    return Ok();
  }

  Result<void> ReplaceHead(ByteView head) override {
    if (finished_) return Refuse("Finish was already called");
    if (failed_) return *failed_;
    const std::uint64_t most = std::min<std::uint64_t>(reserved_, head_.size());
    if (head.size() > most) {
      return Invalid("the new head has " + std::to_string(head.size()) + " bytes, but only " +
                     std::to_string(most) + " are reserved and written");
    }
    std::copy(head.begin(), head.end(), head_.begin());
    return Ok();
  }

  Result<void> Drain(const Interrupt& interrupt) override {
    if (failed_) return *failed_;
    if (!no_copy_ || finished_) return Ok();
    Result<void> drained = DrainParts(interrupt);
    if (!drained.ok()) return Fail(std::move(drained).error());
    return Ok();
  }

  Result<UploadResponse> Finish(const Interrupt& interrupt) override {
    if (finished_) return *finished_;
    if (failed_) return *failed_;
    Result<UploadResponse> result = Publish(interrupt);
    DropParts();
    head_ = {};  // no part is in flight
    if (!result.ok()) failed_ = result.error();
    finished_ = result;
    return result;
  }

  Result<void> Abort() override {
    if (finished_ && finished_->ok()) return Ok();
    if (!failed_) failed_ = Refuse("the upload was aborted");
    DropParts();
    return upload_ ? upload_->Abort() : Ok();
  }

  std::uint64_t bytes_written() const override { return written_; }

 private:
  Error Refuse(std::string why) const {
    return Error::Make(ErrorKind::kCancelled, std::move(why))
        .At("PutObject", bucket_.value, key_.value);
  }

  Error Invalid(std::string why) const {
    return Error::Make(ErrorKind::kInvalidArgument, std::move(why))
        .At("PutObject", bucket_.value, key_.value);
  }

  // After this returns, no part borrows the caller's memory.
  Error Fail(Error error) {
    failed_ = std::move(error);
    DropParts();
    if (upload_) upload_->Cancel(*failed_);
    return *failed_;
  }

  void DropParts() {
    waiting_.clear();
    part_ = PartBody();
  }

  // Copies the bytes of `data` that belong to the late first part, and returns the others. The part
  // has the size of the others if that is fixed, because some services require equal parts.
  ByteView AppendHead(ByteView data) {
    const std::uint64_t size =
        reserved_ == 0
            ? 0
            : std::max(reserved_, options_.part_size_bytes.value_or(options_.min_part_size_bytes));
    if (head_.size() >= size) return data;
    const ByteView head = data.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(size - head_.size(), data.size())));
    head_.insert(head_.end(), head.begin(), head.end());
    written_ += head.size();
    return data.subspan(head.size());
  }

  Result<void> Append(ByteView data, const Interrupt& interrupt) {
    if (written_ == 0) PENSTOCK_TRY(transfer::CheckUploadOptions(options_));
    data = AppendHead(data);
    while (!data.empty()) {
      PENSTOCK_TRY(MakeRoom(data, interrupt));
      if (const std::size_t borrowed = upload_ ? BorrowableBytes(data) : 0; borrowed > 0) {
        PENSTOCK_TRY(SendBorrowed(data, borrowed, interrupt));
        continue;
      }
      if (part_.writable() == 0) {
        PENSTOCK_ASSIGN(const bool added, AddMemory(data, interrupt));
        if (!added) continue;
      }
      const std::size_t count = part_.Append(data);
      written_ += count;
      data = data.subspan(count);
    }
    return Ok();
  }

  // Appends without copying and without waiting until the data is sent. `crc`: receives the
  // CRC64NVME of `data` if it is not null.
  Result<void> AppendNoCopy(ByteView data, std::uint64_t* crc, const Interrupt& interrupt) {
    if (written_ == 0) PENSTOCK_TRY(transfer::CheckUploadOptions(options_));
    const ByteView rest = AppendHead(data);
    if (crc != nullptr) *crc = Crc64Nvme(data.first(data.size() - rest.size()));
    data = rest;
    while (!data.empty()) {
      PENSTOCK_TRY(MakeRoom(data, interrupt));
      const ByteView borrowed =
          data.first(static_cast<std::size_t>(std::min<std::uint64_t>(part_.room(), data.size())));
      if (crc != nullptr) {
        const std::uint64_t piece = Crc64Nvme(borrowed);
        *crc = CombineCrc64Nvme(*crc, piece, borrowed.size());
        part_.Borrow(borrowed, piece);
      } else {
        part_.Borrow(borrowed);
      }
      written_ += borrowed.size();
      data = data.subspan(borrowed.size());
    }
    // Otherwise the full part would wait for the next write.
    if (upload_ && part_.room() == 0) return NextPart(interrupt);
    return Ok();
  }

  // Ensures that the part has room for some of `data`.
  Result<void> MakeRoom(ByteView data, const Interrupt& interrupt) {
    // Starts an upload only once more bytes exist: an object that just fits stays a single PUT, and
    // no part is empty.
    const std::uint64_t expected =
        std::max(written_ + data.size(), options_.size_hint_bytes.value_or(0));
    if (!upload_ && expected > options_.single_put_limit_bytes) PENSTOCK_TRY(Begin(interrupt));
    if (part_.room() == 0) return NextPart(interrupt);
    return Ok();
  }

  Result<void> DrainParts(const Interrupt& interrupt) {
    if (!upload_ && !waiting_.empty()) PENSTOCK_TRY(Begin(interrupt));
    if (part_.borrows()) {
      if (upload_ && part_.size() >= transfer::MinPartSize(written_, options_)) {
        PENSTOCK_TRY(NextPart(interrupt));
      } else {
        PENSTOCK_TRY(OwnPart(interrupt));
      }
    }
    return upload_ ? upload_->WaitForBorrowed(interrupt) : Ok();
  }

  // Copies the bytes that the part borrows.
  Result<void> OwnPart(const Interrupt& interrupt) {
    PartBody borrowed = std::move(part_);
    part_ = PartBody(borrowed.size() + borrowed.room());
    for (ByteView piece = borrowed.Next(kPieceBytes); !piece.empty();
         piece = borrowed.Next(kPieceBytes)) {
      while (!piece.empty()) {
        if (part_.writable() == 0) {
          PENSTOCK_ASSIGN(PooledBuffer buffer,
                          pool_.Take(std::min(part_.room(), kPieceBytes), interrupt));
          part_.AddMemory(std::move(buffer));
        }
        piece = piece.subspan(part_.Append(piece));
      }
    }
    return Ok();
  }

  // Sends the full part, if there is one, and starts the next.
  Result<void> NextPart(const Interrupt& interrupt) {
    PartBody full = std::move(part_);
    const auto connections = upload_ ? upload_->limit().connections : transfer::Connections::kQuick;
    part_ = PartBody(transfer::StreamPartSize(written_, options_, connections));
    if (full.size() == 0) return Ok();
    if (upload_) return upload_->Send(std::move(full), interrupt);
    waiting_.push_back(std::move(full));
    return Ok();
  }

  // Switches from a single PUT to a multipart upload.
  Result<void> Begin(const Interrupt& interrupt) {
    upload_ = std::make_unique<transfer::MultipartUpload>(store_, bucket_, key_, options_);
    PENSTOCK_TRY(upload_->Create(interrupt));
    if (reserved_ > 0) upload_->ReserveFirst();
    std::vector<PartBody> waiting = std::move(waiting_);
    waiting_.clear();
    for (PartBody& part : waiting) PENSTOCK_TRY(upload_->Send(std::move(part), interrupt));
    return Ok();
  }

  // Returns how many bytes of `data` to send directly from the caller's memory, or 0. The last
  // bytes are copied instead, so that the call can return while they are sent.
  std::size_t BorrowableBytes(ByteView data) {
    const std::uint64_t behind = upload_->limit().behind_bytes;
    const std::uint64_t room = part_.room();
    if (room < kMinBorrowedBytes || data.size() < room || data.size() - room < behind) return 0;
    if (!options_.part_size_bytes) part_.Widen(transfer::BorrowedPartSize(data.size()));
    return static_cast<std::size_t>(std::min<std::uint64_t>(part_.room(), data.size() - behind));
  }

  // Adds the first `count` bytes of `data` to the part without copying, and sends it. Write waits
  // until it has been sent.
  Result<void> SendBorrowed(ByteView& data, std::size_t count, const Interrupt& interrupt) {
    const ByteView borrowed = data.first(count);
    part_.Borrow(borrowed);
    borrows_ = true;
    written_ += borrowed.size();
    data = data.subspan(borrowed.size());
    return NextPart(interrupt);
  }

  // Gets memory for the part. Returns false if none was needed after all. If the budget is
  // exhausted, sends the existing bytes first, so that a waiting writer holds only memory that will
  // be released without its help.
  Result<bool> AddMemory(ByteView& data, const Interrupt& interrupt) {
    const std::uint64_t room = part_.room();
    const bool little = data.size() <= kHeapBytes &&
                        (written_ == 0 || (no_copy_ && part_.held_bytes() < kMaxHeapBytes));
    if (room <= kHeapBytes || little) {
      part_.AddHeap(static_cast<std::size_t>(std::min(room, kHeapBytes)));
      return true;
    }
    const auto size = static_cast<std::size_t>(std::min(room, kPieceBytes));
    PENSTOCK_ASSIGN(std::optional<PooledBuffer> buffer, pool_.TryTake(size));
    if (!buffer) {
      if (!upload_ && !waiting_.empty()) PENSTOCK_TRY(Begin(interrupt));
      if (upload_ && room >= kMinBorrowedBytes && data.size() >= room) {
        PENSTOCK_TRY(SendBorrowed(data, static_cast<std::size_t>(room), interrupt));
        return false;
      }
      if (part_.size() >= transfer::MinPartSize(written_, options_) && part_.size() > 0) {
        if (!upload_) PENSTOCK_TRY(Begin(interrupt));
        PENSTOCK_TRY(NextPart(interrupt));
        return false;
      }
      PENSTOCK_ASSIGN(buffer, pool_.Take(size, interrupt));
    }
    part_.AddMemory(*std::move(buffer));
    return true;
  }

  Result<UploadResponse> Publish(const Interrupt& interrupt) {
    PENSTOCK_TRY(transfer::CheckUploadOptions(options_));
    if (!upload_) {
      PartBody whole = PartBody::Of(head_);
      for (PartBody& part : waiting_) whole.Join(std::move(part));
      whole.Join(std::move(part_));
      return transfer::PutWhole(*store_, bucket_, key_, whole, options_, interrupt);
    }
    if (part_.size() > 0) PENSTOCK_TRY(upload_->Send(std::move(part_), interrupt));
    if (reserved_ > 0) PENSTOCK_TRY(upload_->SendFirst(PartBody::Of(head_), interrupt));
    return upload_->Complete(interrupt);
  }

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator: parts in flight need it
  const BucketName bucket_;
  const ObjectKey key_;
  const UploadOptions options_;
  BufferPool& pool_ = BufferPool::PerProcess();
  std::uint64_t reserved_ = 0;                         // bytes of the head
  std::vector<std::byte> head_;                        // the late first part; outlives upload_
  PartBody part_;                                      // part being filled
  std::vector<PartBody> waiting_;                      // full parts, before there is an upload
  std::unique_ptr<transfer::MultipartUpload> upload_;  // null while a single PUT may suffice
  bool borrows_ = false;  // parts in flight may borrow memory of the current Write
  bool no_copy_ = false;  // WriteNoCopy was called
  std::uint64_t written_ = 0;
  std::optional<Error> failed_;
  std::optional<Result<UploadResponse>> finished_;
};

class BoundWriter final : public ObjectWriter {
 public:
  BoundWriter(std::unique_ptr<WriterImpl> writer, BucketName bucket, ObjectKey key)
      : writer_(std::move(writer), "this writer"),
        bucket_(std::move(bucket)),
        key_(std::move(key)) {}

  Result<void> Write(ByteView data, const Interrupt& interrupt) override {
    PENSTOCK_TRY(Check("ObjectWriter::Write"));
    return writer_.object().Write(data, interrupt);
  }
  Result<void> WriteNoCopy(ByteView data, const Interrupt& interrupt) override {
    PENSTOCK_TRY(Check("ObjectWriter::WriteNoCopy"));
    return writer_.object().WriteNoCopy(data, interrupt);
  }
  Result<std::uint64_t> WriteNoCopyWithCrc(ByteView data, const Interrupt& interrupt) override {
    PENSTOCK_TRY(Check("ObjectWriter::WriteNoCopyWithCrc"));
    return writer_.object().WriteNoCopyWithCrc(data, interrupt);
  }
  Result<void> ReserveHead(std::uint64_t bytes) override {
    PENSTOCK_TRY(Check("ObjectWriter::ReserveHead"));
    return writer_.object().ReserveHead(bytes);
  }
  Result<void> ReplaceHead(ByteView head) override {
    PENSTOCK_TRY(Check("ObjectWriter::ReplaceHead"));
    return writer_.object().ReplaceHead(head);
  }
  Result<void> Drain(const Interrupt& interrupt) override {
    PENSTOCK_TRY(Check("ObjectWriter::Drain"));
    return writer_.object().Drain(interrupt);
  }
  Result<UploadResponse> Finish(const Interrupt& interrupt) override {
    PENSTOCK_TRY(Check("ObjectWriter::Finish"));
    return writer_.object().Finish(interrupt);
  }
  Result<void> Abort() override {
    PENSTOCK_TRY(Check("ObjectWriter::Abort"));
    return writer_.object().Abort();
  }
  std::uint64_t bytes_written() const override {
    return writer_.mine() ? writer_.object().bytes_written() : 0;
  }

 private:
  Result<void> Check(std::string_view operation) const {
    Result<void> usable = writer_.CheckBlockingUse(operation);
    if (!usable.ok()) usable.error().At("PutObject", bucket_.value, key_.value);
    return usable;
  }

  const transfer::ProcessBound<WriterImpl> writer_;
  const BucketName bucket_;
  const ObjectKey key_;
};

}  // namespace

std::unique_ptr<ObjectWriter> ObjectWriter::Create(std::shared_ptr<ObjectStore> store,
                                                   BucketName bucket, ObjectKey key,
                                                   UploadOptions options) {
  auto writer = std::make_unique<WriterImpl>(std::move(store), bucket, key, std::move(options));
  return std::make_unique<BoundWriter>(std::move(writer), std::move(bucket), std::move(key));
}

}  // namespace penstock
