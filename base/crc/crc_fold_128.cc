// CRC-32 and CRC-64/NVME with PCLMULQDQ, 64 bytes per step.
#include "base/crc/crc_fold.h"
#include "base/crc/crc_hardware.h"
#include "base/crc/crc_slicing.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PENSTOCK_FOLD_128 __attribute__((target("pclmul,sse4.1")))
#endif

namespace penstock::internal {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLaneBytes = 16;
constexpr std::size_t kLanes = 4;  // enough to hide the latency of the multiplication

PENSTOCK_FOLD_128 inline __m128i Load(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

template <class Kind, std::size_t distance_bits>
PENSTOCK_FOLD_128 inline __m128i Constants() {
  using Fold = CrcFold<Kind, distance_bits>;
  return _mm_set_epi64x(static_cast<long long>(Fold::kHigh), static_cast<long long>(Fold::kLow));
}

// Folds `block` onto `next`.
PENSTOCK_FOLD_128 inline __m128i FoldOnto(__m128i block, __m128i constants, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(block, constants, 0x00);
  const __m128i high = _mm_clmulepi64_si128(block, constants, 0x11);
  return _mm_xor_si128(next, _mm_xor_si128(low, high));
}

// The state is added to the first bytes. Folding leaves a 16-byte message with the same CRC, and a
// tail. The table path processes both.
template <class Kind>
PENSTOCK_FOLD_128 typename Kind::Word Update(typename Kind::Word state, ByteView bytes) {
  if (bytes.size() < kLanes * kLaneBytes) return UpdateCrcBySlices<Kind>(state, bytes);
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();

  __m128i lanes[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = Load(at + i * kLaneBytes);
  lanes[0] =
      _mm_xor_si128(lanes[0], _mm_cvtsi64_si128(static_cast<long long>(std::uint64_t{state})));
  at += kLanes * kLaneBytes;
  left -= kLanes * kLaneBytes;

  const __m128i far = Constants<Kind, kLanes * kLaneBytes * 8>();
  for (; left >= kLanes * kLaneBytes; left -= kLanes * kLaneBytes, at += kLanes * kLaneBytes) {
#pragma GCC unroll 4  // with -O2 alone the lanes stay in memory
    for (std::size_t i = 0; i < kLanes; ++i)
      lanes[i] = FoldOnto(lanes[i], far, Load(at + i * kLaneBytes));
  }

  const __m128i near = Constants<Kind, kLaneBytes * 8>();
  __m128i folded = lanes[0];
  for (std::size_t i = 1; i < kLanes; ++i) folded = FoldOnto(folded, near, lanes[i]);
  for (; left >= kLaneBytes; left -= kLaneBytes, at += kLaneBytes)
    folded = FoldOnto(folded, near, Load(at));

  std::byte rest[kLaneBytes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), folded);
  return UpdateCrcBySlices<Kind>(UpdateCrcBySlices<Kind>(0, rest), {at, left});
}

bool Supported() {
  return __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

}  // namespace

std::uint32_t UpdateCrc32Fold128(std::uint32_t state, ByteView bytes) {
  return Update<Crc32Kind>(state, bytes);
}
std::uint64_t UpdateCrc64NvmeFold128(std::uint64_t state, ByteView bytes) {
  return Update<Crc64NvmeKind>(state, bytes);
}

CrcPath32 Crc32Fold128Path() { return Supported() ? &UpdateCrc32Fold128 : nullptr; }
CrcPath64 Crc64NvmeFold128Path() { return Supported() ? &UpdateCrc64NvmeFold128 : nullptr; }

#else

CrcPath32 Crc32Fold128Path() { return nullptr; }
CrcPath64 Crc64NvmeFold128Path() { return nullptr; }

#endif

}  // namespace penstock::internal
