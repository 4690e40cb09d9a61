// CRC-32, CRC-32C and CRC-64/NVME with VPCLMULQDQ on 512-bit registers (AVX-512), 256 bytes per
// step.
#include "base/crc/crc_fold.h"
#include "base/crc/crc_hardware.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PENSTOCK_FOLD_512 __attribute__((target("avx512f,vpclmulqdq,pclmul")))
#endif

namespace penstock::internal {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLaneBytes = 64;
constexpr std::size_t kLanes = 4;  // enough to hide the latency of the multiplication
constexpr std::size_t kStepBytes = kLanes * kLaneBytes;
constexpr int kAddThree = 0x96;  // truth table of a ^ b ^ c

PENSTOCK_FOLD_512 inline __m512i Load(const std::byte* from) { return _mm512_loadu_si512(from); }

// Folds `block` onto `next`, each 128-bit lane separately.
PENSTOCK_FOLD_512 inline __m512i FoldOnto(__m512i block, __m512i constants, __m512i next) {
  const __m512i low = _mm512_clmulepi64_epi128(block, constants, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(block, constants, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, kAddThree);
}

// Folds whole steps. The result is a message of one step with the same CRC. The narrow path
// processes it and the tail.
template <class Kind, auto narrow>
PENSTOCK_FOLD_512 typename Kind::Word Update(typename Kind::Word state, ByteView bytes) {
  if (bytes.size() < 2 * kStepBytes) return narrow(state, bytes);
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();

  __m512i lanes[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = Load(at + i * kLaneBytes);
  lanes[0] = _mm512_xor_si512(
      lanes[0],
      _mm512_set_epi64(0, 0, 0, 0, 0, 0, 0, static_cast<long long>(std::uint64_t{state})));
  at += kStepBytes;
  left -= kStepBytes;

  using Fold = CrcFold<Kind, kStepBytes * 8>;
  constexpr auto kLow = static_cast<long long>(Fold::kLow);
  constexpr auto kHigh = static_cast<long long>(Fold::kHigh);
  const __m512i constants = _mm512_set4_epi64(kHigh, kLow, kHigh, kLow);
  for (; left >= kStepBytes; left -= kStepBytes, at += kStepBytes) {
#pragma GCC unroll 4  // with -O2 alone the lanes stay in memory
    for (std::size_t i = 0; i < kLanes; ++i)
      lanes[i] = FoldOnto(lanes[i], constants, Load(at + i * kLaneBytes));
  }

  std::byte rest[kStepBytes];
  for (std::size_t i = 0; i < kLanes; ++i) _mm512_storeu_si512(rest + i * kLaneBytes, lanes[i]);
  return narrow(narrow(0, ByteView(rest)), ByteView(at, left));
}

bool Supported() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0 &&
         __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.2") != 0;
}

}  // namespace

CrcPath32 Crc32Fold512Path() {
  return Supported() ? &Update<Crc32Kind, UpdateCrc32Fold128> : nullptr;
}
CrcPath32 Crc32cFold512Path() {
  return Supported() ? &Update<Crc32cKind, UpdateCrc32cByInstruction> : nullptr;
}
CrcPath64 Crc64NvmeFold512Path() {
  return Supported() ? &Update<Crc64NvmeKind, UpdateCrc64NvmeFold128> : nullptr;
}

#else

CrcPath32 Crc32Fold512Path() { return nullptr; }
CrcPath32 Crc32cFold512Path() { return nullptr; }
CrcPath64 Crc64NvmeFold512Path() { return nullptr; }

#endif

}  // namespace penstock::internal
