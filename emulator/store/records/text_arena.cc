#include "emulator/store/records/text_arena.h"

#include <algorithm>
#include <cstring>

namespace penstock::emulator::store {
namespace {

constexpr std::size_t kFirstBlock = 2 << 10;
constexpr std::size_t kBlock = 64 << 10;

}  // namespace

std::string_view TextArena::Copy(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > left_) {
    const std::size_t size = std::max(text.size(), blocks_.empty() ? kFirstBlock : kBlock);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    free_ = blocks_.back().get();
    left_ = size;
  }
  char* const copy = free_;
  std::memcpy(copy, text.data(), text.size());
  free_ += text.size();
  left_ -= text.size();
  return {copy, text.size()};
}

}  // namespace penstock::emulator::store
