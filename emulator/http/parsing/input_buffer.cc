#include "emulator/http/parsing/input_buffer.h"

#include <algorithm>
#include <cstring>

#include "penstock/base/check.h"

namespace penstock::emulator::http {
namespace {

constexpr std::size_t kFirstBytes = 8 << 10;
// Space after a pinned head, for chunk framing and small reads.
constexpr std::size_t kBodyRoomBytes = 4 << 10;

std::unique_ptr<char[]> Allocate(std::size_t bytes) {
  return std::make_unique_for_overwrite<char[]>(bytes);
}

}  // namespace

InputBuffer::InputBuffer(std::size_t max_bytes)
    : max_bytes_(max_bytes), capacity_(kFirstBytes), data_(Allocate(kFirstBytes)) {}

std::string_view InputBuffer::PinHead(std::size_t bytes) {
  PENSTOCK_CHECK(pinned_ == 0 && bytes <= size());
  Unpin();  // moves the bytes to the front
  if (bytes + kBodyRoomBytes > capacity_) {
    const std::size_t grown = std::max(bytes + kBodyRoomBytes, end_);
    std::unique_ptr<char[]> larger = Allocate(grown);
    std::memcpy(larger.get(), data_.get(), end_);
    data_ = std::move(larger);
    capacity_ = grown;
  }
  pinned_ = bytes;
  begin_ = bytes;
  return {data_.get(), bytes};
}

void InputBuffer::Unpin() {
  pinned_ = 0;
  if (begin_ == 0) return;
  std::memmove(data_.get(), data_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

IoResult InputBuffer::Fill(Stream& stream, std::chrono::milliseconds timeout) {
  MakeRoom();
  const MutableByteView room(reinterpret_cast<std::byte*>(data_.get() + end_), capacity_ - end_);
  PENSTOCK_CHECK(!room.empty());
  const IoResult result = timeout.count() == 0 ? stream.TryRead(room) : stream.Read(room, timeout);
  if (result.status == IoStatus::kOk) end_ += result.bytes;
  took_all_ = result.status == IoStatus::kOk && result.bytes < room.size();
  return result;
}

void InputBuffer::MakeRoom() {
  if (empty()) {
    begin_ = end_ = pinned_;
    return;
  }
  if (end_ < capacity_) return;
  if (begin_ > pinned_) {
    std::memmove(data_.get() + pinned_, data_.get() + begin_, end_ - begin_);
    end_ -= begin_ - pinned_;
    begin_ = pinned_;
    return;
  }
  PENSTOCK_CHECK(pinned_ == 0);  // with a pinned head, the reader consumes all bytes it requested
  const std::size_t grown = std::min(capacity_ * 2, max_bytes_ + kBodyRoomBytes);
  PENSTOCK_CHECK(grown > capacity_);
  std::unique_ptr<char[]> larger = Allocate(grown);
  std::memcpy(larger.get(), data_.get(), end_);
  data_ = std::move(larger);
  capacity_ = grown;
}

}  // namespace penstock::emulator::http
