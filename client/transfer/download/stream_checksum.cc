#include "client/transfer/download/stream_checksum.h"

namespace penstock::transfer {

Result<void> StreamChecksum::Give(ByteRange range, std::uint64_t value, bool last) {
  if (!settled_) return Ok();
  if (given_ && given_->range.size() > 0) PENSTOCK_TRY(settled_->Add(given_->range, given_->value));
  given_ = Given{range, value};
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
  given_ = Given{};  // Keep shortens it if the reader has used some bytes
}

std::optional<std::uint64_t> StreamChecksum::CrcBefore(std::uint64_t position,
                                                       ByteView used) const {
  const auto prefix = settled_ ? settled_->prefix() : std::nullopt;
  if (!prefix) return std::nullopt;
  if (prefix->bytes == position) return prefix->crc;
  if (!given_ || given_->range.begin != prefix->bytes) return std::nullopt;
  if (given_->range.end == position)
    return CombineCrc(crc_, prefix->crc, given_->value, given_->range.size());
  if (used.empty() || given_->range.begin + used.size() != position) return std::nullopt;
  return UpdateCrc(crc_, used, prefix->crc);
}

void StreamChecksum::Keep(ByteView bytes) {
  if (!given_) return;
  if (bytes.empty()) {
    given_.reset();
    return;
  }
  given_ =
      Given{{given_->range.begin, given_->range.begin + bytes.size()}, UpdateCrc(crc_, bytes, 0)};
}

}  // namespace penstock::transfer
