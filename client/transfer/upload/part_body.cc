#include "client/transfer/upload/part_body.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/crc/named_crc.h"
#include "penstock/base/check.h"

namespace penstock::transfer {
namespace {

constexpr std::size_t kStep = 128 << 10;  // copied and checksummed while it is in the CPU cache

}  // namespace

void PartBody::Piece::Count(std::size_t end) {
  if (end <= counted) return;
  crc = UpdateCrc(Crc::kCrc64Nvme, bytes.subspan(counted, end - counted), crc);
  counted = end;
}

PartBody PartBody::Of(ByteView data) {
  PartBody part(data.size());
  part.Borrow(data);
  return part;
}

void PartBody::Open(MutableByteView memory) {
  PENSTOCK_CHECK(open_.empty());
  open_ = memory.first(static_cast<std::size_t>(std::min<std::uint64_t>(memory.size(), room())));
  held_ += memory.size();
}

void PartBody::AddMemory(PooledBuffer buffer) {
  Open(buffer.bytes());
  buffers_.push_back(std::move(buffer));
}

void PartBody::AddHeap(std::size_t size) {
  heap_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
  Open({heap_.back().get(), size});
}

std::size_t PartBody::Append(ByteView data) {
  const std::size_t count = std::min(data.size(), open_.size());
  if (count == 0) return 0;
  // Bytes that follow the last piece in memory extend it.
  if (pieces_.empty() ||
      pieces_.back().bytes.data() + pieces_.back().bytes.size() != open_.data()) {
    pieces_.push_back({ByteView(open_.data(), 0)});
  }
  Piece& piece = pieces_.back();
  for (std::size_t at = 0; at < count; at += kStep) {
    const std::size_t step = std::min(kStep, count - at);
    std::memcpy(open_.data() + at, data.data() + at, step);
    piece.bytes = ByteView(piece.bytes.data(), piece.bytes.size() + step);
    piece.Count(piece.bytes.size());
  }
  open_ = open_.subspan(count);
  size_ += count;
  return count;
}

void PartBody::Borrow(ByteView data) {
  PENSTOCK_CHECK(data.size() <= room());
  if (data.empty()) return;
  pieces_.push_back({data});
  size_ += data.size();
  open_ = open_.first(static_cast<std::size_t>(std::min<std::uint64_t>(open_.size(), room())));
  borrows_ = true;
}

void PartBody::Borrow(ByteView data, std::uint64_t crc64nvme) {
  Borrow(data);
  if (data.empty()) return;
  pieces_.back().crc = crc64nvme;
  pieces_.back().counted = data.size();
}

void PartBody::Join(PartBody next) {
  std::move(next.pieces_.begin(), next.pieces_.end(), std::back_inserter(pieces_));
  std::move(next.buffers_.begin(), next.buffers_.end(), std::back_inserter(buffers_));
  std::move(next.heap_.begin(), next.heap_.end(), std::back_inserter(heap_));
  size_ += next.size_;
  capacity_ = size_ + next.room();
  held_ += next.held_;
  borrows_ = borrows_ || next.borrows_;
  open_ = next.open_;
}

void PartBody::SetInFlight(bool in_flight) {
  for (PooledBuffer& buffer : buffers_) buffer.SetInFlight(in_flight);
}

std::uint64_t PartBody::Crc() {
  std::uint64_t crc = 0;
  for (Piece& piece : pieces_) {
    piece.Count(piece.bytes.size());
    crc = CombineCrc(Crc::kCrc64Nvme, crc, piece.crc, piece.bytes.size());
  }
  return crc;
}

void PartBody::Rewind() {
  if (progress_ != nullptr && read_ > 0) progress_->Add(-static_cast<std::int64_t>(read_));
  read_ = 0;
  at_piece_ = 0;
  at_byte_ = 0;
}

ByteView PartBody::Next(std::size_t limit) {
  if (at_piece_ == pieces_.size()) return {};
  Piece& piece = pieces_[at_piece_];
  const ByteView next =
      piece.bytes.subspan(at_byte_, std::min(limit, piece.bytes.size() - at_byte_));
  at_byte_ += next.size();
  read_ += next.size();
  if (progress_ != nullptr) progress_->Add(static_cast<std::int64_t>(next.size()));
  if (follows_) piece.Count(at_byte_);
  if (at_byte_ == piece.bytes.size()) {
    ++at_piece_;
    at_byte_ = 0;
  }
  return next;
}

std::optional<std::uint64_t> PartBody::crc64nvme() const {
  std::uint64_t crc = 0;
  for (const Piece& piece : pieces_) {
    if (piece.counted != piece.bytes.size()) return std::nullopt;
    crc = CombineCrc(Crc::kCrc64Nvme, crc, piece.crc, piece.bytes.size());
  }
  return crc;
}

}  // namespace penstock::transfer
