// Which rules of a scenario a request may meet, told without touching the rules.
//
// A scenario may have a thousand rules, and a server answers a hundred thousand requests a second:
// what an operation, the first bytes of bucket and key, and the names of the headers rule out must
// cost next to nothing.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULE_INDEX_H_
#define PENSTOCK_EMULATOR_FAULTS_RULE_INDEX_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/faults/documents/header_needs.h"
#include "emulator/faults/rule.h"

namespace penstock::emulator::faults {

// The first bytes of a name, or of what every name begins with that a pattern matches.
class PrefixMask {
 public:
  // Everything.
  PrefixMask() = default;
  // Of a name as a request has it; bytes that it has not are zeros.
  static PrefixMask OfName(std::string_view name);
  static PrefixMask OfPattern(const std::optional<Pattern>& pattern);

  // False: the pattern whose mask this is does not match the name whose mask `name` is.
  bool Admits(const PrefixMask& name) const {
    return ((name.bytes_[0] & mask_[0]) == bytes_[0]) && ((name.bytes_[1] & mask_[1]) == bytes_[1]);
  }
  // It admits everything.
  bool empty() const { return mask_[0] == 0; }

 private:
  friend class PrefixMasks;
  std::array<std::uint64_t, 2> bytes_{};
  std::array<std::uint64_t, 2> mask_{};
};

// Many of them, none empty, asked at once: a search for each length that they have, 16 at most,
// however many there are.
class PrefixMasks {
 public:
  void Add(const PrefixMask& mask);
  // Whether one of them does.
  bool Admit(const PrefixMask& name) const;

 private:
  using Words = std::array<std::uint64_t, 2>;
  std::map<Words, std::vector<Words>> sorted_by_mask_;
};

// Thread safety: not changed once made.
class RuleIndex {
 public:
  // Of a request.
  struct Names {
    std::string_view operation;
    std::string_view bucket;
    std::string_view key;
    HeaderNameSet headers = HeaderNameSet::All();
  };

  // `rules`: those of connections, which begin at Stage::kAccept, are left out.
  explicit RuleIndex(const std::vector<Rule>& rules);

  // Calls `look` with the place of each rule that the request may meet, in order, until it returns
  // false.
  template <class Look>
  void ForEach(const Names& names, Look look) const {
    const PrefixMask bucket = PrefixMask::OfName(names.bucket);
    const PrefixMask key = PrefixMask::OfName(names.key);
    const Candidates& candidates = Of(names.operation);
    for (const Candidate& candidate :
         candidates.openings.Admit(key) ? candidates.all : candidates.of_any_key) {
      if (candidate.key.Admits(key) && candidate.headers.MetBy(names.headers) &&
          candidate.bucket.Admits(bucket) && !look(candidate.place)) {
        return;
      }
    }
  }

 private:
  struct Candidate {
    PrefixMask key;
    HeaderNeeds headers;
    PrefixMask bucket;
    std::size_t place = 0;
  };
  // Rules that may concern an operation; those that name none concern every one.
  struct Candidates {
    void Add(const Candidate& candidate);

    std::vector<Candidate> all;
    PrefixMasks openings;               // of the keys, of those that have one ...
    std::vector<Candidate> of_any_key;  // ... and the others: for most requests there are no more
  };
  const Candidates& Of(std::string_view operation) const;

  std::map<std::string, Candidates, std::less<>> by_operation_;
  Candidates of_others_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULE_INDEX_H_
