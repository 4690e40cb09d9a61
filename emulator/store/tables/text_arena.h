// A place for many short texts that live and go together.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_TEXT_ARENA_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_TEXT_ARENA_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace penstock::emulator::store {

// Views that Copy returned stay valid until the arena goes, also after it was moved.
class TextArena {
 public:
  TextArena() = default;
  // Moved, not copied: a copy's views would still point into the original.
  TextArena(TextArena&&) noexcept = default;
  TextArena& operator=(TextArena&&) noexcept = default;

  std::string_view Copy(std::string_view text);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;  // within the last block
  std::size_t left_ = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_TEXT_ARENA_H_
