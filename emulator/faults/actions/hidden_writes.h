// Writes that are done and that reads do not see yet: what a store without read-after-write
// consistency shows.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_HIDDEN_WRITES_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_HIDDEN_WRITES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/store.h"
#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::faults {

// Thread safety: safe from any thread.
class HiddenWrites {
 public:
  static constexpr std::size_t kMost = 10'000;

  // A key as reads see it.
  struct Seen {
    std::string key;
    store::ObjectPtr object;  // null: there is none
  };

  // A write under way, or done.
  struct Place {
    std::string bucket;
    std::string key;
    std::uint64_t number = 0;
  };

  // Reads of the key see `before` (null: nothing) from now on, until told otherwise. nullopt: kMost
  // are hidden, and this one is not.
  std::optional<Place> Begin(const std::string& bucket, const std::string& key,
                             store::ObjectPtr before, WallTime now);
  // It was done, and is seen from `until` on.
  void Settle(const Place& place, WallTime until);
  // It was not done.
  void Drop(const Place& place);
  // All are seen.
  void Clear();

  // Nothing need be asked.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  // nullopt: what there is.
  std::optional<store::ObjectPtr> Find(const std::string& bucket, const std::string& key,
                                       WallTime now) const;
  // In key order.
  std::vector<Seen> Under(const std::string& bucket, std::string_view prefix, WallTime now) const;

 private:
  struct Write {
    std::uint64_t number = 0;
    store::ObjectPtr before;
    WallTime until = WallTime::max();
  };
  using Writes = std::deque<Write>;  // of one key, in the order in which they began
  using Keys = std::map<std::string, Writes, std::less<>>;

  static Writes::const_iterator FirstHidden(const Writes& writes, WallTime now);
  void ForgetSeen(WallTime now) PENSTOCK_REQUIRES(mutex_);
  Writes* FindWrites(const Place& place) PENSTOCK_REQUIRES(mutex_);

  std::atomic<std::size_t> count_{0};
  mutable Mutex mutex_;
  std::uint64_t last_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Keys, std::less<>> buckets_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_HIDDEN_WRITES_H_
