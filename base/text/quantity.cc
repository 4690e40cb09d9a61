#include "base/text/quantity.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "base/ascii.h"

namespace penstock {
namespace {

constexpr std::size_t kMaxDecimals = 6;  // 10^6 * 2^40 fits in 64 bits.
constexpr std::uint64_t kMaxValue = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kDigits = "0123456789";

// Removes the leading digits from `text` and returns them.
std::string_view TakeDigits(std::string_view& text) {
  const std::string_view digits =
      text.substr(0, std::min(text.find_first_not_of(kDigits), text.size()));
  text.remove_prefix(digits.size());
  return digits;
}

std::optional<std::uint64_t> ToNumber(std::string_view digits) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> ParseQuantity(std::string_view text,
                                           std::span<const QuantityUnit> units) {
  const std::optional<std::uint64_t> whole = ToNumber(TakeDigits(text));
  if (!whole) return std::nullopt;
  std::uint64_t decimals = 0;
  std::uint64_t scale = 1;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view digits = TakeDigits(text);
    if (digits.empty() || digits.size() > kMaxDecimals) return std::nullopt;
    decimals = *ToNumber(digits);
    for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
  }
  const bool has_unit = !text.empty();
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (has_unit && text.empty()) return std::nullopt;
  const std::string name = AsciiLower(text);
  const auto unit = std::ranges::find(units, std::string_view(name),
                                      [](const auto& known) { return known.name; });
  if (unit == units.end() || *whole > kMaxValue / unit->factor) return std::nullopt;
  const std::uint64_t value = *whole * unit->factor + decimals * unit->factor / scale;
  return value <= kMaxValue ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> ParseByteSize(std::string_view text) {
  constexpr std::uint64_t kKilo = 1000;
  static constexpr QuantityUnit kUnits[] = {{"", 1},
                                            {"b", 1},
                                            {"kb", kKilo},
                                            {"mb", kKilo * kKilo},
                                            {"gb", kKilo * kKilo * kKilo},
                                            {"tb", kKilo * kKilo * kKilo * kKilo},
                                            {"kib", std::uint64_t{1} << 10},
                                            {"mib", std::uint64_t{1} << 20},
                                            {"gib", std::uint64_t{1} << 30},
                                            {"tib", std::uint64_t{1} << 40}};
  return ParseQuantity(text, kUnits);
}

}  // namespace penstock
