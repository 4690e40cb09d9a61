#include "emulator/http/connection/request_ids.h"

#include <array>
#include <cstring>
#include <string_view>

namespace penstock::emulator::http {
namespace {

constexpr std::string_view kBase36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// Two digits at a time, the lower one first.
constexpr std::size_t kPairBits = 12;
constexpr auto kBase64Pairs = [] {
  std::array<std::array<char, 2>, 1 << kPairBits> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kBase64[i % 64], kBase64[i / 64]};
  return pairs;
}();
constexpr std::size_t kRequestIdLength = 16;
constexpr std::size_t kHostIdLength = 76;

// The finaliser of splitmix64: a bijection, so different numbers give different ids.
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

RequestIds RequestIdSource::Next() {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;
  const std::uint64_t mixed = Mix(seed_ + next_.fetch_add(1, std::memory_order_relaxed) * kGolden);
  RequestIds ids;
  ids.request_id.resize(kRequestIdLength);
  std::uint64_t digits = mixed;
  for (char& c : ids.request_id) {
    c = kBase36[digits % 36];
    digits = digits >= 36 ? digits / 36 : Mix(mixed + digits + kGolden);
  }
  constexpr std::size_t kPairsOfWord = 5;
  std::array<char, (kHostIdLength + 9) / 10 * 10> digits64;
  std::uint64_t word = mixed;
  for (char* to = digits64.data(); to != digits64.data() + digits64.size();) {
    word += kGolden;
    std::uint64_t bits = Mix(word);
    for (std::size_t i = 0; i < kPairsOfWord; ++i, bits >>= kPairBits, to += 2) {
      std::memcpy(to, kBase64Pairs[bits % kBase64Pairs.size()].data(), 2);
    }
  }
  digits64[kHostIdLength - 1] = '=';
  ids.host_id.assign(digits64.data(), kHostIdLength);
  return ids;
}

}  // namespace penstock::emulator::http
