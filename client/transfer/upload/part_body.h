// One part on its way out: bytes copied into memory of ours, bytes that a caller lends, or both in
// turn.
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

// Filled by one thread, then read by one at a time. The CRC64NVME of copied bytes is taken as they
// are copied, that of lent ones as they are read for the first time: each byte is counted once,
// while the caches have it.
class PartBody final : public BodySource {
 public:
  // Holds up to `capacity` bytes.
  explicit PartBody(std::uint64_t capacity = 0) : capacity_(capacity) {}
  // All of `data`, which the caller keeps alive until the part has been sent.
  static PartBody Of(ByteView data);
  PartBody(PartBody&&) = default;
  PartBody& operator=(PartBody&&) = default;

  // ---- Filling

  std::uint64_t room() const { return capacity_ - size_; }
  // Holds up to `capacity` bytes, if that is more than before.
  void Widen(std::uint64_t capacity) { capacity_ = std::max(capacity_, capacity); }
  // Bytes that Append would take now; 0 when it is full or wants memory.
  std::size_t writable() const { return open_.size(); }
  // Memory for the next bytes; not before writable() is 0. Never more than room() is used.
  void AddMemory(PooledBuffer buffer);
  // The same for little, and not counted: `size` bytes of the heap.
  void AddHeap(std::size_t size);
  // Copies as much as fits; returns how much that was.
  std::size_t Append(ByteView data);
  // Lends all of `data`, at most room(); the caller keeps it alive until the part has been sent.
  void Borrow(ByteView data);
  // What `next` holds follows what this holds.
  void Join(PartBody next);

  // ---- Sending

  bool borrows() const { return borrows_; }
  // Bytes in memory of ours.
  std::uint64_t held_bytes() const { return held_; }
  // Says whether its memory comes back by itself (memory.h).
  void SetInFlight(bool in_flight);
  // True: whoever reads it need not compute its checksum before (BodySource::FollowsChecksum).
  void set_follows_checksum(bool follows) { follows_ = follows; }
  // Counts what is read, and what is to be read again; outlives this, or is set to null.
  void set_progress(ProgressMeter* progress) { progress_ = progress; }
  // CRC64NVME of all its bytes; reads what has not been read.
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
    std::size_t counted = 0;  // its first bytes, of which `crc` is
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
  MutableByteView open_;  // the rest of the last memory
  std::size_t at_piece_ = 0;
  std::size_t at_byte_ = 0;
  std::uint64_t read_ = 0;
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_PART_BODY_H_
