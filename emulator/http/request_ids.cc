#include "emulator/http/request_ids.h"

#include <string_view>

namespace penstock::emulator::http {
namespace {

constexpr std::string_view kBase36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kRequestIdLength = 16;
constexpr std::size_t kHostIdLength = 76;

// splitmix64's finaliser: a bijection, so different numbers give different ids.
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
  for (char& c : ids.request_id) {    c = kBase36[digits % 36];
    digits = digits >= 36 ? digits / 36 : Mix(mixed + digits + kGolden);
  }
  ids.host_id.resize(kHostIdLength, '=');
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i + 1 < kHostIdLength; ++i) {
    if (i % 10 == 0) bits = Mix(mixed + (i + 1) * kGolden);
    ids.host_id[i] = kBase64[bits & 63];
    bits >>= 6;
  }
  return ids;
}

}  // namespace penstock::emulator::http
