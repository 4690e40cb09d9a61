// What a stream gave to its reader, against the checksum of the whole object.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_CHECKSUM_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_CHECKSUM_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "client/transfer/object_checksum.h"

namespace penstock::transfer {

// Each byte counts once, also where a part of the block that was given last is fetched and given
// again.
class StreamChecksum {
 public:
  // Of nothing to be verified.
  StreamChecksum() = default;
  // `arrived`: what came another way is in it.
  StreamChecksum(PiecewiseChecksum arrived, Crc crc) : settled_(std::move(arrived)), crc_(crc) {}

  Crc crc() const { return crc_; }  // of each block; kNone: nobody asks

  // The block `range`, of that CRC, is about to be given. `last`: and then all was. kDataLoss where
  // that does not amount to the object's checksum, which names both values.
  Result<void> Give(ByteRange range, std::uint64_t value, bool last);

  // An object that came whole was the store's to verify. Dropped, it comes again in ranges, which
  // are ours.
  void ExpectAgain(const ObjectMetadata& metadata);

  // Of the block given last only `bytes`, its begin, count; the rest will be given another time.
  void Keep(ByteView bytes);

 private:
  struct Given {
    ByteRange range;
    std::uint64_t value = 0;
  };

  std::optional<PiecewiseChecksum> settled_;
  Crc crc_ = Crc::kNone;
  std::optional<Given> given_;  // last; not in settled_ yet
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_CHECKSUM_H_
