// Completed writes that reads do not see yet, as in a store without read-after-write consistency.
#ifndef PENSTOCK_EMULATOR_FAULTS_REGISTRY_HIDDEN_WRITES_H_
#define PENSTOCK_EMULATOR_FAULTS_REGISTRY_HIDDEN_WRITES_H_

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
  static constexpr std::size_t kMax = 10'000;

  // The object of a key that reads see.
  struct VisibleObject {
    std::string key;
    store::ObjectPtr object;  // Null: the key does not exist.
  };

  // Identifies a write, in progress or done.
  struct Place {
    std::string bucket;
    std::string key;
    std::uint64_t number = 0;
  };

  // Hides a write: reads of the key see `before` (null: no object) until HideUntil or Drop. Returns
  // nullopt if kMax writes are hidden; this write is then visible.
  std::optional<Place> Begin(const std::string& bucket, const std::string& key,
                             store::ObjectPtr before, WallTime now);
  // The write succeeded and becomes visible at `until`.
  void HideUntil(const Place& place, WallTime until);
  // The write failed.
  void Drop(const Place& place);
  // Makes all writes visible.
  void Clear();

  // No write is hidden.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }
  // Returns the object that reads of the key see (null: none). nullopt: no write of the key is
  // hidden.
  std::optional<store::ObjectPtr> Find(const std::string& bucket, const std::string& key,
                                       WallTime now) const;
  // Returns the keys with hidden writes that start with `prefix`, in key order.
  std::vector<VisibleObject> Under(const std::string& bucket, std::string_view prefix,
                                   WallTime now) const;

 private:
  struct Write {
    std::uint64_t number = 0;
    store::ObjectPtr before;
    WallTime until = WallTime::max();
  };
  using Writes = std::deque<Write>;  // Writes of one key, in the order in which they began.
  using Keys = std::map<std::string, Writes, std::less<>>;

  static Writes::const_iterator FirstHidden(const Writes& writes, WallTime now);
  void EraseVisible(WallTime now) PENSTOCK_REQUIRES(mutex_);
  Writes* FindWrites(const Place& place) PENSTOCK_REQUIRES(mutex_);

  std::atomic<std::size_t> count_{0};
  mutable Mutex mutex_;
  std::uint64_t last_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Keys, std::less<>> buckets_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_REGISTRY_HIDDEN_WRITES_H_
