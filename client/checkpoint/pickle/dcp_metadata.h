// The metadata of a distributed checkpoint of torch: which tensors it has, and where their chunks
// are. No I/O.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_PICKLE_DCP_METADATA_H_
#define PENSTOCK_CLIENT_CHECKPOINT_PICKLE_DCP_METADATA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/checkpoint/boxes.h"
#include "penstock/base/result.h"

namespace penstock::checkpoint {

// Bytes [begin, begin + length) of a file of the checkpoint: one archive of torch.save.
struct DcpPlace {
  std::string path;  // Relative to the checkpoint.
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::string transforms;  // Names of the extensions that encoded the item. Empty: none.
  // Of a tensor's item: the CRC-32s of its pieces (PieceBytes), as Penstock saves them. Empty:
  // unknown. Their number is not checked.
  std::vector<std::uint32_t> crc32s = {};

  bool operator==(const DcpPlace&) const = default;
};

struct DcpChunk {
  Box box;  // Of the whole tensor.
  DcpPlace place;

  bool operator==(const DcpChunk&) const = default;
};

struct DcpTensor {
  std::string name;
  std::string dtype;  // "float32"
  Dimensions sizes;   // Of the whole tensor.
  std::vector<DcpChunk> chunks;

  bool operator==(const DcpTensor&) const = default;
};

// Any other value, saved by torch.save.
struct DcpBytes {
  std::string name;
  DcpPlace place;

  bool operator==(const DcpBytes&) const = default;
};

struct DcpMetadata {
  std::vector<DcpTensor> tensors;
  std::vector<DcpBytes> bytes;

  bool operator==(const DcpMetadata&) const = default;
};

// Reads `.metadata`, a pickle of torch.distributed.checkpoint.metadata.Metadata, as torch 1.13 and
// later write it. Runs no code, and ignores what planners store for themselves. Accepts any bytes.
// Returns kUnsupported, with the name of the class, for another object, and kDataLoss if chunks
// lack their place, exceed their tensor, or have invalid places, paths or checksums, and if items
// of one file share bytes. PlanBox finds chunks that overlap or leave gaps.
Result<DcpMetadata> ReadDcpMetadata(std::string_view pickle);

// Writes a pickle that ReadDcpMetadata and torch.distributed.checkpoint read. Requires UTF-8.
std::string WriteDcpMetadata(const DcpMetadata& metadata);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_PICKLE_DCP_METADATA_H_
