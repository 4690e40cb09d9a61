// Plans which parts of which chunks fill a box of a tensor.
#include <string>
#include <utility>

#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/load/item_load.h"

namespace penstock::checkpoint {
namespace {

std::string Shown(const Dimensions& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + "]";
}

Error Uncovered(const DcpTensor& tensor, const Box& wanted, std::string_view what) {
  return Error::Make(ErrorKind::kDataLoss,
                     "the chunks of '" + tensor.name + "' " + std::string(what) + " the box " +
                         Shown(wanted.lengths) + " at " + Shown(wanted.offsets) +
                         ": the checkpoint is incomplete or its metadata is invalid");
}

}  // namespace

Result<std::vector<ItemRead>> PlanBox(const DcpTensor& tensor, const Box& wanted,
                                      const StridedMemory& memory) {
  const DtypeInfo* const dtype = FindDtype(tensor.dtype);
  if (dtype == nullptr) {
    return Error::Make(ErrorKind::kUnsupported, "'" + tensor.name + "' has the dtype " +
                                                    tensor.dtype + ", which is not supported");
  }
  if (!wanted.IsWithin(tensor.sizes) || memory.strides.size() != tensor.sizes.size()) {
    return Error::Make(ErrorKind::kInvalidArgument, "the box " + Shown(wanted.lengths) + " at " +
                                                        Shown(wanted.offsets) + " is not within '" +
                                                        tensor.name + "', whose size is " +
                                                        Shown(tensor.sizes));
  }
  std::vector<ItemRead> reads;
  std::vector<Box> parts;
  std::int64_t covered = 0;
  for (const DcpChunk& chunk : tensor.chunks) {
    std::optional<Box> common = wanted.Intersection(chunk.box);
    if (!common) continue;
    covered += common->elements();
    if (covered > wanted.elements()) return Uncovered(tensor, wanted, "overlap within");
    ItemRead read{&tensor, &chunk, *common, memory, common->offsets};
    for (std::size_t i = 0; i < wanted.offsets.size(); ++i) {
      read.position[i] -= wanted.offsets[i];
      read.memory.data += static_cast<std::uint64_t>(read.position[i]) *
                          static_cast<std::uint64_t>(memory.strides[i]) * dtype->item_bytes;
      read.box.offsets[i] -= chunk.box.offsets[i];
    }
    parts.push_back(std::move(*common));
    reads.push_back(std::move(read));
  }
  if (AnyOverlap(std::move(parts))) return Uncovered(tensor, wanted, "overlap within");
  // Tensors without elements have chunks, but no intersections.
  if (covered != wanted.elements()) return Uncovered(tensor, wanted, "do not cover");
  return reads;
}

}  // namespace penstock::checkpoint
