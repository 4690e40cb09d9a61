// Plans which parts of which chunks fill a box of a tensor.
#include <algorithm>
#include <string>
#include <unordered_set>
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

bool Overlap(const Box& one, const Box& other) {
  for (std::size_t i = 0; i < one.offsets.size(); ++i) {
    if (one.offsets[i] >= other.offsets[i] + other.lengths[i] ||
        other.offsets[i] >= one.offsets[i] + one.lengths[i])
      return false;
  }
  return true;
}

// Whether two of the boxes share elements. Requires that no box is empty, and equal numbers of
// dimensions. Sweeps along the dimension in which most boxes begin at different places, so that
// each box is compared with few others.
bool AnyOverlap(std::vector<Box> boxes) {
  std::size_t best = 0;
  std::size_t most = 0;
  const std::size_t dimensions = boxes.empty() ? 0 : boxes.front().offsets.size();
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::unordered_set<std::int64_t> begins;
    for (const Box& box : boxes) begins.insert(box.offsets[i]);
    if (begins.size() <= most) continue;
    most = begins.size();
    best = i;
  }
  if (most == 0) return boxes.size() > 1;  // of a tensor without dimensions
  std::sort(boxes.begin(), boxes.end(), [best](const Box& one, const Box& other) {
    return one.offsets[best] < other.offsets[best];
  });
  std::vector<const Box*> open;  // they end behind the begin of `box`
  for (const Box& box : boxes) {
    std::erase_if(open, [&](const Box* other) {
      return other->offsets[best] + other->lengths[best] <= box.offsets[best];
    });
    for (const Box* const other : open) {
      if (Overlap(*other, box)) return true;
    }
    open.push_back(&box);
  }
  return false;
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
