// Numbers as zip files store them, for tests.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LITTLE_ENDIAN_FOR_TEST_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LITTLE_ENDIAN_FOR_TEST_H_

#include <cstdint>
#include <string>

namespace penstock {

inline std::string Little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += i < 8 ? static_cast<char>(value >> 8 * i) : char{0};
  return text;
}

}  // namespace penstock

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LITTLE_ENDIAN_FOR_TEST_H_
