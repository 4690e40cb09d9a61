// CRC-32, CRC-32C and CRC-64/NVME with VPCLMULQDQ on 256-bit registers (AVX2), 128 bytes per step.
#include "base/crc/crc_fold.h"
#include "base/crc/crc_hardware.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PENSTOCK_FOLD_256 __attribute__((target("avx2,vpclmulqdq,pclmul")))
#endif

namespace penstock::internal {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLaneBytes = 32;
constexpr std::size_t kLanes = 4;  // enough to hide the latency of the multiplication
constexpr std::size_t kStepBytes = kLanes * kLaneBytes;

PENSTOCK_FOLD_256 inline __m256i Load(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// Folds `block` onto `next`, each 128-bit lane separately.
PENSTOCK_FOLD_256 inline __m256i FoldOnto(__m256i block, __m256i constants, __m256i next) {
  const __m256i low = _mm256_clmulepi64_epi128(block, constants, 0x00);
  const __m256i high = _mm256_clmulepi64_epi128(block, constants, 0x11);
  return _mm256_xor_si256(next, _mm256_xor_si256(low, high));
}

// Folds whole steps. The result is a message of one step with the same CRC. The narrow path
// processes it and the tail.
template <class Kind, auto narrow>
PENSTOCK_FOLD_256 typename Kind::Word Update(typename Kind::Word state, ByteView bytes) {
  if (bytes.size() < 2 * kStepBytes) return narrow(state, bytes);
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();

  __m256i lanes[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = Load(at + i * kLaneBytes);
  lanes[0] = _mm256_xor_si256(
      lanes[0], _mm256_set_epi64x(0, 0, 0, static_cast<long long>(std::uint64_t{state})));
  at += kStepBytes;
  left -= kStepBytes;

  using Fold = CrcFold<Kind, kStepBytes * 8>;
  const __m256i constants = _mm256_broadcastsi128_si256(
      _mm_set_epi64x(static_cast<long long>(Fold::kHigh), static_cast<long long>(Fold::kLow)));
  for (; left >= kStepBytes; left -= kStepBytes, at += kStepBytes) {
#pragma GCC unroll 4  // with -O2 alone the lanes stay in memory
    for (std::size_t i = 0; i < kLanes; ++i)
      lanes[i] = FoldOnto(lanes[i], constants, Load(at + i * kLaneBytes));
  }

  std::byte rest[kStepBytes];
  for (std::size_t i = 0; i < kLanes; ++i)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(rest + i * kLaneBytes), lanes[i]);
  return narrow(narrow(0, ByteView(rest)), ByteView(at, left));
}

bool Supported() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0 &&
         __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.2") != 0;
}

}  // namespace

CrcPath32 Crc32Fold256Path() {
  return Supported() ? &Update<Crc32Kind, UpdateCrc32Fold128> : nullptr;
}
CrcPath32 Crc32cFold256Path() {
  return Supported() ? &Update<Crc32cKind, UpdateCrc32cByInstruction> : nullptr;
}
CrcPath64 Crc64NvmeFold256Path() {
  return Supported() ? &Update<Crc64NvmeKind, UpdateCrc64NvmeFold128> : nullptr;
}

#else

CrcPath32 Crc32Fold256Path() { return nullptr; }
CrcPath32 Crc32cFold256Path() { return nullptr; }
CrcPath64 Crc64NvmeFold256Path() { return nullptr; }

#endif

}  // namespace penstock::internal
