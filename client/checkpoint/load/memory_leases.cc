#include "client/checkpoint/load/memory_leases.h"

#include <algorithm>
#include <utility>

namespace penstock::checkpoint {
namespace {

// Bytes from the first to the last element of a box, including both.
std::uint64_t SpanBytes(const LeasedMemory& memory) {
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < memory.strides.size(); ++i) {
    if (memory.box.lengths[i] == 0) return 0;
    elements += static_cast<std::uint64_t>((memory.box.lengths[i] - 1) * memory.strides[i]);
  }
  return elements * memory.item_bytes;
}

}  // namespace

bool MemoryLeases::IsFree(std::uintptr_t begin, std::uintptr_t end) const {
  if (begin == end) return true;
  const auto next = ranges_.upper_bound(begin);
  if (next != ranges_.begin() && std::prev(next)->second > begin) return false;
  return next == ranges_.end() || next->first >= end;
}

void MemoryLeases::Insert(const Tensor& tensor) {
  if (tensor.begin != tensor.end) ranges_.emplace(tensor.begin, tensor.end);
}

void MemoryLeases::Remove(const Tensor& tensor) {
  if (tensor.begin != tensor.end) ranges_.erase(tensor.begin);
}

bool MemoryLeases::Acquire(Id id, const LeasedMemory& memory) {
  const std::uintptr_t end = memory.begin + SpanBytes(memory);
  Dimensions steps = memory.strides;
  for (std::int64_t& step : steps) step *= static_cast<std::int64_t>(memory.item_bytes);
  const auto before = static_cast<std::uintptr_t>(memory.box.First(steps));
  const auto [found, added] = tensors_.try_emplace({memory.begin - before, std::move(steps)},
                                                   Tensor{memory.begin, end, {}});
  Tensor& tensor = found->second;
  if (!added) {
    const auto overlaps = [&](const auto& other) { return memory.box.Overlaps(other.second); };
    if (std::any_of(tensor.boxes.begin(), tensor.boxes.end(), overlaps)) return false;
    Remove(tensor);
  }
  const std::uintptr_t all_begin = std::min(tensor.begin, memory.begin);
  const std::uintptr_t all_end = std::max(tensor.end, end);
  const bool free = IsFree(all_begin, all_end);
  if (free) {
    tensor.begin = all_begin;
    tensor.end = all_end;
    tensor.boxes.emplace_back(id, memory.box);
    by_id_[id] = found;
  }
  if (tensor.boxes.empty()) {
    tensors_.erase(found);
  } else {
    Insert(tensor);
  }
  return free;
}

void MemoryLeases::Release(Id id) {
  const auto lease = by_id_.find(id);
  if (lease == by_id_.end()) return;
  const Tensors::iterator found = lease->second;
  by_id_.erase(lease);
  Tensor& tensor = found->second;
  const auto is_lease = [&](const auto& each) { return each.first == id; };
  std::swap(*std::find_if(tensor.boxes.begin(), tensor.boxes.end(), is_lease), tensor.boxes.back());
  tensor.boxes.pop_back();
  if (!tensor.boxes.empty()) return;
  Remove(tensor);
  tensors_.erase(found);
}

}  // namespace penstock::checkpoint
