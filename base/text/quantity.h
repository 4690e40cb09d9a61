// Sizes and durations with units, as people write them in settings: "64MiB", "1.5 GB", "25ms".
#ifndef PENSTOCK_BASE_TEXT_QUANTITY_H_
#define PENSTOCK_BASE_TEXT_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

struct QuantityUnit {
  std::string_view name;  // In lower case; "": a number without a unit.
  std::uint64_t factor;   // In the smallest unit; at most 2^40.
};

// Parses a number, blanks, and a unit in any case. The number has digits, then optionally a point
// and one to six digits. Returns the value in the smallest unit, rounded down; nullopt for other
// texts, unknown units and values of 2^63 or more.
std::optional<std::uint64_t> ParseQuantity(std::string_view text,
                                           std::span<const QuantityUnit> units);

// Parses a number of bytes: without a unit or with B, kB, MB, GB, TB (powers of 1000), KiB, MiB,
// GiB, TiB (powers of 1024). quantity_cases.tsv has examples. The Python packages
// (penstock/_argument_values.py, penstock_emulator/_sizes.py) accept the same texts.
std::optional<std::uint64_t> ParseByteSize(std::string_view text);

}  // namespace penstock

#endif  // PENSTOCK_BASE_TEXT_QUANTITY_H_
