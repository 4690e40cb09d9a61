// One bucket's partitions and their budgets: who is admitted and who gets 503 SlowDown.
//
// S3 keeps a bucket's keys in ranges of key order, each with its own budget of reads and writes. A
// bucket begins as one range. A range under sustained overload is cut in two between the keys that
// load it; ranges that have gone quiet grow together again (protocol.md §7, emulator.md §2.3). AWS
// documents the budgets and that this happens; where it cuts and when is our model: at the shortest
// prefix about the middle of the recent keys, after Limits::split_after.
#ifndef PENSTOCK_EMULATOR_TRAFFIC_PARTITION_MODEL_H_
#define PENSTOCK_EMULATOR_TRAFFIC_PARTITION_MODEL_H_

#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/traffic/limits.h"
#include "emulator/traffic/token_bucket.h"

namespace penstock::emulator::traffic {

struct Verdict {
  bool admitted = true;
  std::uint32_t partition = 0;  // its id, never used again
  std::string_view begin;       // its first key; valid until the model is asked again
};

struct PartitionEvent {
  enum class Kind { kSplit, kMerge };
  Kind kind = Kind::kSplit;
  Instant at{};
  std::string boundary;     // the first key that the right one has, or had
  std::uint32_t whole = 0;  // the partition that was cut, or that came of two
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

// Of the last whole second that was asked for anything, and the sums since the partition came to
// be.
struct PartitionGauge {
  std::uint32_t id = 0;
  std::string begin;  // the keys from `begin` ...
  std::string end;    // ... up to, not including, `end`; empty: to the last
  struct Side {
    std::uint64_t tokens = 0;       // there now
    std::uint64_t admitted = 0;     // since it came to be
    std::uint64_t refused = 0;      // since it came to be
    std::uint64_t last_second = 0;  // asked for, admitted or not
  };
  Side reads;
  Side writes;
};

// Time that runs backwards stands still.
//
// Thread safety: one thread at a time.
class PartitionModel {
 public:
  explicit PartitionModel(Limits limits);

  Verdict Admit(std::string_view key, Traffic traffic, Instant now);
  // The id of the partition that has `key`; asking changes nothing.
  std::uint32_t PartitionOf(std::string_view key) const {
    return std::prev(partitions_.upper_bound(key))->second.id;
  }
  // Partitions as a bucket has them that was under load for long: from now on one begins at each of
  // these keys. No event. Beyond max_partitions nothing happens.
  void Cut(const std::vector<std::string>& boundaries, Instant now);
  // In key order.
  std::vector<PartitionGauge> Gauges(Instant now);
  // Splits and merges, oldest first; the latest kMaxEvents are kept.
  const std::deque<PartitionEvent>& events() const { return events_; }
  std::size_t partitions() const { return partitions_.size(); }

  static constexpr std::size_t kMaxEvents = 1'024;

 private:
  static constexpr std::size_t kSample = 256;  // recent keys by which a hot partition is cut
  struct Side {
    TokenBucket bucket;
    std::uint64_t admitted = 0;
    std::uint64_t refused = 0;
    std::uint64_t asked = 0;        // in the second that runs
    std::uint64_t last_second = 0;  // in the one before
  };
  struct Partition {
    std::uint32_t id = 0;
    std::array<Side, 2> sides;  // by Traffic
    Instant second{};           // when the second that runs began
    Instant hot_since = Instant::max();
    Instant cold_since{};
    std::vector<std::string> sample;  // only while hot
    std::uint64_t sampled = 0;
  };
  using Partitions = std::map<std::string, Partition, std::less<>>;  // by first key

  Partition Fresh(Instant now);
  void Turn(Partition& partition, Instant now) const;
  void CloseSecond(Partition& partition) const;
  void Sample(Partition& partition, std::string_view key) const;
  void Split(Partitions::iterator place, Instant now);
  void MergeCold(Instant now);
  void Note(PartitionEvent event);

  const Limits limits_;
  Partitions partitions_;
  std::deque<PartitionEvent> events_;
  std::uint32_t next_id_ = 0;
  Instant last_ = Instant::min();
  Instant next_merge_check_ = Instant::min();
};

}  // namespace penstock::emulator::traffic

#endif  // PENSTOCK_EMULATOR_TRAFFIC_PARTITION_MODEL_H_
