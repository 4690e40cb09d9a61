// The header of a safetensors file, and the index of sharded files. No I/O.
//
// Source: https://huggingface.co/docs/safetensors/index#format
#ifndef PENSTOCK_CLIENT_CHECKPOINT_SAFETENSORS_H_
#define PENSTOCK_CLIENT_CHECKPOINT_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::checkpoint {

// The length of the header, at the start of a file.
inline constexpr std::uint64_t kSafetensorsLengthBytes = 8;
inline constexpr std::uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;  // The format's limit.

struct SafetensorsTensor {
  std::string name;
  std::string dtype;  // torch's name: "bfloat16". If torch has none: "safetensors:F6_E2M3".
  std::vector<std::int64_t> sizes;
  // Offset of its bytes from the end of the header. The tensor is contiguous.
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  bool operator==(const SafetensorsTensor&) const = default;
};

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors;       // In the order of their bytes.
  std::map<std::string, std::string> metadata;  // "__metadata__".

  bool operator==(const SafetensorsHeader&) const = default;
};

// Returns the length of the JSON text from the first 8 bytes. Returns kDataLoss if there are fewer,
// or if the length exceeds the format's limit or `file_bytes`.
Result<std::uint64_t> SafetensorsHeaderBytes(std::string_view first, std::uint64_t file_bytes);

// Reads the JSON text of a header that `data_bytes` bytes of tensors follow. Strict: duplicate
// names, sizes that do not match dtype and shape, and gaps, overlaps or bytes behind the tensors
// are kDataLoss. Unknown members of tensors are ignored. Accepts any bytes.
Result<SafetensorsHeader> ReadSafetensorsHeader(std::string_view json, std::uint64_t data_bytes);

// Writes the length and the header. Sets `begin` and `bytes` of the tensors and sorts them, so that
// their bytes are aligned to their dtype; write them in this order. Returns kInvalidArgument for a
// dtype that the format lacks, a name that is not UTF-8, occurs twice or is "__metadata__".
Result<std::string> WriteSafetensorsHeader(SafetensorsHeader& header);

// Reads the text of "model.safetensors.index.json": tensors and the files that contain them, in
// the order of the text. Returns kDataLoss for anything else. Accepts any bytes.
Result<std::vector<std::pair<std::string, std::string>>> ReadSafetensorsIndex(
    std::string_view json);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_SAFETENSORS_H_
