// `when`: which requests a rule is about.
#ifndef PENSTOCK_EMULATOR_FAULTS_CONDITION_H_
#define PENSTOCK_EMULATOR_FAULTS_CONDITION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/faults/documents/number_set.h"
#include "emulator/faults/facts.h"
#include "emulator/faults/pattern.h"

namespace penstock::emulator::faults {

struct RangeCondition {
  // this byte is asked for; a suffix range covers nothing that can be told
  std::optional<std::uint64_t> covers;
  std::optional<NumberSet> first;
  std::optional<NumberSet> length;
  std::optional<bool> present;
};

// Of what a request may have or not.
struct TextCondition {
  std::optional<bool> present;
  std::optional<Pattern> pattern;  // there, and it matches
};

struct TimeWindow {
  std::chrono::nanoseconds from{};
  std::chrono::nanoseconds to = std::chrono::nanoseconds::max();  // not included
  // from `from` on, the probability grows evenly from 0 to its value
  std::chrono::nanoseconds ramp{};
};

// Unset: whatever it is. What is set must all hold.
struct Condition {
  // Told by the head of the request alone.
  std::vector<std::string> operations;  // sorted; empty: every one
  std::optional<Pattern> bucket;
  std::optional<bool> directory_bucket;
  std::optional<Pattern> key;            // of a listing of keys: of its prefix
  std::optional<TextCondition> version;  // versionId, of the query
  // that has the key now, by the namespace's limits (Facts::partition_of)
  std::optional<NumberSet> partition;
  std::optional<NumberSet> part;
  std::optional<RangeCondition> range;
  std::optional<NumberSet> size;  // of the body, bytes; a request that does not tell it has none
  // any case of the name; a header that is not there matches nothing
  std::vector<std::pair<std::string, Pattern>> headers;
  std::vector<std::pair<std::string, Pattern>> query;
  std::optional<std::string> access_key;
  std::optional<TextCondition> session;  // the token that the request brings
  std::optional<Pattern> user_agent;
  std::optional<Pattern> address;  // "127.0.0.1:54321"
  std::optional<NumberSet> rank;
  std::optional<NumberSet> attempt;
  std::optional<bool> connection_reused;
  std::optional<NumberSet> connection_requests;  // that came before on the same connection
  std::optional<NumberSet> connection_id;

  // Told by what came before, in this order; requests that the head rules out are not counted.
  std::optional<NumberSet> nth;      // the how-manieth of those that match so far, from 1 on
  std::uint64_t after_requests = 0;  // of the scenario, any kind
  std::uint64_t after_bytes = 0;     // of bodies of the scenario's requests and answers
  std::optional<TimeWindow> window;  // since the scenario began, in the namespace's time
  // not where so many attempts of the invocation were failed (invocations.h)
  std::optional<std::uint32_t> unless_failed;
  double probability = 1;
};

// A condition made ready to be asked of many requests: of what may be set it looks at that alone
// which is, what costs least first.
//
// Thread safety: not changed once made.
class Matcher {
 public:
  // `condition` outlives this, where it is.
  explicit Matcher(const Condition& condition);
  // Whether the head of the request fulfils the condition.
  bool Matches(const Facts& facts) const;

 private:
  const Condition* condition_;
  std::uint32_t set_ = 0;  // a bit for each thing that is set
};

bool Matches(const Condition& condition, const Facts& facts);

// Names of S3's operations, sorted, for "GetObject", globs over them ("Upload*"), and the classes
// "@read", "@write", "@list",
// "@multipart", "@session". kInvalidArgument for a name that is none and a glob that matches none.
Result<std::vector<std::string>> ExpandOperation(std::string_view name);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_CONDITION_H_
