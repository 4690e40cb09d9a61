#include "emulator/faults/rule_index.h"

#include <algorithm>
#include <cstring>

namespace penstock::emulator::faults {

Opening Opening::OfName(std::string_view name) {
  Opening opening;
  // Who has no name at all has no address either.
  if (!name.empty()) std::memcpy(opening.bytes_.data(), name.data(), std::min(name.size(), sizeof(opening.bytes_)));
  return opening;
}

Opening Opening::OfPattern(const std::optional<Pattern>& pattern) {
  if (!pattern) return {};
  Opening opening = OfName(pattern->literal());
  std::memset(opening.mask_.data(), 0xff, std::min(pattern->literal().size(), sizeof(opening.mask_)));
  return opening;
}

RuleIndex::RuleIndex(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    for (const std::string& operation : rule.when.operations) by_operation_[operation];
  }
  for (std::size_t place = 0; place < rules.size(); ++place) {
    const Condition& when = rules[place].when;
    if (rules[place].deeds.front().at.stage == Stage::kAccept) continue;
    const Candidate candidate{.key = Opening::OfPattern(when.key), .headers = NeedsOf(when), .bucket = Opening::OfPattern(when.bucket), .place = place};
    if (when.operations.empty()) of_others_.push_back(candidate);
    for (auto& [operation, candidates] : by_operation_) {
      if (when.operations.empty() || std::binary_search(when.operations.begin(), when.operations.end(), operation)) {
        candidates.push_back(candidate);
      }
    }
  }
}

std::span<const RuleIndex::Candidate> RuleIndex::Of(std::string_view operation) const {
  const auto found = by_operation_.find(operation);
  return found == by_operation_.end() ? of_others_ : found->second;
}

bool RuleIndex::Concerns(const Names& names) const {
  bool any = false;
  ForEach(names, [&any](std::size_t) {
    any = true;
    return false;
  });
  return any;
}

}  // namespace penstock::emulator::faults
