// Loads items of a distributed checkpoint into memory: any boxes of any stored tensors, in
// parallel. Knows bytes and dtypes only, no tensors of torch.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_LOAD_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_LOAD_H_

#include <string>
#include <vector>

#include "client/checkpoint/boxes.h"
#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/load/item_engine.h"
#include "client/checkpoint/pickle/dcp_metadata.h"

namespace penstock::checkpoint {

// One read of a box of a stored tensor.
struct ItemRead {
  const DcpTensor* tensor = nullptr;  // Its name and dtype.
  const DcpChunk* chunk = nullptr;    // What is stored: an item with a tensor of the chunk's size.
  Box box;                            // Within the chunk: offsets count from the chunk's start.
  StridedMemory memory;               // Elements do not overlap.
  // Where the memory is in a tensor, see BoxRead. Chunks of one tensor are read at the same time.
  Dimensions position;
};

// Plans the reads that fill the box `wanted` of a tensor. Returns kInvalidArgument if the box is
// not within the tensor, and kDataLoss if the chunks overlap or do not cover it.
Result<std::vector<ItemRead>> PlanBox(const DcpTensor& tensor, const Box& wanted,
                                      const StridedMemory& memory);

// Where the checkpoint is. Items are in the objects prefix + DcpPlace::path.
struct ItemLocation {
  BucketName bucket;
  std::string prefix;  // Ends with "/", or is empty.
};

// Reads all boxes by an ItemEngine. Small items are fetched whole. Of larger ones, only the rows of
// the box, and the archive's bytes around the tensor, are fetched: directly into the memory where
// rows are long, and through at most about 80 MiB of scratch memory where they are short. Every
// item is compared with its archive's description of it, with its CRC-32 if it was read completely,
// and with the CRC-32s of the pieces that were.
//
// Returns kDataLoss for a damaged item and kUnsupported for an item that is not a plain tensor of
// the dtype that the metadata states. The content of the memory is undefined after an error.
// Blocks; no memory is in use on return.
//
// verifies_all: also compares the rows of which neither is the case, see EngineLimits.
Result<void> LoadItems(const LoadContext& context, const ItemLocation& location,
                       const std::vector<ItemRead>& reads, bool verifies_all = false);

// Reads items of other values completely, without verification. Memory of an item is allocated when
// its request starts; at most `window_bytes` bytes, but at least one item, are in flight.
Result<std::vector<std::string>> ReadItemBytes(const LoadContext& context,
                                               const ItemLocation& location,
                                               const std::vector<DcpPlace>& places,
                                               std::uint64_t window_bytes = 512 << 20);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_ITEM_LOAD_H_
