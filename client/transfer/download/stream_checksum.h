// Compares the bytes that a stream returned with the checksum of the whole object.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_CHECKSUM_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_CHECKSUM_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "client/transfer/object_checksum.h"

namespace penstock::transfer {

// Each byte counts once, even if part of the last returned block is fetched and returned again.
class StreamChecksum {
 public:
  // Verifies nothing.
  StreamChecksum() = default;
  // `arrived` includes the bytes that were read outside the stream.
  StreamChecksum(PiecewiseChecksum arrived, Crc crc) : settled_(std::move(arrived)), crc_(crc) {}

  Crc crc() const { return crc_; }  // of each block; kNone: not needed

  // Adds the block `range` with its CRC before it is returned. `last`: this block completes the
  // object. Returns kDataLoss with both values in the message if the object's checksum does not
  // match.
  Result<void> Add(ByteRange range, std::uint64_t value, bool last);

  // Called when the block of a whole object, which the store verified, is dropped. The object will
  // arrive again in ranges, which this class verifies.
  void ExpectAgain(const ObjectMetadata& metadata);

  // Returns the CRC of the object's bytes [0, position). Nullopt if not all of them were added, or
  // if `position` is inside the last block and not after `used`, the bytes at its start.
  std::optional<std::uint64_t> CrcBefore(std::uint64_t position, ByteView used) const;

  // Only `bytes`, the start of the last returned block, count. The rest will be returned again.
  void Keep(ByteView bytes);

 private:
  struct Block {
    ByteRange range;
    std::uint64_t value = 0;
  };

  std::optional<PiecewiseChecksum> settled_;
  Crc crc_ = Crc::kNone;
  std::optional<Block> last_;  // the block added last; not in settled_ yet
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_CHECKSUM_H_
