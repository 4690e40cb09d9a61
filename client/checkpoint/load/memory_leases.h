// Leases of the memory that reads fill, so that no two reads write to the same bytes at a time.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_MEMORY_LEASES_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_MEMORY_LEASES_H_

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/checkpoint/boxes.h"

namespace penstock::checkpoint {

// Memory of a box of a tensor. The tensor may be larger, and its other boxes may have other memory.
struct LeasedMemory {
  std::uintptr_t begin = 0;      // Of the first element of the box. Memory of a device is possible.
  std::uint64_t item_bytes = 0;  // Of an element.
  Dimensions strides;            // In elements, none negative.
  Box box;                       // Of the tensor.
};

// Leases with disjoint memory. Boxes of one tensor may interleave in memory, for example columns,
// and do not conflict as long as they share no element.
class MemoryLeases {
 public:
  using Id = std::uint64_t;

  // Returns whether no other lease has some of the memory. Only then the lease exists. Requires a
  // new `id`.
  bool Acquire(Id id, const LeasedMemory& memory);
  // Ends a lease. Ignores others.
  void Release(Id id);

 private:
  // The first element of the whole tensor, if it had memory, and the tensor's strides in bytes.
  using TensorKey = std::pair<std::uintptr_t, Dimensions>;
  // The leases of one tensor: memory [begin, end).
  struct Tensor {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::vector<std::pair<Id, Box>> boxes;
  };
  using Tensors = std::map<TensorKey, Tensor>;

  bool IsFree(std::uintptr_t begin, std::uintptr_t end) const;
  void Insert(const Tensor& tensor);
  void Remove(const Tensor& tensor);

  Tensors tensors_;
  std::map<std::uintptr_t, std::uintptr_t> ranges_;  // of tensors with memory: begin to end
  std::unordered_map<Id, Tensors::iterator> by_id_;
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_MEMORY_LEASES_H_
