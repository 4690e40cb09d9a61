// Counts the uses of a limit per group (key, invocation or client), in bounded memory.
#ifndef PENSTOCK_EMULATOR_FAULTS_SCENARIO_GROUP_COUNTS_H_
#define PENSTOCK_EMULATOR_FAULTS_SCENARIO_GROUP_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::emulator::faults {

// Keeps the counts of up to `most` groups. If there are more, the least recently used group is
// evicted, and its count restarts at 0. Groups with uses in progress are never evicted; these alone
// may exceed `most`, up to the number of requests in flight.
//
// Thread safety: one thread at a time.
class GroupCounts {
 public:
  static constexpr std::size_t kMax = 65'536;

  explicit GroupCounts(std::size_t most = kMax) : most_(most) {}
  GroupCounts(const GroupCounts&) = delete;
  GroupCounts& operator=(const GroupCounts&) = delete;

  // The uses of the group that were taken and not returned.
  std::uint64_t Taken(std::string_view group);
  // Takes one use, which is in progress until Finish.
  void Take(std::string_view group);
  // Call once per Take. `happened`: the use stays counted; otherwise it is returned.
  void Finish(std::string_view group, bool happened);

  std::size_t size() const { return by_group_.size(); }

 private:
  struct Entry {
    std::string group;
    std::uint64_t taken = 0;
    std::uint64_t under_way = 0;
  };
  using Entries = std::list<Entry>;

  const std::size_t most_;
  Entries idle_;  // No use in progress; least recently used first.
  Entries busy_;
  // The keys are views of the entries' names.
  std::unordered_map<std::string_view, Entries::iterator> by_group_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_SCENARIO_GROUP_COUNTS_H_
