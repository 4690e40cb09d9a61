// Selects the rules of a scenario that may match a request, without reading the rules.
//
// A scenario may have 1,000 rules, and a server handles 100,000 requests per second. Rules that the
// operation, the first bytes of bucket and key, or the header names exclude must cost almost
// nothing.
#ifndef PENSTOCK_EMULATOR_FAULTS_SCENARIO_RULE_INDEX_H_
#define PENSTOCK_EMULATOR_FAULTS_SCENARIO_RULE_INDEX_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/faults/rules/header_needs.h"
#include "emulator/faults/rules/rule.h"

namespace penstock::emulator::faults {

// The first 16 bytes of a name, or of the literal prefix of a pattern.
class PrefixMask {
 public:
  // Admits every name.
  PrefixMask() = default;
  // The mask of a name in a request. Missing bytes are zero.
  static PrefixMask OfName(std::string_view name);
  static PrefixMask OfPattern(const std::optional<Pattern>& pattern);

  // Whether the pattern of this mask may match the name of mask `name`. False: it certainly does
  // not match.
  bool Admits(const PrefixMask& name) const {
    return ((name.bytes_[0] & mask_[0]) == bytes_[0]) && ((name.bytes_[1] & mask_[1]) == bytes_[1]);
  }
  // Whether this mask admits every name.
  bool empty() const { return mask_[0] == 0; }

 private:
  friend class PrefixMasks;
  std::array<std::uint64_t, 2> bytes_{};
  std::array<std::uint64_t, 2> mask_{};
};

// A set of non-empty masks that are tested together. Uses one binary search per distinct prefix
// length, at most 16.
class PrefixMasks {
 public:
  void Add(const PrefixMask& mask);
  // Whether a mask of the set admits `name`.
  bool Admit(const PrefixMask& name) const;

 private:
  using Words = std::array<std::uint64_t, 2>;
  std::map<Words, std::vector<Words>> sorted_by_mask_;
};

// Thread safety: immutable after construction.
class RuleIndex {
 public:
  // The names in a request that select its candidate rules.
  struct Names {
    std::string_view operation;
    std::string_view bucket;
    std::string_view key;
    HeaderNameSet headers = HeaderNameSet::All();
  };

  // Connection rules, which begin at Stage::kAccept, are excluded.
  explicit RuleIndex(const std::vector<Rule>& rules);

  // The most bytes of an index. `operations`: in the lists of all rules. `of_any`: rules without
  // such a list.
  static std::uint64_t MaxMemoryOf(std::size_t operations, std::size_t of_any) {
    const std::size_t listed = std::min<std::size_t>(operations, kMaxOperations);
    // Each candidate is in two lists, which may have grown to twice their size.
    return (operations + of_any * (listed + 1)) * 4 * sizeof(Candidate) +
           listed * 2 * sizeof(Candidates);
  }

  // Calls `look` with the index of each candidate rule, in order, until it returns false.
  template <class Look>
  void ForEach(const Names& names, Look look) const {
    const PrefixMask bucket = PrefixMask::OfName(names.bucket);
    const PrefixMask key = PrefixMask::OfName(names.key);
    const Candidates& candidates = Of(names.operation);
    for (const Candidate& candidate :
         candidates.key_masks.Admit(key) ? candidates.all : candidates.of_any_key) {
      if (candidate.key.Admits(key) && candidate.headers.MetBy(names.headers) &&
          candidate.bucket.Admits(bucket) && !look(candidate.place)) {
        return;
      }
    }
  }

 private:
  static constexpr std::size_t kMaxOperations = 128;  // More than S3 has.
  struct Candidate {
    PrefixMask key;
    HeaderNeeds headers;
    PrefixMask bucket;
    std::size_t place = 0;
  };
  // Rules that may match an operation. Rules without an operation may match every one.
  struct Candidates {
    void Add(const Candidate& candidate);

    std::vector<Candidate> all;
    PrefixMasks key_masks;              // Key prefixes of the rules that have one.
    std::vector<Candidate> of_any_key;  // The other rules. Most requests need only these.
  };
  const Candidates& Of(std::string_view operation) const;

  std::map<std::string, Candidates, std::less<>> by_operation_;
  Candidates of_others_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_SCENARIO_RULE_INDEX_H_
