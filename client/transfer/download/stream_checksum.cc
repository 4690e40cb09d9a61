#include "client/transfer/download/stream_checksum.h"

namespace penstock::transfer {

Result<void> StreamChecksum::Add(ByteRange range, std::uint64_t value, bool last) {
  if (!settled_) return Ok();
  if (last_ && last_->range.size() > 0) PENSTOCK_TRY(settled_->Add(last_->range, last_->value));
  last_ = Block{range, value};
  if (!last) return Ok();
  // settled_ must not change before the reader has finished with the block.
  PiecewiseChecksum all = *settled_;
  return all.Add(range, value);
}

void StreamChecksum::ExpectAgain(const ObjectMetadata& metadata) {
  const ExpectedCrc expected = ChecksumOf(metadata);
  if (settled_ || expected.crc == Crc::kNone) return;
  settled_.emplace(expected, metadata.size);
  crc_ = expected.crc;
  last_ = Block{};  // Keep shortens it if the reader has used some bytes
}

std::optional<std::uint64_t> StreamChecksum::CrcBefore(std::uint64_t position,
                                                       ByteView used) const {
  const auto prefix = settled_ ? settled_->prefix() : std::nullopt;
  if (!prefix) return std::nullopt;
  if (prefix->bytes == position) return prefix->crc;
  if (!last_ || last_->range.begin != prefix->bytes) return std::nullopt;
  if (last_->range.end == position)
    return CombineCrc(crc_, prefix->crc, last_->value, last_->range.size());
  if (used.empty() || last_->range.begin + used.size() != position) return std::nullopt;
  return UpdateCrc(crc_, used, prefix->crc);
}

void StreamChecksum::Keep(ByteView bytes) {
  if (!last_) return;
  if (bytes.empty()) {
    last_.reset();
    return;
  }
  last_ = Block{{last_->range.begin, last_->range.begin + bytes.size()}, UpdateCrc(crc_, bytes, 0)};
}

}  // namespace penstock::transfer
