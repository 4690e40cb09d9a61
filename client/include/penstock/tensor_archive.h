// A torch.save file with one tensor, the form in which distributed checkpoints store each tensor:
// payload position and metadata. No I/O and no dependency on torch. Callers that predict the layout
// of the file verify it here.
#ifndef PENSTOCK_TENSOR_ARCHIVE_H_
#define PENSTOCK_TENSOR_ARCHIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// The tensor that the archive's pickle describes.
struct PickledTensor {
  std::string dtype;  // torch's name without "torch.": "float32", "bfloat16", "float8_e4m3fn".
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // In elements; one per size.
  std::int64_t storage_offset = 0;    // In elements.
  std::string storage_key;            // The payload is the record "data/<storage_key>".
  std::uint64_t storage_bytes = 0;

  bool operator==(const PickledTensor&) const = default;
};

// Returns nullopt for anything but one plain strided tensor. Quantised, sparse and nested tensors,
// and tensors with hooks or attributes are not supported. Accepts any bytes.
std::optional<PickledTensor> ReadTensorPickle(std::string_view pickle);

// Positions of the parts of an archive, in bytes from its start.
struct TensorArchive {
  std::string_view pickle;
  std::string_view payload_key;
  std::uint64_t payload_begin = 0;
  std::uint64_t payload_bytes = 0;
  std::uint32_t payload_crc32 = 0;  // 0: empty, or saved without a CRC-32.
};

// An archive without its middle. The bytes between `head` and `tail` are not read.
struct ArchiveEnds {
  ByteView head;
  std::uint64_t between = 0;  // Bytes.
  ByteView tail;
};

// Reads the zip directory. The views are into `ends`. Returns nullopt if the bytes are not a
// little-endian torch.save archive with a single, stored payload that ends within the archive. Also
// returns nullopt if a part other than the payload is outside of `ends`, or if only the directory
// lacks the CRC-32 of the payload. Accepts any bytes.
std::optional<TensorArchive> ReadTensorArchive(const ArchiveEnds& ends);

}  // namespace penstock

#endif  // PENSTOCK_TENSOR_ARCHIVE_H_
