// The CRC-32 of a payload whose bytes arrive in pieces, in any order.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_PAYLOAD_CRC_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_PAYLOAD_CRC_H_

#include <cstdint>
#include <map>
#include <optional>

#include "penstock/base/bytes.h"

namespace penstock::checkpoint {

class PayloadCrc {
 public:
  // Adds the bytes that begin at offset `begin` of the payload. Ignores bytes that are known.
  void Add(std::uint64_t begin, ByteView bytes);
  // The CRC-32 of the bytes [0, size); nullopt if some are unknown.
  std::optional<std::uint32_t> Of(std::uint64_t size) const;

 private:
  struct Piece {
    std::uint64_t end = 0;
    std::uint32_t crc = 0;
  };
  std::map<std::uint64_t, Piece> pieces_;  // by their begin; disjoint
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_PAYLOAD_CRC_H_
