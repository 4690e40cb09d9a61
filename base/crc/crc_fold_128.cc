// CRC-32, CRC-32C and CRC-64/NVME with PCLMULQDQ (x86) or PMULL (ARMv8), 64 bytes per step.
#include "base/crc/crc_fold.h"
#include "base/crc/crc_hardware.h"
#include "base/crc/crc_slicing.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define PENSTOCK_FOLD_128 __attribute__((target("pclmul,sse4.1")))
#elif defined(PENSTOCK_CRC_ARM64)
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

#define PENSTOCK_FOLD_128 __attribute__((target("+crypto")))
#endif

namespace penstock::internal {

#if defined(PENSTOCK_FOLD_128)
namespace {

constexpr std::size_t kLaneBytes = 16;
constexpr std::size_t kLanes = 4;  // enough to hide the latency of the multiplication

// Primitives on 128-bit blocks: Load, Store, Pair, Add, and the carry-less products of the low and
// of the high halves.
#if defined(__x86_64__)
using Block = __m128i;

PENSTOCK_FOLD_128 inline Block Load(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
PENSTOCK_FOLD_128 inline void Store(std::byte* to, Block block) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), block);
}
PENSTOCK_FOLD_128 inline Block Pair(std::uint64_t low, std::uint64_t high) {
  return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}
PENSTOCK_FOLD_128 inline Block Add(Block a, Block b) { return _mm_xor_si128(a, b); }
PENSTOCK_FOLD_128 inline Block MultiplyLow(Block a, Block b) {
  return _mm_clmulepi64_si128(a, b, 0x00);
}
PENSTOCK_FOLD_128 inline Block MultiplyHigh(Block a, Block b) {
  return _mm_clmulepi64_si128(a, b, 0x11);
}
bool Supported() {
  return __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
}
#else
using Block = poly64x2_t;

PENSTOCK_FOLD_128 inline Block Load(const std::byte* from) {
  return vreinterpretq_p64_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(from)));
}
PENSTOCK_FOLD_128 inline void Store(std::byte* to, Block block) {
  vst1q_u8(reinterpret_cast<std::uint8_t*>(to), vreinterpretq_u8_p64(block));
}
PENSTOCK_FOLD_128 inline Block Pair(std::uint64_t low, std::uint64_t high) {
  return vcombine_p64(vcreate_p64(low), vcreate_p64(high));
}
PENSTOCK_FOLD_128 inline Block Add(Block a, Block b) {
  return vreinterpretq_p64_u8(veorq_u8(vreinterpretq_u8_p64(a), vreinterpretq_u8_p64(b)));
}
PENSTOCK_FOLD_128 inline Block MultiplyLow(Block a, Block b) {
  return vreinterpretq_p64_p128(vmull_p64(vgetq_lane_p64(a, 0), vgetq_lane_p64(b, 0)));
}
PENSTOCK_FOLD_128 inline Block MultiplyHigh(Block a, Block b) {
  return vreinterpretq_p64_p128(vmull_high_p64(a, b));
}
bool Supported() { return (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0; }
#endif

template <class Kind, std::size_t distance_bits>
PENSTOCK_FOLD_128 inline Block Constants() {
  using Fold = CrcFold<Kind, distance_bits>;
  return Pair(Fold::kLow, Fold::kHigh);
}

// Folds `block` onto `next`.
PENSTOCK_FOLD_128 inline Block FoldOnto(Block block, Block constants, Block next) {
  return Add(next, Add(MultiplyLow(block, constants), MultiplyHigh(block, constants)));
}

// The state is added to the first bytes. Folding leaves a 16-byte message with the same CRC, and a
// tail. The table path processes both.
template <class Kind>
PENSTOCK_FOLD_128 typename Kind::Word Update(typename Kind::Word state, ByteView bytes) {
  if (bytes.size() < kLanes * kLaneBytes) return UpdateCrcBySlices<Kind>(state, bytes);
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();

  Block lanes[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = Load(at + i * kLaneBytes);
  lanes[0] = Add(lanes[0], Pair(state, 0));
  at += kLanes * kLaneBytes;
  left -= kLanes * kLaneBytes;

  const Block far = Constants<Kind, kLanes * kLaneBytes * 8>();
  for (; left >= kLanes * kLaneBytes; left -= kLanes * kLaneBytes, at += kLanes * kLaneBytes) {
#pragma GCC unroll 4  // with -O2 alone the lanes stay in memory
    for (std::size_t i = 0; i < kLanes; ++i)
      lanes[i] = FoldOnto(lanes[i], far, Load(at + i * kLaneBytes));
  }

  const Block near = Constants<Kind, kLaneBytes * 8>();
  Block folded = lanes[0];
  for (std::size_t i = 1; i < kLanes; ++i) folded = FoldOnto(folded, near, lanes[i]);
  for (; left >= kLaneBytes; left -= kLaneBytes, at += kLaneBytes)
    folded = FoldOnto(folded, near, Load(at));

  std::byte rest[kLaneBytes];
  Store(rest, folded);
  return UpdateCrcBySlices<Kind>(UpdateCrcBySlices<Kind>(0, rest), {at, left});
}

}  // namespace

std::uint32_t UpdateCrc32Fold128(std::uint32_t state, ByteView bytes) {
  return Update<Crc32Kind>(state, bytes);
}
std::uint64_t UpdateCrc64NvmeFold128(std::uint64_t state, ByteView bytes) {
  return Update<Crc64NvmeKind>(state, bytes);
}

CrcPath32 Crc32Fold128Path() { return Supported() ? &UpdateCrc32Fold128 : nullptr; }
CrcPath32 Crc32cFold128Path() { return Supported() ? &Update<Crc32cKind> : nullptr; }
CrcPath64 Crc64NvmeFold128Path() { return Supported() ? &UpdateCrc64NvmeFold128 : nullptr; }

#else

CrcPath32 Crc32Fold128Path() { return nullptr; }
CrcPath32 Crc32cFold128Path() { return nullptr; }
CrcPath64 Crc64NvmeFold128Path() { return nullptr; }

#endif

}  // namespace penstock::internal
