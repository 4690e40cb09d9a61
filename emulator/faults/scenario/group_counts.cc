#include "emulator/faults/scenario/group_counts.h"

#include <iterator>

namespace penstock::emulator::faults {

std::uint64_t GroupCounts::Taken(std::string_view group) {
  const auto found = by_group_.find(group);
  if (found == by_group_.end()) return 0;
  const Entries::iterator entry = found->second;
  if (entry->under_way == 0) idle_.splice(idle_.end(), idle_, entry);
  return entry->taken;
}

void GroupCounts::Take(std::string_view group) {
  const auto found = by_group_.find(group);
  if (found != by_group_.end()) {
    const Entries::iterator entry = found->second;
    if (entry->under_way++ == 0) busy_.splice(busy_.end(), idle_, entry);
    ++entry->taken;
    return;
  }
  while (by_group_.size() >= most_ && !idle_.empty()) {
    by_group_.erase(idle_.front().group);
    idle_.pop_front();
  }
  busy_.push_back({.group = std::string(group), .taken = 1, .under_way = 1});
  by_group_.emplace(busy_.back().group, std::prev(busy_.end()));
}

void GroupCounts::Finish(std::string_view group, bool happened) {
  const auto found = by_group_.find(group);
  if (found == by_group_.end()) return;
  const Entries::iterator entry = found->second;
  if (!happened) --entry->taken;
  if (--entry->under_way > 0) return;
  if (entry->taken == 0) {
    by_group_.erase(found);
    busy_.erase(entry);
  } else {
    idle_.splice(idle_.end(), busy_, entry);
  }
}

}  // namespace penstock::emulator::faults
