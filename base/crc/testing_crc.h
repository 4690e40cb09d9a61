// Compares a CRC path with the portable one, for the tests of each path.
#ifndef PENSTOCK_BASE_CRC_TESTING_CRC_H_
#define PENSTOCK_BASE_CRC_TESTING_CRC_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "penstock/base/bytes.h"

namespace penstock {

inline std::vector<std::byte> RandomBuffer(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() >> 56);
  return bytes;
}

// Expects `path` (state in, state out) to agree with `portable` (CRC in, CRC out). Checks random
// lengths, misalignments and starting values, and every length around the step sizes of the paths.
// Failures print the seed.
template <class Word, class Portable>
void ExpectSameAsPortable(Word (*path)(Word, ByteView), Portable portable) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<std::byte> buffer = RandomBuffer(40'000 + 64, seed);
  const auto check = [&](std::size_t offset, std::size_t length) {
    const ByteView bytes = ByteView(buffer).subspan(offset, length);
    const auto previous = static_cast<Word>(random());
    ASSERT_EQ(static_cast<Word>(~path(static_cast<Word>(~previous), bytes)),
              portable(bytes, previous))
        << "offset " << offset << " length " << length;
  };
  for (std::size_t length = 0; length < 1100; ++length) check(random() % 64, length);
  for (int i = 0; i < 2000; ++i) check(random() % 64, random() % 5001);
  for (int i = 0; i < 50; ++i) check(random() % 64, random() % 40'001);
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_CRC_TESTING_CRC_H_
