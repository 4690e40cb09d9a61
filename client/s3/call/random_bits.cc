#include "client/s3/call/random_bits.h"

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <utility>

#include "base/encoding.h"
#include "base/process_id.h"

namespace penstock::s3 {
namespace {

// SplitMix64's finalizer: every input bit reaches every output bit.
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15u;

}  // namespace

RandomBits MakeRandomBits() {
  std::random_device device;
  const std::uint64_t seed = (std::uint64_t{device()} << 32) | device();
  auto state =
      std::make_shared<std::atomic<std::uint64_t>>(seed);  // Shared: std::function is copyable.
  return [state] {
    const std::uint64_t step = state->fetch_add(kGoldenGamma, std::memory_order_relaxed);
    // Parent and child share the step, but not the pid.
    return Mix(step ^ Mix(static_cast<std::uint64_t>(ProcessId())));
  };
}

double ToUnitInterval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

std::string MakeUuid(const RandomBits& random) {
  std::array<std::byte, 16> bytes{};
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t bits = random();
    for (std::size_t i = 0; i < 8; ++i, bits >>= 8)
      bytes[half * 8 + i] = static_cast<std::byte>(bits & 0xff);
  }
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x40};
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};
  const std::string digits = HexEncode(bytes);
  std::string text;
  text.reserve(36);
  std::size_t at = 0;
  for (const std::size_t group : {8u, 4u, 4u, 4u, 12u}) {
    if (at != 0) text.push_back('-');
    text.append(digits, at, group);
    at += group;
  }
  return text;
}

}  // namespace penstock::s3
