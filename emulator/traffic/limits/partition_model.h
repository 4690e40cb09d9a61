// The partitions of one bucket and their budgets: decides which requests are admitted and which get
// 503 SlowDown.
//
// S3 divides a bucket's keys into ranges of key order, each with its own budget of reads and
// writes. A bucket begins as one range. A range under sustained overload is split between the keys
// that load it; idle ranges are merged again.
//
// AWS documents the budgets and the scaling (Amazon S3 User Guide, "Best practices design patterns:
// optimizing Amazon S3 performance"). Where and when ranges are split is this project's model: at
// the shortest prefix near the middle of the recent keys, after Limits::split_after.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_LIMITS_PARTITION_MODEL_H_
#define PENSTOCK_EMULATOR_TRAFFIC_LIMITS_PARTITION_MODEL_H_

#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/traffic/limits/limits.h"
#include "emulator/traffic/limits/token_bucket.h"

namespace penstock::emulator::traffic {

struct Verdict {
  bool admitted = true;
  std::uint32_t partition = 0;  // The partition's id. Ids are never reused.
  std::string_view begin;  // The partition's first key. Valid until the next call of the model.
};

struct PartitionEvent {
  enum class Kind { kSplit, kMerge };
  Kind kind = Kind::kSplit;
  Instant at{};
  std::string boundary;     // The first key of the right partition.
  std::uint32_t whole = 0;  // The partition that was split, or that resulted from a merge.
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

// The state of a partition: the last second with requests, and totals since its creation.
struct PartitionGauge {
  std::uint32_t id = 0;
  std::string begin;  // The first key.
  std::string end;    // The end of the keys, exclusive. Empty: no end.
  struct Side {
    std::uint64_t tokens = 0;       // Available now.
    std::uint64_t admitted = 0;     // Since its creation.
    std::uint64_t refused = 0;      // Since its creation.
    std::uint64_t last_second = 0;  // Requests, admitted or not.
  };
  Side reads;
  Side writes;
};

// If time runs backwards, it stands still.
//
// Thread safety: one thread at a time.
class PartitionModel {
 public:
  explicit PartitionModel(Limits limits);

  Verdict Admit(std::string_view key, Traffic traffic, Instant now);
  // The id of the partition that serves `key`. Changes nothing.
  std::uint32_t PartitionOf(std::string_view key) const {
    return std::prev(partitions_.upper_bound(key))->second.id;
  }
  // Starts a partition at each of these keys, as in a bucket that has been under load. Records no
  // event. Keys above max_partitions are ignored.
  void Cut(const std::vector<std::string>& boundaries, Instant now);
  // The states of all partitions, in key order.
  std::vector<PartitionGauge> Gauges(Instant now);
  // Splits and merges, oldest first; the latest kMaxEvents are kept.
  const std::deque<PartitionEvent>& events() const { return events_; }
  std::size_t partitions() const { return partitions_.size(); }

  static constexpr std::size_t kMaxEvents = 1'024;

 private:
  // Recent keys that decide where a hot partition is split.
  static constexpr std::size_t kSample = 256;
  struct Side {
    TokenBucket bucket;
    std::uint64_t admitted = 0;
    std::uint64_t refused = 0;
    std::uint64_t asked = 0;        // Requests in the current second.
    std::uint64_t last_second = 0;  // Requests in the previous second.
  };
  struct Partition {
    std::uint32_t id = 0;
    std::array<Side, 2> sides;  // By Traffic.
    Instant second{};           // Start of the current second.
    Instant hot_since = Instant::max();
    Instant cold_since{};
    std::vector<std::string> sample;  // Only while hot.
    std::uint64_t sampled = 0;
  };
  using Partitions = std::map<std::string, Partition, std::less<>>;  // By first key.

  Partition NewPartition(Instant now);
  void CloseElapsedSeconds(Partition& partition, Instant now) const;
  void CloseSecond(Partition& partition) const;
  void Sample(Partition& partition, std::string_view key) const;
  void Split(Partitions::iterator place, Instant now);
  void MergeCold(Instant now);
  void AddEvent(PartitionEvent event);

  const Limits limits_;
  Partitions partitions_;
  std::deque<PartitionEvent> events_;
  std::uint32_t next_id_ = 0;
  Instant last_ = Instant::min();
  Instant next_merge_check_ = Instant::min();
};

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_LIMITS_PARTITION_MODEL_H_
