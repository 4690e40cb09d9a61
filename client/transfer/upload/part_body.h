// The body of one part: bytes copied into own memory, bytes that a caller owns, or both in
// sequence.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_PART_BODY_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_PART_BODY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/transfer/progress_meter.h"
#include "penstock/memory.h"
#include "penstock/object_store.h"

namespace penstock::transfer {

// Filled by one thread, then read by one thread at a time. The CRC64NVME of copied bytes is
// computed while they are copied, that of borrowed bytes when they are first read. Each byte is
// checksummed once, while it is in the CPU cache.
class PartBody final : public BodySource {
 public:
  // Holds up to `capacity` bytes.
  explicit PartBody(std::uint64_t capacity = 0) : capacity_(capacity) {}
  // Borrows all of `data`, which the caller must keep valid until the part has been sent.
  static PartBody Of(ByteView data);
  PartBody(PartBody&&) = default;
  PartBody& operator=(PartBody&&) = default;

  // ---- Filling

  std::uint64_t room() const { return capacity_ - size_; }
  // Increases the capacity to `capacity`; never decreases it.
  void Widen(std::uint64_t capacity) { capacity_ = std::max(capacity_, capacity); }
  // Returns the number of bytes that Append can take now. 0 if the part is full or needs memory.
  std::size_t writable() const { return open_.size(); }
  // Adds memory for the next bytes. Requires writable() == 0. At most room() bytes of it are used.
  void AddMemory(PooledBuffer buffer);
  // Same for small amounts: `size` bytes of the heap, not counted by held_bytes().
  void AddHeap(std::size_t size);
  // Copies as much as fits and returns the number of bytes.
  std::size_t Append(ByteView data);
  // Borrows all of `data`, at most room() bytes. The caller must keep it valid until the part has
  // been sent.
  void Borrow(ByteView data);
  // Same if the CRC64NVME of `data` is known.
  void Borrow(ByteView data, std::uint64_t crc64nvme);
  // Appends the content of `next`.
  void Join(PartBody next);

  // ---- Sending

  bool borrows() const { return borrows_; }
  // Returns the number of bytes in pooled memory.
  std::uint64_t held_bytes() const { return held_; }
  // Sets whether the memory will be released without further action of the caller (memory.h).
  void SetInFlight(bool in_flight);
  // If true, the reader need not compute the checksum beforehand (BodySource::FollowsChecksum).
  void set_follows_checksum(bool follows) { follows_ = follows; }
  // Counts the bytes read, and subtracts bytes that are read again. Must outlive this object, or be
  // set to null.
  void set_progress(ProgressMeter* progress) { progress_ = progress; }
  // Returns the CRC64NVME of all bytes. Reads the bytes that have not been read.
  std::uint64_t Crc();

  std::uint64_t size() const override { return size_; }
  void Rewind() override;
  ByteView Next(std::size_t limit) override;
  std::optional<std::uint64_t> crc64nvme() const override;
  bool FollowsChecksum() const override { return follows_; }

 private:
  struct Piece {
    ByteView bytes;
    std::uint64_t crc = 0;
    std::size_t counted = 0;  // number of leading bytes included in `crc`
    void Count(std::size_t end);
  };
  void Open(MutableByteView memory);

  std::uint64_t capacity_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t held_ = 0;
  bool borrows_ = false;
  bool follows_ = false;
  ProgressMeter* progress_ = nullptr;
  std::vector<Piece> pieces_;
  std::vector<PooledBuffer> buffers_;
  std::vector<std::unique_ptr<std::byte[]>> heap_;
  MutableByteView open_;  // the unused rest of the last memory
  std::size_t at_piece_ = 0;
  std::size_t at_byte_ = 0;
  std::uint64_t read_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_PART_BODY_H_
