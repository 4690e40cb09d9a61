// The `when` member of a rule: which requests the rule matches.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_CONDITION_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_CONDITION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/faults/rules/number_set.h"
#include "emulator/faults/rules/pattern.h"
#include "emulator/faults/rules/request_properties.h"

namespace penstock::emulator::faults {

struct RangeCondition {
  // The range includes this byte offset. A suffix range never matches.
  std::optional<std::uint64_t> covers;
  std::optional<NumberSet> first;
  std::optional<NumberSet> length;
  std::optional<bool> present;
};

// Condition on an optional value of a request.
struct TextCondition {
  std::optional<bool> present;
  std::optional<Pattern> pattern;  // The value is present and matches.
};

struct TimeWindow {
  std::chrono::nanoseconds from{};
  std::chrono::nanoseconds to = std::chrono::nanoseconds::max();  // Exclusive.
  // From `from` on, the probability grows linearly from 0 to its value during this time.
  std::chrono::nanoseconds ramp{};
};

// A request matches if every field that is set matches. Unset fields match any request.
struct Condition {
  // Evaluated from the request head alone.
  std::vector<std::string> operations;  // Sorted. Empty: every operation.
  std::optional<Pattern> bucket;
  std::optional<bool> directory_bucket;
  std::optional<Pattern> key;            // For listings of keys: their prefix.
  std::optional<TextCondition> version;  // The versionId query parameter.
  // The partition that currently serves the key, per the namespace's limits
  // (RequestProperties::partition_of).
  std::optional<NumberSet> partition;
  std::optional<NumberSet> part;
  std::optional<RangeCondition> range;
  // Body size in bytes. Requests without a declared size never match.
  std::optional<NumberSet> size;
  // Names are case-insensitive. An absent header never matches.
  std::vector<std::pair<std::string, Pattern>> headers;
  std::vector<std::pair<std::string, Pattern>> query;
  std::optional<std::string> access_key;
  std::optional<TextCondition> session;  // The session token of the request.
  std::optional<Pattern> user_agent;
  std::optional<Pattern> address;  // For example "127.0.0.1:54321".
  std::optional<NumberSet> rank;
  std::optional<NumberSet> attempt;
  std::optional<bool> connection_reused;
  std::optional<NumberSet> connection_requests;  // Earlier requests on the same connection.
  std::optional<NumberSet> connection_id;

  // Evaluated from earlier requests, in this order. Requests whose head does not match are not
  // counted.
  std::optional<NumberSet> nth;      // 1-based index among matching requests.
  std::uint64_t after_requests = 0;  // Requests that the scenario has seen, matching or not.
  std::uint64_t after_bytes = 0;     // Body bytes of the scenario's requests and responses.
  // Time since the start of the scenario, in the namespace's time.
  std::optional<TimeWindow> window;
  // The rule applies only while fewer attempts of the invocation have failed (invocations.h).
  std::optional<std::uint32_t> unless_failed;
  double probability = 1;
};

// Evaluates a condition against many requests. Checks only the fields that are set, cheapest first.
//
// Thread safety: immutable after construction.
class Matcher {
 public:
  // `condition` must outlive this object and stay at its address.
  explicit Matcher(const Condition& condition);
  // Whether the request head matches the condition.
  bool Matches(const RequestProperties& properties) const;

 private:
  const Condition* condition_;
  std::uint32_t set_ = 0;  // One bit for each field that is set.
};

bool Matches(const Condition& condition, const RequestProperties& properties);

// Returns the sorted names of the S3 operations that `name` stands for. `name` is an operation
// ("GetObject"), a glob ("Upload*"), or a class: "@read", "@write", "@list", "@multipart" or
// "@session". Returns kInvalidArgument for an unknown name or a glob without a match.
Result<std::vector<std::string>> ExpandOperation(std::string_view name);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_CONDITION_H_
