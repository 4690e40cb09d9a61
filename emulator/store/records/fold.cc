#include "emulator/store/records/fold.h"

namespace penstock::emulator::store {

std::optional<std::string> Successor(std::string_view prefix) {
  std::string next(prefix);
  while (!next.empty()) {
    const auto last = static_cast<unsigned char>(next.back());
    if (last != 0xFF) {
      next.back() = static_cast<char>(last + 1);
      return next;
    }
    next.pop_back();
  }
  return std::nullopt;
}

std::string_view KeyFold::GroupOf(std::string_view key) const {
  if (delimiter_.empty()) return {};
  const std::size_t at = key.find(delimiter_, prefix_.size());
  return at == std::string_view::npos ? std::string_view{} : key.substr(0, at + delimiter_.size());
}

std::optional<std::string> KeyFold::LowerBound(std::string_view after) const {
  if (after.empty() || after < prefix_) return std::string(prefix_);
  if (!Matches(after)) return std::nullopt;  // after every key with this prefix
  const std::string_view group = GroupOf(after);
  if (!group.empty()) return Successor(group);
  return std::string(after) + '\0';
}

}  // namespace penstock::emulator::store
