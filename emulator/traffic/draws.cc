#include "emulator/traffic/draws.h"

#include <cmath>
#include <numbers>
#include <string>

namespace penstock::emulator::traffic {
namespace {

std::array<std::byte, 8> LittleEndian(std::uint64_t word) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(word >> (8 * i));
  return bytes;
}

}  // namespace

Draws::Draws(std::uint64_t seed) : key_(LittleEndian(seed)) {}

Draw Draws::Of(std::string_view what, std::uint64_t ordinal) const {
  std::string message;
  message.reserve(what.size() + 8);
  message.append(what).append(AsText(LittleEndian(ordinal)));
  const Sha256Digest digest = key_.Sign(AsBytes(message));
  Draw draw{};
  for (std::size_t i = 0; i < draw.size(); ++i) {
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < 8; ++j)
      word = word << 8 | std::to_integer<std::uint64_t>(digest[8 * i + j]);
    draw[i] = std::ldexp(static_cast<double>(word >> 11), -53);
  }
  return draw;
}

double Normal(double first, double second) {
  // Box-Muller transform.
  return std::sqrt(-2 * std::log(1 - first)) * std::cos(2 * std::numbers::pi * second);
}

}  // namespace penstock::emulator::traffic
