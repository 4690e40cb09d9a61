#include "emulator/faults/registry/hidden_writes.h"

#include <algorithm>
#include <utility>

namespace penstock::emulator::faults {

std::optional<HiddenWrites::Place> HiddenWrites::Begin(const std::string& bucket,
                                                       const std::string& key,
                                                       store::ObjectPtr before, WallTime now) {
  const MutexLock lock(mutex_);
  if (count_.load(std::memory_order_relaxed) >= kMax) EraseVisible(now);
  if (count_.load(std::memory_order_relaxed) >= kMax) return std::nullopt;
  buckets_[bucket][key].push_back({.number = ++last_, .before = std::move(before)});
  count_.fetch_add(1, std::memory_order_release);
  return Place{.bucket = bucket, .key = key, .number = last_};
}

void HiddenWrites::EraseVisible(WallTime now) {
  for (auto& [bucket, keys] : buckets_) {
    for (auto& [key, writes] : keys) {
      const auto hidden = FirstHidden(writes, now);
      count_.fetch_sub(static_cast<std::size_t>(hidden - writes.begin()),
                       std::memory_order_release);
      writes.erase(writes.begin(), hidden);
    }
    std::erase_if(keys, [](const auto& entry) { return entry.second.empty(); });
  }
  std::erase_if(buckets_, [](const auto& entry) { return entry.second.empty(); });
}

HiddenWrites::Writes* HiddenWrites::FindWrites(const Place& place) {
  const auto keys = buckets_.find(place.bucket);
  if (keys == buckets_.end()) return nullptr;
  const auto writes = keys->second.find(place.key);
  return writes == keys->second.end() ? nullptr : &writes->second;
}

void HiddenWrites::HideUntil(const Place& place, WallTime until) {
  const MutexLock lock(mutex_);
  Writes* const writes = FindWrites(place);
  if (writes == nullptr) return;  // Cleared in the meantime.
  for (Write& write : *writes) {
    if (write.number == place.number) write.until = until;
  }
}

void HiddenWrites::Drop(const Place& place) {
  const MutexLock lock(mutex_);
  Writes* const writes = FindWrites(place);
  if (writes == nullptr) return;
  count_.fetch_sub(
      std::erase_if(*writes, [&](const Write& write) { return write.number == place.number; }),
      std::memory_order_release);
}

void HiddenWrites::Clear() {
  const MutexLock lock(mutex_);
  buckets_.clear();
  count_.store(0, std::memory_order_release);
}

// A visible write makes all earlier writes visible.
HiddenWrites::Writes::const_iterator HiddenWrites::FirstHidden(const Writes& writes, WallTime now) {
  return std::find_if(writes.rbegin(), writes.rend(),
                      [now](const Write& write) { return write.until <= now; })
      .base();
}

std::optional<store::ObjectPtr> HiddenWrites::Find(const std::string& bucket,
                                                   const std::string& key, WallTime now) const {
  const MutexLock lock(mutex_);
  const auto keys = buckets_.find(bucket);
  if (keys == buckets_.end()) return std::nullopt;
  const auto writes = keys->second.find(key);
  if (writes == keys->second.end()) return std::nullopt;
  const auto hidden = FirstHidden(writes->second, now);
  return hidden == writes->second.end() ? std::nullopt : std::optional(hidden->before);
}

std::vector<HiddenWrites::VisibleObject> HiddenWrites::Under(const std::string& bucket,
                                                             std::string_view prefix,
                                                             WallTime now) const {
  std::vector<VisibleObject> visible;
  const MutexLock lock(mutex_);
  const auto keys = buckets_.find(bucket);
  if (keys == buckets_.end()) return visible;
  for (auto at = keys->second.lower_bound(prefix);
       at != keys->second.end() && at->first.starts_with(prefix); ++at) {
    const auto hidden = FirstHidden(at->second, now);
    if (hidden != at->second.end()) visible.push_back({at->first, hidden->before});
  }
  return visible;
}

}  // namespace penstock::emulator::faults
