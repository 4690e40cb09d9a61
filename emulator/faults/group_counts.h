// How often a limit was used, by group (a key, an invocation, a client), in bounded memory.
#ifndef PENSTOCK_EMULATOR_FAULTS_GROUP_COUNTS_H_
#define PENSTOCK_EMULATOR_FAULTS_GROUP_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::emulator::faults {

// Keeps the counts of the `most` groups that were last asked for or taken from: when another one
// comes, the one is forgotten, and begins at 0 again, that was left alone longest. A group with
// something under way is never forgotten; there may be more than `most` of these alone, as many as
// requests are under way.
//
// Thread safety: one thread at a time.
class GroupCounts {
 public:
  static constexpr std::size_t kMost = 65'536;

  explicit GroupCounts(std::size_t most = kMost) : most_(most) {}
  GroupCounts(const GroupCounts&) = delete;
  GroupCounts& operator=(const GroupCounts&) = delete;

  // What was taken for the group and not given back.
  std::uint64_t Taken(std::string_view group);
  // Takes one, which is under way until it is settled.
  void Take(std::string_view group);
  // What Take took, once for each: it happened and stays counted, or it did not and is given back.
  void Settle(std::string_view group, bool happened);

  std::size_t size() const { return by_group_.size(); }

 private:
  struct Entry {
    std::string group;
    std::uint64_t taken = 0;
    std::uint64_t under_way = 0;
  };
  using Entries = std::list<Entry>;

  const std::size_t most_;
  Entries idle_;  // nothing under way; the one left alone longest first
  Entries busy_;
  // views of the entries' own names
  std::unordered_map<std::string_view, Entries::iterator> by_group_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_GROUP_COUNTS_H_
