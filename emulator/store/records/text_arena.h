// Memory for many short texts with a common lifetime.
#ifndef PENSTOCK_EMULATOR_STORE_RECORDS_TEXT_ARENA_H_
#define PENSTOCK_EMULATOR_STORE_RECORDS_TEXT_ARENA_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace penstock::emulator::store {

// Views that Copy returned are valid until the arena is destroyed, even after it was moved.
class TextArena {
 public:
  TextArena() = default;
  // Not copyable: the views of a copy would point to the original.
  TextArena(TextArena&&) noexcept = default;
  TextArena& operator=(TextArena&&) noexcept = default;

  std::string_view Copy(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;  // within the last block
  std::size_t left_ = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_RECORDS_TEXT_ARENA_H_
