#include "emulator/faults/condition.h"

#include <algorithm>
#include <array>

#include "emulator/api/router.h"

namespace penstock::emulator::faults {
namespace {

struct OperationClass {
  std::string_view name;
  std::vector<std::string_view> operations;
};

const std::vector<OperationClass>& Classes() {
  static const std::vector<OperationClass> classes{
      {"@read", {"GetObject", "GetObjectAttributes", "HeadObject"}},
      {"@write",
       {"AbortMultipartUpload", "CompleteMultipartUpload", "CopyObject", "CreateMultipartUpload", "DeleteObject", "DeleteObjects",
        "PostObject", "PutObject", "RenameObject", "UploadPart", "UploadPartCopy"}},
      {"@list", {"ListBuckets", "ListMultipartUploads", "ListObjectVersions", "ListObjects", "ListObjectsV2", "ListParts"}},
      {"@multipart",
       {"AbortMultipartUpload", "CompleteMultipartUpload", "CreateMultipartUpload", "ListMultipartUploads", "ListParts", "UploadPart",
        "UploadPartCopy"}},
      {"@session", {"CreateSession"}},
  };
  return classes;
}

Result<std::vector<std::string>> ExpandClass(std::string_view name) {
  std::string known;
  for (const OperationClass& row : Classes()) {
    if (row.name == name) return std::vector<std::string>(row.operations.begin(), row.operations.end());
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return Error::Make(ErrorKind::kInvalidArgument, "'" + std::string(name) + "' is no class of operations; there are " + known);
}

template <class Value>
bool Holds(const std::optional<NumberSet>& set, const std::optional<Value>& value) {
  return !set || (value && set->Has(*value));
}

bool Holds(const std::optional<Pattern>& pattern, std::string_view text) { return !pattern || pattern->Matches(text); }

bool RangeHolds(const RangeCondition& condition, const std::optional<Facts::Range>& range) {
  if (condition.present && *condition.present != range.has_value()) return false;
  const std::optional<std::uint64_t> first = range ? range->first : std::nullopt;
  const std::optional<std::uint64_t> last = range ? range->last_inclusive : std::nullopt;
  if (condition.covers && !(first && *first <= *condition.covers && (!last || *last >= *condition.covers))) return false;
  if (!Holds(condition.first, first)) return false;
  // A suffix of N bytes has N bytes, where the object has as many.
  const std::optional<std::uint64_t> length =
      first && last && *last >= *first ? std::optional(*last - *first + 1) : !first ? last : std::nullopt;
  return Holds(condition.length, length);
}

bool HeadersHold(const Condition& condition, const Facts& facts) {
  for (const auto& [name, pattern] : condition.headers) {
    const auto value = facts.exchange->request.Find(name);
    if (!value || !pattern.Matches(*value)) return false;
  }
  for (const auto& [name, pattern] : condition.query) {
    const auto value = facts.exchange->target.Get(name);
    if (!value || !pattern.Matches(*value)) return false;
  }
  return true;
}

bool ClientHolds(const Condition& condition, const Facts& facts) {
  const api::Connection& connection = facts.exchange->connection;
  if (condition.access_key && *condition.access_key != facts.access_key) return false;
  if (!Holds(condition.user_agent, facts.user_agent) || !Holds(condition.address, connection.peer)) return false;
  if (!Holds(condition.rank, facts.rank) || !Holds(condition.attempt, std::optional(facts.attempt))) return false;
  if (condition.connection_reused && *condition.connection_reused != (connection.requests_before > 0)) return false;
  return Holds(condition.connection_requests, std::optional(connection.requests_before)) &&
         Holds(condition.connection_id, std::optional(connection.id));
}

}  // namespace

bool Matches(const Condition& condition, const Facts& facts) {
  if (!condition.operations.empty() &&
      !std::binary_search(condition.operations.begin(), condition.operations.end(), facts.operation)) {
    return false;
  }
  if (!Holds(condition.bucket, facts.bucket) || !Holds(condition.key, facts.key)) return false;
  if (condition.directory_bucket && *condition.directory_bucket != facts.directory_bucket) return false;
  if (!Holds(condition.part, facts.part) || !Holds(condition.size, facts.size)) return false;
  if (condition.range && !RangeHolds(*condition.range, facts.range)) return false;
  return ClientHolds(condition, facts) && HeadersHold(condition, facts);
}

Result<std::vector<std::string>> ExpandOperation(std::string_view name) {
  if (name.starts_with('@')) return ExpandClass(name);
  const Pattern pattern{std::string(name)};
  std::vector<std::string> found;
  for (const std::string_view operation : api::OperationNames()) {
    if (pattern.Matches(operation)) found.emplace_back(operation);
  }
  if (!found.empty()) return found;
  return Error::Make(ErrorKind::kInvalidArgument,
                     "'" + std::string(name) + "' is no operation of S3; write GetObject, Upload* or one of @read, @write, @list, "
                                               "@multipart, @session");
}

}  // namespace penstock::emulator::faults
