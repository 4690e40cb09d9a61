#include "emulator/traffic/limits/partition_model.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace penstock::emulator::traffic {
namespace {

constexpr std::chrono::seconds kSecond{1};
constexpr std::uint64_t kColdShare = 8;  // One eighth of a partition's rate.

// Returns the shortest text that sorts after `left` and not after `right`.
std::string_view Boundary(std::string_view left, std::string_view right) {
  const auto [in_left, in_right] =
      std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  return right.substr(0, static_cast<std::size_t>(in_right - right.begin()) + 1);
}

// Returns where to split `keys`: the shortest prefix that leaves a quarter of them on either side,
// and of several the one nearest to the middle. If there is none, returns the cut nearest to the
// middle. nullopt if all keys are equal.
std::optional<std::string> SplitBoundary(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  const std::size_t half = keys.size() / 2;
  std::optional<std::string> best;
  for (std::size_t away = 0; away <= half; ++away) {
    for (const std::size_t at : {half - away, half + away}) {
      if (at < 1 || at >= keys.size() || keys[at - 1] == keys[at]) continue;
      const std::string_view cut = Boundary(keys[at - 1], keys[at]);
      if (!best || (away * 4 <= keys.size() && cut.size() < best->size())) best = cut;
    }
  }
  return best;
}

}  // namespace

PartitionModel::PartitionModel(Limits limits) : limits_(limits) {
  partitions_.emplace(std::string(), NewPartition(Instant{}));
}

PartitionModel::Partition PartitionModel::NewPartition(Instant now) {
  const auto side = [this](Traffic traffic) {
    return Side{.bucket = TokenBucket(limits_.PerSecond(traffic), limits_.Burst(traffic))};
  };
  return Partition{.id = next_id_++,
                   .sides = {side(Traffic::kRead), side(Traffic::kWrite)},
                   .second = now,
                   .cold_since = now};
}

Verdict PartitionModel::Admit(std::string_view key, Traffic traffic, Instant now) {
  if (last_ == Instant::min()) {
    for (auto& [begin, partition] : partitions_) partition.second = partition.cold_since = now;
    next_merge_check_ = now;
  }
  last_ = now = std::max(now, last_);
  if (now >= next_merge_check_) MergeCold(now);
  auto place = std::prev(partitions_.upper_bound(key));
  CloseElapsedSeconds(place->second, now);
  if (limits_.split_after.count() > 0 && place->second.hot_since != Instant::max() &&
      now - place->second.hot_since >= limits_.split_after) {
    Split(place, now);
    place = std::prev(partitions_.upper_bound(key));
  }
  Partition& partition = place->second;
  Side& side = partition.sides[static_cast<std::size_t>(traffic)];
  ++side.asked;
  if (partition.hot_since != Instant::max()) Sample(partition, key);
  const Verdict verdict{
      .admitted = side.bucket.Take(now), .partition = partition.id, .begin = place->first};
  ++(verdict.admitted ? side.admitted : side.refused);
  return verdict;
}

void PartitionModel::Cut(const std::vector<std::string>& boundaries, Instant now) {
  for (const std::string& boundary : boundaries) {
    if (partitions_.size() >= limits_.max_partitions) return;
    partitions_.try_emplace(boundary, NewPartition(std::max(now, last_)));
  }
}

// Closes the seconds that have passed since the partition's last request.
void PartitionModel::CloseElapsedSeconds(Partition& partition, Instant now) const {
  const auto passed = (now - partition.second) / kSecond;
  if (passed <= 0) return;
  CloseSecond(partition);
  if (passed > 1) CloseSecond(partition);  // A second without requests is neither hot nor busy.
  partition.second += passed * kSecond;
}

void PartitionModel::CloseSecond(Partition& partition) const {
  bool hot = false;
  bool cold = true;
  for (const Traffic traffic : {Traffic::kRead, Traffic::kWrite}) {
    Side& side = partition.sides[static_cast<std::size_t>(traffic)];
    side.last_second = std::exchange(side.asked, 0);
    hot = hot || side.last_second > limits_.PerSecond(traffic);
    cold = cold && side.last_second * kColdShare < limits_.PerSecond(traffic);
  }
  if (!cold) partition.cold_since = partition.second + kSecond;
  if (!hot) {
    partition.hot_since = Instant::max();
    partition.sample.clear();
    partition.sampled = 0;
  } else if (partition.hot_since == Instant::max()) {
    partition.hot_since = partition.second;
  }
}

void PartitionModel::Sample(Partition& partition, std::string_view key) const {
  if (partition.sample.size() < kSample) {
    partition.sample.emplace_back(key);
  } else {
    partition.sample[partition.sampled % kSample].assign(key);
  }
  ++partition.sampled;
}

void PartitionModel::Split(Partitions::iterator place, Instant now) {
  Partition& left = place->second;
  if (partitions_.size() >= limits_.max_partitions) return;
  const std::optional<std::string> middle = SplitBoundary(left.sample);
  if (!middle) return;  // A single hot key cannot be split, in S3 neither.
  const std::uint32_t old = left.id;
  left = NewPartition(now);
  Partition right = NewPartition(now);
  AddEvent({.kind = PartitionEvent::Kind::kSplit,
            .at = now,
            .boundary = *middle,
            .whole = old,
            .left = left.id,
            .right = right.id});
  partitions_.emplace(*middle, std::move(right));
}

void PartitionModel::MergeCold(Instant now) {
  next_merge_check_ = now + kSecond;
  if (limits_.merge_after.count() <= 0 || partitions_.size() < 2) return;
  for (auto left = partitions_.begin(), right = std::next(left); right != partitions_.end();
       right = std::next(left)) {
    CloseElapsedSeconds(left->second, now);
    CloseElapsedSeconds(right->second, now);
    const Instant cold_since = std::max(left->second.cold_since, right->second.cold_since);
    if (now - cold_since < limits_.merge_after) {
      left = right;
      continue;
    }
    Partition merged = NewPartition(now);
    AddEvent({.kind = PartitionEvent::Kind::kMerge,
              .at = now,
              .boundary = right->first,
              .whole = merged.id,
              .left = left->second.id,
              .right = right->second.id});
    left->second = std::move(merged);
    partitions_.erase(right);
  }
}

void PartitionModel::AddEvent(PartitionEvent event) {
  if (events_.size() == kMaxEvents) events_.pop_front();
  events_.push_back(std::move(event));
}

std::vector<PartitionGauge> PartitionModel::Gauges(Instant now) {
  now = std::max(now, last_);
  std::vector<PartitionGauge> gauges;
  gauges.reserve(partitions_.size());
  for (auto place = partitions_.begin(); place != partitions_.end(); ++place) {
    Partition& partition = place->second;
    CloseElapsedSeconds(partition, now);
    const auto side = [now](Side& from) {
      return PartitionGauge::Side{.tokens = from.bucket.Level(now),
                                  .admitted = from.admitted,
                                  .refused = from.refused,
                                  .last_second = from.last_second};
    };
    const auto next = std::next(place);
    gauges.push_back({.id = partition.id,
                      .begin = place->first,
                      .end = next == partitions_.end() ? std::string() : next->first,
                      .reads = side(partition.sides[0]),
                      .writes = side(partition.sides[1])});
  }
  return gauges;
}

}  // namespace penstock::emulator::traffic
