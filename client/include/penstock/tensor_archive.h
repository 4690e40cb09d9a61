// A file of torch.save that holds one tensor, as distributed checkpoints store each: where its
// payload is and what it means. No I/O, and nothing of torch: whoever knows the file's layout
// beforehand verifies here that it was so.
#ifndef PENSTOCK_TENSOR_ARCHIVE_H_
#define PENSTOCK_TENSOR_ARCHIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/bytes.h"

namespace penstock {

// What the archive's pickle says.
struct PickledTensor {
  std::string dtype;  // torch's name without "torch.": "float32", "bfloat16", "float8_e4m3fn"
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements; one for each size
  std::int64_t storage_offset = 0;    // in elements
  std::string storage_key;            // the payload is the record "data/<storage_key>"
  std::uint64_t storage_bytes = 0;

  bool operator==(const PickledTensor&) const = default;
};

// nullopt: anything but one plain strided tensor (quantised, sparse, nested, with hooks or
// attributes, pickled by a protocol newer than 3). Any bytes may be given.
std::optional<PickledTensor> ReadTensorPickle(std::string_view pickle);

// Where an archive's parts are, from its begin.
struct TensorArchive {
  std::string_view pickle;
  std::string_view payload_key;
  std::uint64_t payload_begin = 0;
  std::uint64_t payload_bytes = 0;
};

// An archive of which the middle may be elsewhere: the bytes between `head` and `tail` are not
// looked at.
struct ArchiveEnds {
  ByteView head;
  std::uint64_t between = 0;  // bytes
  ByteView tail;
};

// Reads the zip directory. The views are into `ends`. Returns nullopt if the bytes are not a
// little-endian torch.save archive with a single, stored payload that ends within the archive, or
// if a part other than the payload lies outside of `ends`. Accepts any bytes.
std::optional<TensorArchive> ReadTensorArchive(const ArchiveEnds& ends);

}  // namespace penstock

#endif  // PENSTOCK_TENSOR_ARCHIVE_H_
