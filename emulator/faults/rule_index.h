// Which rules of a scenario a request may meet, told without touching the rules.
//
// A scenario may have a thousand rules, and a server answers a hundred thousand requests a second: what an operation, the first
// bytes of bucket and key, and the names of the headers rule out must cost next to nothing.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULE_INDEX_H_
#define PENSTOCK_EMULATOR_FAULTS_RULE_INDEX_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/faults/header_needs.h"
#include "emulator/faults/rule.h"

namespace penstock::emulator::faults {

// The first bytes of a name, or of what every name begins with that a pattern matches.
class Opening {
 public:
  // Everything.
  Opening() = default;
  // Of a name as a request has it; bytes that it has not are zeros.
  static Opening OfName(std::string_view name);
  static Opening OfPattern(const std::optional<Pattern>& pattern);

  // False: the pattern whose opening this is does not match the name whose opening `name` is.
  bool Admits(const Opening& name) const {
    return ((name.bytes_[0] & mask_[0]) == bytes_[0]) && ((name.bytes_[1] & mask_[1]) == bytes_[1]);
  }

 private:
  std::array<std::uint64_t, 2> bytes_{};
  std::array<std::uint64_t, 2> mask_{};
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

  // Calls `look` with the place of each rule that the request may meet, in order, until it returns false.
  template <class Look>
  void ForEach(const Names& names, Look look) const {
    const Opening bucket = Opening::OfName(names.bucket);
    const Opening key = Opening::OfName(names.key);
    for (const Candidate& candidate : Of(names.operation)) {
      if (candidate.key.Admits(key) && candidate.headers.MetBy(names.headers) && candidate.bucket.Admits(bucket) &&
          !look(candidate.place)) {
        return;
      }
    }
  }
  // Whether there is any.
  bool Concerns(const Names& names) const;

 private:
  struct Candidate {
    Opening key;
    HeaderNeeds headers;
    Opening bucket;
    std::size_t place = 0;
  };
  std::span<const Candidate> Of(std::string_view operation) const;

  // Rules that may concern an operation; those that name none concern every one.
  std::map<std::string, std::vector<Candidate>, std::less<>> by_operation_;
  std::vector<Candidate> of_others_;
};

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULE_INDEX_H_
