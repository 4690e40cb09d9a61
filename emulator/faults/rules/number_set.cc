#include "emulator/faults/rules/number_set.h"

#include <algorithm>
#include <optional>
#include <string>

#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::faults {
namespace {

constexpr std::size_t kMaxItems = 64;
constexpr std::uint64_t kMaxNumber = 999'999'999'999'999'999;

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  return s3::ParseDecimal(s3::TrimBlanks(text), kMaxNumber);
}

bool ConsumePrefix(std::string_view& text, std::string_view with) {
  if (!text.starts_with(with)) return false;
  text.remove_prefix(with.size());
  return true;
}

}  // namespace

Result<NumberSet::Item> NumberSet::ParseItem(std::string_view text) {
  std::string_view rest = text = s3::TrimBlanks(text);
  std::optional<Item> item;
  if (ConsumePrefix(rest, ">=")) {
    if (const auto least = ParseNumber(rest)) item = Item{.least = *least, .most = UINT64_MAX};
  } else if (ConsumePrefix(rest, "<=")) {
    if (const auto most = ParseNumber(rest)) item = Item{.most = *most};
  } else if (ConsumePrefix(rest, "every ")) {
    if (const auto every = ParseNumber(rest); every && *every > 0)
      item = Item{.least = *every, .most = UINT64_MAX, .every = *every};
  } else if (const auto dash = rest.find('-'); dash != std::string_view::npos) {
    const auto least = ParseNumber(rest.substr(0, dash));
    const auto most = ParseNumber(rest.substr(dash + 1));
    if (least && most && *least <= *most) item = Item{.least = *least, .most = *most};
  } else if (const auto number = ParseNumber(rest)) {
    item = Item{.least = *number, .most = *number};
  }
  if (item) return *item;
  return Error::Make(ErrorKind::kInvalidArgument,
                     "'" + std::string(text) +
                         "' is not a set of numbers: expected 3, 3-5, >=2, <=9, every 5, or a "
                         "comma-separated list of these");
}

Result<NumberSet> NumberSet::Parse(std::string_view text) {
  NumberSet set;
  for (;;) {
    const std::size_t comma = text.find(',');
    PENSTOCK_ASSIGN(const Item item, ParseItem(text.substr(0, comma)));
    set.items_.push_back(item);
    if (comma == std::string_view::npos) return set;
    if (set.items_.size() == kMaxItems)
      return Error::Make(ErrorKind::kInvalidArgument, "has more than 64 comma-separated items");
    text.remove_prefix(comma + 1);
  }
}

NumberSet NumberSet::Of(std::uint64_t number) {
  NumberSet set;
  set.items_.push_back({.least = number, .most = number});
  return set;
}

bool NumberSet::HasZeroAtMost() const {
  return std::all_of(items_.begin(), items_.end(), [](const Item& item) { return item.most == 0; });
}

bool NumberSet::Has(std::uint64_t number) const {
  return std::any_of(items_.begin(), items_.end(), [number](const Item& item) {
    return number >= item.least && number <= item.most && number % item.every == 0;
  });
}

}  // namespace penstock::emulator::faults
