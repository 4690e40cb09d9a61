// CRC-32C with the crc32 instruction of SSE4.2, and CRC-32 and CRC-32C with the crc32 instructions
// of ARMv8. An instruction has a throughput of one per cycle but a latency of two or three. So
// three adjacent blocks are computed at a time and their states are combined.
#include <array>
#include <type_traits>

#include "base/crc/crc_hardware.h"
#include "base/crc/crc_polynomial.h"
#include "base/crc/crc_slicing.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PENSTOCK_CRC_INSTRUCTION __attribute__((target("sse4.2")))
#elif defined(PENSTOCK_CRC_ARM64)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#define PENSTOCK_CRC_INSTRUCTION __attribute__((target("+crc")))
#endif

namespace penstock::internal {

#if defined(PENSTOCK_CRC_INSTRUCTION)
namespace {

#if defined(__x86_64__)
// What the instruction reads and writes: a narrower type costs a move for each word.
using Register = std::uint64_t;

template <class Kind>
PENSTOCK_CRC_INSTRUCTION inline Register AddWord(Register state, std::uint64_t word) {
  static_assert(std::is_same_v<Kind, Crc32cKind>);
  return _mm_crc32_u64(state, word);
}
template <class Kind>
PENSTOCK_CRC_INSTRUCTION inline std::uint32_t AddByte(std::uint32_t state, std::byte byte) {
  return _mm_crc32_u8(state, std::to_integer<unsigned char>(byte));
}
bool Supported() { return __builtin_cpu_supports("sse4.2") != 0; }
#else
using Register = std::uint32_t;

template <class Kind>
PENSTOCK_CRC_INSTRUCTION inline Register AddWord(Register state, std::uint64_t word) {
  return std::is_same_v<Kind, Crc32cKind> ? __crc32cd(state, word) : __crc32d(state, word);
}
template <class Kind>
PENSTOCK_CRC_INSTRUCTION inline std::uint32_t AddByte(std::uint32_t state, std::byte byte) {
  const auto value = std::to_integer<std::uint8_t>(byte);
  return std::is_same_v<Kind, Crc32cKind> ? __crc32cb(state, value) : __crc32b(state, value);
}
bool Supported() { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

constexpr std::size_t kLongBlock = 4096;
constexpr std::size_t kShortBlock = 256;

using ShiftTable = std::array<std::array<std::uint32_t, 256>, 4>;

// [k][b] is the state after `bytes` zero bytes, starting from a state whose byte k is b and whose
// other bytes are 0.
template <class Kind>
constexpr ShiftTable MakeShiftTable(std::uint64_t bytes) {
  const std::uint32_t power = CrcPowerOfX<Kind>(8 * bytes);
  ShiftTable table{};
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t bit = 0; bit < 8; ++bit) {
      table[k][std::size_t{1} << bit] = CrcMultiply<Kind>(std::uint32_t{1} << (8 * k + bit), power);
    }
    // The shift is linear: every other entry is the XOR of the entries of its bits.
    for (std::size_t b = 1; b < 256; ++b)
      table[k][b] = table[k][b & (b - 1)] ^ table[k][b & (~b + 1)];
  }
  return table;
}

template <class Kind>
constexpr ShiftTable kLongShift = MakeShiftTable<Kind>(kLongBlock);
template <class Kind>
constexpr ShiftTable kShortShift = MakeShiftTable<Kind>(kShortBlock);

std::uint32_t Shift(const ShiftTable& table, std::uint32_t state) {
  return table[0][state & 0xFF] ^ table[1][state >> 8 & 0xFF] ^ table[2][state >> 16 & 0xFF] ^
         table[3][state >> 24];
}

// Returns the state after three blocks.
template <class Kind, std::size_t block_bytes>
PENSTOCK_CRC_INSTRUCTION std::uint32_t UpdateThree(std::uint32_t state, const std::byte* at,
                                                   const ShiftTable& shift) {
  Register first = state;
  Register second = 0;
  Register third = 0;
  for (std::size_t i = 0; i < block_bytes; i += 8) {
    first = AddWord<Kind>(first, LoadLittleEndian(at + i));
    second = AddWord<Kind>(second, LoadLittleEndian(at + block_bytes + i));
    third = AddWord<Kind>(third, LoadLittleEndian(at + 2 * block_bytes + i));
  }
  const std::uint32_t two =
      Shift(shift, static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
  return Shift(shift, two) ^ static_cast<std::uint32_t>(third);
}

template <class Kind>
PENSTOCK_CRC_INSTRUCTION std::uint32_t Update(std::uint32_t state, ByteView bytes) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 3 * kLongBlock; left -= 3 * kLongBlock, at += 3 * kLongBlock)
    state = UpdateThree<Kind, kLongBlock>(state, at, kLongShift<Kind>);
  for (; left >= 3 * kShortBlock; left -= 3 * kShortBlock, at += 3 * kShortBlock)
    state = UpdateThree<Kind, kShortBlock>(state, at, kShortShift<Kind>);
  Register wide = state;
  for (; left >= 8; left -= 8, at += 8) wide = AddWord<Kind>(wide, LoadLittleEndian(at));
  state = static_cast<std::uint32_t>(wide);
  for (; left > 0; --left, ++at) state = AddByte<Kind>(state, *at);
  return state;
}

}  // namespace

std::uint32_t UpdateCrc32cByInstruction(std::uint32_t state, ByteView bytes) {
  return Update<Crc32cKind>(state, bytes);
}
CrcPath32 Crc32cInstructionPath() { return Supported() ? &UpdateCrc32cByInstruction : nullptr; }

#if defined(__x86_64__)
CrcPath32 Crc32InstructionPath() { return nullptr; }  // SSE4.2 has no instruction for it
#else
CrcPath32 Crc32InstructionPath() { return Supported() ? &Update<Crc32Kind> : nullptr; }
#endif

#else

CrcPath32 Crc32cInstructionPath() { return nullptr; }
CrcPath32 Crc32InstructionPath() { return nullptr; }

#endif

}  // namespace penstock::internal
