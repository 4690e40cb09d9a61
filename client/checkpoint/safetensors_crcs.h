// The checksums that the Python package writes in headers of safetensors files. No I/O.
//
// The header starts with `{ "__metadata__":{"PENSTOCK_CRC64NVME":"1 HEADER PIECES"`. HEADER is the
// CRC64NVME of the length and the header without these 16 hexadecimal digits. PIECES is the base64
// of the CRC64NVMEs of the pieces of all tensors (PieceBytes), in the order of their bytes,
// little-endian.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_SAFETENSORS_CRCS_H_
#define PENSTOCK_CLIENT_CHECKPOINT_SAFETENSORS_CRCS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "client/checkpoint/safetensors.h"
#include "penstock/base/bytes.h"

namespace penstock::checkpoint {

// Compares a header, its length included, with its checksum, and returns the checksums of the
// pieces; nullopt if the header has none. Returns kDataLoss if it differs. Accepts any bytes.
Result<std::optional<std::vector<std::uint64_t>>> ReadSafetensorsCrcs(std::string_view header);

// Compares tensors with the checksums of a header.
class SafetensorsCrcs {
 public:
  // Returns kDataLoss if the tensors have another number of pieces than `crcs` has values, and
  // nullopt if a dtype, and therefore the number of pieces, is unknown.
  static Result<std::optional<SafetensorsCrcs>> Create(const SafetensorsHeader& header,
                                                       std::vector<std::uint64_t> crcs);
  // Returns kDataLoss, with the piece and both values, if a piece of header.tensors[index]
  // differs. Requires all bytes of the tensor.
  Result<void> Compare(const SafetensorsHeader& header, std::size_t index, ByteView bytes) const;

 private:
  struct Pieces {
    std::size_t first = 0;  // in crcs_
    std::uint64_t bytes = 0;
  };
  std::vector<std::uint64_t> crcs_;
  std::vector<Pieces> tensors_;
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_SAFETENSORS_CRCS_H_
