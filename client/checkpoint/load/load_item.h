// What the engine loads: items of a distributed checkpoint, and the boxes to read of each.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_LOAD_ITEM_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_LOAD_ITEM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/checkpoint/boxes.h"
#include "penstock/base/types.h"

namespace penstock::checkpoint {

// Memory of a box: element [i, j, ...] is at data + item bytes * (i * strides[0] + ...).
struct StridedMemory {
  std::byte* data = nullptr;
  Dimensions strides;  // In elements, none negative.
};

// A read of a box of an item.
struct BoxRead {
  Box box;  // Of the item's tensor.
  // Its destination, to which no other read writes at the same time. Null data: none, or unknown.
  StridedMemory memory;
  std::uint64_t memory_item_bytes = 0;
  // Where the memory is in a tensor whose other parts have memory of the same strides. Empty: it is
  // the whole tensor.
  Dimensions position;
  // Whether the engine writes to the memory. Otherwise the caller does, for example to convert.
  bool is_direct = false;
};

// Bytes [begin, begin + length) of an object.
struct LoadItem {
  std::string name;  // For errors.
  BucketName bucket;
  ObjectKey key;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  // The tensor that the item is expected to contain, row-major. An empty dtype: the content is
  // unknown, and the caller gets the whole item.
  std::string dtype;
  std::uint64_t item_bytes = 0;
  Dimensions sizes;
  // The CRC-32s of the tensor's pieces (PieceBytes). Empty: unknown.
  std::vector<std::uint32_t> crc32s;
  std::vector<BoxRead> reads;
};

// "item 'name': bytes 100 to 200", for errors.
inline std::string DescribeBytes(const LoadItem& item, std::uint64_t begin, std::uint64_t end) {
  return "item '" + item.name + "': bytes " + std::to_string(begin) + " to " + std::to_string(end);
}
inline std::string DescribeItem(const LoadItem& item) {
  return DescribeBytes(item, item.begin, item.begin + item.length);
}

struct EngineLimits {
  std::uint64_t batch_bytes = 36 << 20;    // Verified and delivered together.
  std::size_t batch_items = 512;           // The same.
  std::uint64_t unit_bytes = 18 << 20;     // Larger reads are received in pieces.
  std::uint64_t part_bytes = 4 << 20;      // Pieces that go through scratch memory.
  std::uint64_t window_bytes = 512 << 20;  // Requested and not yet complete.
  // The ends of larger items are read first if their trailer is unknown. Smaller ones are fetched
  // whole.
  std::uint64_t probe_bytes = 18 << 20;
  // Bytes that a load may read in addition, to compare pieces of which it wants a part: these, and
  // 1/extra_share of the bytes that it wants.
  std::uint64_t extra_bytes = 4 << 20;
  std::uint64_t extra_share = 16;
  // Whether all wanted bytes are compared: without these limits, and if necessary by reading a
  // tensor completely of which the load wants a part.
  bool verifies_all = false;
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_LOAD_ITEM_H_
