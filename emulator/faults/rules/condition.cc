#include "emulator/faults/rules/condition.h"

#include <algorithm>
#include <array>
#include <bit>

#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/dispatch/operations.h"

namespace penstock::emulator::faults {
namespace {

struct OperationClass {
  std::string_view name;
  // `traits`: null unless the operation concerns objects, parts or lists.
  bool (*has)(std::string_view operation, const s3::OperationTraits* traits);
};

constexpr OperationClass kClasses[] = {
    {"@read",
     [](std::string_view, const s3::OperationTraits* traits) {
       return traits != nullptr && traits->shows_objects && traits->access == s3::Access::kRead;
     }},
    {"@write",
     [](std::string_view, const s3::OperationTraits* traits) {
       return traits != nullptr && traits->access == s3::Access::kWrite;
     }},
    {"@list",
     [](std::string_view, const s3::OperationTraits* traits) {
       return traits != nullptr && traits->access == s3::Access::kList;
     }},
    {"@multipart",
     [](std::string_view, const s3::OperationTraits* traits) {
       return traits != nullptr && traits->is_multipart;
     }},
    {"@session", [](std::string_view operation,
                    const s3::OperationTraits*) { return operation == "CreateSession"; }},
};

Result<std::vector<std::string>> ExpandClass(std::string_view name) {
  std::string known;
  for (const OperationClass& each : kClasses) {
    if (each.name == name) {
      std::vector<std::string> found;
      for (const std::string_view operation : s3::OperationNames()) {
        if (each.has(operation, s3::FindTraits(operation))) found.emplace_back(operation);
      }
      return found;
    }
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  return Error::Make(ErrorKind::kInvalidArgument, "unknown operation class '" + std::string(name) +
                                                      "': expected one of " + known);
}

template <class Value>
bool Holds(const std::optional<NumberSet>& set, const std::optional<Value>& value) {
  return !set || (value && set->Has(*value));
}

bool RangeHolds(const RangeCondition& condition,
                const std::optional<RequestProperties::Range>& range) {
  if (condition.present && *condition.present != range.has_value()) return false;
  const std::optional<std::uint64_t> first = range ? range->first : std::nullopt;
  const std::optional<std::uint64_t> last = range ? range->last_inclusive : std::nullopt;
  if (condition.covers &&
      !(first && *first <= *condition.covers && (!last || *last >= *condition.covers)))
    return false;
  if (!Holds(condition.first, first)) return false;
  // A suffix range of N bytes has length N, provided that the object has at least N bytes.
  const std::optional<std::uint64_t> length = first && last && *last >= *first
                                                  ? std::optional(*last - *first + 1)
                                              : !first ? last
                                                       : std::nullopt;
  return Holds(condition.length, length);
}

bool HeadersHold(const Condition& condition, const RequestProperties& properties) {
  return std::all_of(condition.headers.begin(), condition.headers.end(),
                     [&properties](const auto& wanted) {
                       const auto value = properties.exchange->request.Find(wanted.first);
                       return value && wanted.second.Matches(*value);
                     });
}

bool QueryHolds(const Condition& condition, const RequestProperties& properties) {
  return std::all_of(condition.query.begin(), condition.query.end(),
                     [&properties](const auto& wanted) {
                       const auto value = properties.exchange->target.Get(wanted.first);
                       return value && wanted.second.Matches(*value);
                     });
}

bool TextHolds(const TextCondition& condition, const std::optional<std::string_view>& text) {
  if (condition.present && *condition.present != text.has_value()) return false;
  return !condition.pattern || (text && condition.pattern->Matches(*text));
}

bool PartitionHolds(const Condition& condition, const RequestProperties& properties) {
  return Holds(condition.partition, properties.partition_of != nullptr
                                        ? properties.partition_of(*properties.exchange)
                                        : std::nullopt);
}

bool OperationHolds(const Condition& condition, const RequestProperties& properties) {
  return std::binary_search(condition.operations.begin(), condition.operations.end(),
                            properties.operation);
}

// One field of Condition. `holds` is called only if `is_set` returns true.
struct Test {
  bool (*is_set)(const Condition& condition);
  bool (*holds)(const Condition& condition, const RequestProperties& properties);
};

// Ordered by cost and selectivity: cheap and selective tests first.
constexpr std::array kTests{
    Test{[](const Condition& when) { return when.attempt.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return when.attempt->Has(properties.attempt);
         }},
    Test{[](const Condition& when) { return when.rank.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return Holds(when.rank, properties.rank);
         }},
    Test{[](const Condition& when) { return when.part.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return Holds(when.part, properties.part);
         }},
    Test{[](const Condition& when) { return when.size.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return Holds(when.size, properties.size);
         }},
    Test{[](const Condition& when) { return when.range.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return RangeHolds(*when.range, properties.range);
         }},
    Test{[](const Condition& when) { return when.directory_bucket.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return *when.directory_bucket == properties.directory_bucket;
         }},
    Test{[](const Condition& when) { return when.connection_reused.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return *when.connection_reused == (properties.exchange->connection.requests_before > 0);
         }},
    Test{[](const Condition& when) { return when.connection_requests.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return when.connection_requests->Has(properties.exchange->connection.requests_before);
         }},
    Test{[](const Condition& when) { return when.connection_id.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return when.connection_id->Has(properties.exchange->connection.id);
         }},
    Test{[](const Condition& when) { return when.access_key.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return *when.access_key == properties.access_key;
         }},
    Test{[](const Condition& when) { return when.bucket.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return when.bucket->Matches(properties.bucket);
         }},
    Test{[](const Condition& when) { return when.key.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return when.key->Matches(properties.key);
         }},
    Test{[](const Condition& when) { return when.address.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return when.address->Matches(properties.exchange->connection.peer);
         }},
    Test{[](const Condition& when) { return when.user_agent.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return when.user_agent->Matches(properties.user_agent);
         }},
    Test{[](const Condition& when) { return when.version.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return TextHolds(*when.version, properties.exchange->target.Get("versionId"));
         }},
    Test{[](const Condition& when) { return when.session.has_value(); },
         [](const Condition& when, const RequestProperties& properties) {
           return TextHolds(*when.session, ClaimedSessionToken(*properties.exchange));
         }},
    Test{[](const Condition& when) { return !when.operations.empty(); }, OperationHolds},
    Test{[](const Condition& when) { return !when.headers.empty(); }, HeadersHold},
    Test{[](const Condition& when) { return !when.query.empty(); }, QueryHolds},
    Test{[](const Condition& when) { return when.partition.has_value(); }, PartitionHolds},
};
static_assert(kTests.size() <= 32, "Matcher::set_ has 32 bits, one per test");

}  // namespace

Matcher::Matcher(const Condition& condition) : condition_(&condition) {
  for (std::size_t i = 0; i < kTests.size(); ++i) {
    if (kTests[i].is_set(condition)) set_ |= 1U << i;
  }
}

bool Matcher::Matches(const RequestProperties& properties) const {
  for (std::uint32_t left = set_; left != 0; left &= left - 1) {
    if (!kTests[static_cast<std::size_t>(std::countr_zero(left))].holds(*condition_, properties))
      return false;
  }
  return true;
}

bool Matches(const Condition& condition, const RequestProperties& properties) {
  return Matcher(condition).Matches(properties);
}

Result<std::vector<std::string>> ExpandOperation(std::string_view name) {
  if (name.starts_with('@')) return ExpandClass(name);
  PENSTOCK_ASSIGN(const Pattern pattern, Pattern::OfGlob(std::string(name)));
  std::vector<std::string> found;
  for (const std::string_view operation : s3::OperationNames()) {
    if (pattern.Matches(operation)) found.emplace_back(operation);
  }
  if (!found.empty()) return found;
  return Error::Make(ErrorKind::kInvalidArgument,
                     "unknown S3 operation '" + std::string(name) +
                         "': expected a name such as GetObject, a glob such as Upload*, or one of "
                         "@read, @write, @list, @multipart, @session");
}

}  // namespace penstock::emulator::faults
