// CRC-32C with the crc32 instruction of SSE4.2. The instruction has a throughput of one per cycle
// but a latency of three. So three adjacent blocks are computed at a time and their states are
// combined.
#include <array>

#include "base/crc/crc_hardware.h"
#include "base/crc/crc_polynomial.h"
#include "base/crc/crc_slicing.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PENSTOCK_SSE42 __attribute__((target("sse4.2")))
#endif

namespace penstock::internal {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLongBlock = 4096;
constexpr std::size_t kShortBlock = 256;

using ShiftTable = std::array<std::array<std::uint32_t, 256>, 4>;

// [k][b] is the state after `bytes` zero bytes, starting from a state whose byte k is b and whose
// other bytes are 0.
constexpr ShiftTable MakeShiftTable(std::uint64_t bytes) {
  const std::uint32_t power = CrcPowerOfX<Crc32cKind>(8 * bytes);
  ShiftTable table{};
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t bit = 0; bit < 8; ++bit) {
      table[k][std::size_t{1} << bit] =
          CrcMultiply<Crc32cKind>(std::uint32_t{1} << (8 * k + bit), power);
    }
    // The shift is linear: every other entry is the XOR of the entries of its bits.
    for (std::size_t b = 1; b < 256; ++b)
      table[k][b] = table[k][b & (b - 1)] ^ table[k][b & (~b + 1)];
  }
  return table;
}

constexpr ShiftTable kLongShift = MakeShiftTable(kLongBlock);
constexpr ShiftTable kShortShift = MakeShiftTable(kShortBlock);

std::uint32_t Shift(const ShiftTable& table, std::uint32_t state) {
  return table[0][state & 0xFF] ^ table[1][state >> 8 & 0xFF] ^ table[2][state >> 16 & 0xFF] ^
         table[3][state >> 24];
}

// Returns the state after three blocks.
template <std::size_t block_bytes>
PENSTOCK_SSE42 std::uint32_t UpdateThree(std::uint32_t state, const std::byte* at,
                                         const ShiftTable& shift) {
  std::uint64_t first = state;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  for (std::size_t i = 0; i < block_bytes; i += 8) {
    first = _mm_crc32_u64(first, LoadLittleEndian(at + i));
    second = _mm_crc32_u64(second, LoadLittleEndian(at + block_bytes + i));
    third = _mm_crc32_u64(third, LoadLittleEndian(at + 2 * block_bytes + i));
  }
  const std::uint32_t two =
      Shift(shift, static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
  return Shift(shift, two) ^ static_cast<std::uint32_t>(third);
}

}  // namespace

PENSTOCK_SSE42 std::uint32_t UpdateCrc32cSse42(std::uint32_t state, ByteView bytes) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 3 * kLongBlock; left -= 3 * kLongBlock, at += 3 * kLongBlock) {
    state = UpdateThree<kLongBlock>(state, at, kLongShift);
  }
  for (; left >= 3 * kShortBlock; left -= 3 * kShortBlock, at += 3 * kShortBlock) {
    state = UpdateThree<kShortBlock>(state, at, kShortShift);
  }
  std::uint64_t wide = state;
  for (; left >= 8; left -= 8, at += 8) wide = _mm_crc32_u64(wide, LoadLittleEndian(at));
  state = static_cast<std::uint32_t>(wide);
  for (; left > 0; --left, ++at) state = _mm_crc32_u8(state, std::to_integer<unsigned char>(*at));
  return state;
}

CrcPath32 Crc32cSse42Path() {
  return __builtin_cpu_supports("sse4.2") != 0 ? &UpdateCrc32cSse42 : nullptr;
}

#else

CrcPath32 Crc32cSse42Path() { return nullptr; }

#endif

}  // namespace penstock::internal
