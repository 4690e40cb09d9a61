// The CRC-32s of the pieces of a payload whose bytes arrive in any order.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_PAYLOAD_CRC_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_PAYLOAD_CRC_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "penstock/base/bytes.h"

namespace penstock::checkpoint {

class PayloadCrc {
 public:
  // Of a payload without bytes.
  PayloadCrc() = default;
  // The last piece may be smaller. Requires piece_bytes > 0 if there are bytes.
  PayloadCrc(std::uint64_t payload_bytes, std::uint64_t piece_bytes);

  // Announces bytes of Add. Those of a piece of which fewer bytes are announced than it has are
  // ignored by Add. All bytes must be within the payload.
  void Expect(std::uint64_t begin, std::uint64_t bytes);
  // Whether Add computes anything.
  bool may_complete() const;
  // Whether each piece of which bytes are announced is announced completely, and no byte twice.
  bool expects_pieces_once() const;
  // Adds the bytes that begin at offset `begin` of the payload. Ignores bytes that are known.
  void Add(std::uint64_t begin, ByteView bytes);

  // The CRC-32 of a piece, or of the payload; nullopt if some of the bytes are unknown.
  std::optional<std::uint32_t> OfPiece(std::size_t index) const;
  std::optional<std::uint32_t> OfAll() const;

 private:
  struct Segment {
    std::uint64_t end = 0;
    std::uint32_t crc = 0;
  };
  std::uint64_t EndOf(std::size_t piece) const;
  std::uint64_t BytesOf(std::size_t piece) const;
  bool IsExpected(std::size_t piece) const;
  void AddToPiece(std::uint64_t begin, ByteView bytes);

  std::uint64_t payload_bytes_ = 0;
  std::uint64_t piece_bytes_ = 0;
  std::vector<std::uint64_t> expected_;        // bytes of each piece
  std::map<std::uint64_t, Segment> segments_;  // by their begin; disjoint, each of one piece
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_PAYLOAD_CRC_H_
