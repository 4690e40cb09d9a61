#include "emulator/http/request_ids.h"

#include <algorithm>
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
  for (char& c : ids.request_id) {
    c = kBase36[digits % 36];
    digits = digits >= 36 ? digits / 36 : Mix(mixed + digits + kGolden);
  }
  ids.host_id.resize(kHostIdLength, '=');
  char* to = ids.host_id.data();
  char* const end = to + kHostIdLength - 1;
  for (std::uint64_t word = mixed; to != end;) {
    word += kGolden;
    std::uint64_t bits = Mix(word);
    for (char* const stop = std::min(to + 10, end); to != stop; bits >>= 6) *to++ = kBase64[bits & 63];
  }
  return ids;
}

}  // namespace penstock::emulator::http
