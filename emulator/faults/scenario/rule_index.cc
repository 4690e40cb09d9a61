#include "emulator/faults/scenario/rule_index.h"

#include <algorithm>
#include <cstring>

namespace penstock::emulator::faults {

PrefixMask PrefixMask::OfName(std::string_view name) {
  PrefixMask mask;
  // An empty string_view may have a null pointer, which memcpy does not allow.
  if (!name.empty())
    std::memcpy(mask.bytes_.data(), name.data(), std::min(name.size(), sizeof(mask.bytes_)));
  return mask;
}

PrefixMask PrefixMask::OfPattern(const std::optional<Pattern>& pattern) {
  if (!pattern) return {};
  PrefixMask mask = OfName(pattern->literal());
  std::memset(mask.mask_.data(), 0xff, std::min(pattern->literal().size(), sizeof(mask.mask_)));
  return mask;
}

void PrefixMasks::Add(const PrefixMask& mask) {
  std::vector<Words>& sorted = sorted_by_mask_[mask.mask_];
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), mask.bytes_), mask.bytes_);
}

bool PrefixMasks::Admit(const PrefixMask& name) const {
  return std::any_of(sorted_by_mask_.begin(), sorted_by_mask_.end(), [&name](const auto& group) {
    const auto& [mask, sorted] = group;
    return std::binary_search(sorted.begin(), sorted.end(),
                              Words{name.bytes_[0] & mask[0], name.bytes_[1] & mask[1]});
  });
}

void RuleIndex::Candidates::Add(const Candidate& candidate) {
  all.push_back(candidate);
  if (candidate.key.empty()) {
    of_any_key.push_back(candidate);
  } else {
    key_masks.Add(candidate.key);
  }
}

RuleIndex::RuleIndex(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    for (const std::string& operation : rule.when.operations) by_operation_[operation];
  }
  for (std::size_t place = 0; place < rules.size(); ++place) {
    const Condition& when = rules[place].when;
    if (rules[place].actions.front().at.stage == Stage::kAccept) continue;
    const Candidate candidate{.key = PrefixMask::OfPattern(when.key),
                              .headers = NeedsOf(when),
                              .bucket = PrefixMask::OfPattern(when.bucket),
                              .place = place};
    if (when.operations.empty()) of_others_.Add(candidate);
    for (auto& [operation, candidates] : by_operation_) {
      if (when.operations.empty() ||
          std::binary_search(when.operations.begin(), when.operations.end(), operation)) {
        candidates.Add(candidate);
      }
    }
  }
}

const RuleIndex::Candidates& RuleIndex::Of(std::string_view operation) const {
  const auto found = by_operation_.find(operation);
  return found == by_operation_.end() ? of_others_ : found->second;
}

}  // namespace penstock::emulator::faults
