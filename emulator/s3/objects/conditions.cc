#include "emulator/s3/objects/conditions.h"

#include <chrono>

#include "base/dates.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

constexpr std::string_view kWeakPrefix = "W/";

// Recorded against Amazon S3: either of the two quotation marks may be missing.
std::string_view Unquote(std::string_view etag) {
  etag = TrimBlanks(etag);
  if (etag.starts_with('"')) etag.remove_prefix(1);
  if (etag.ends_with('"')) etag.remove_suffix(1);
  return etag;
}

// Returns the date of a header, or nullopt if it is absent or malformed. S3 ignores malformed
// dates.
std::optional<WallTime> DateHeader(const Call& call, std::string_view name) {
  const auto text = call.Header(name);
  return text ? ParseHttpDate(*text) : std::nullopt;
}

bool ModifiedAfter(const store::ObjectRecord& object, WallTime when) {
  return floor<seconds>(object.last_modified) > floor<seconds>(when);
}

// A date in the future is ignored. An equal date means "not modified".
bool UnmodifiedSince(const Call& call, const store::ObjectRecord& object, std::string_view header) {
  const auto since = DateHeader(call, header);
  return since && *since <= call.exchange.space->clock->Now() && !ModifiedAfter(object, *since);
}

Error UnsupportedValue(std::string_view header) {
  return NotImplementedHeader(header, "We don't accept the provided value of " +
                                          std::string(header) + " header for this API");
}

}  // namespace

bool ETagMatches(std::string_view list, std::string_view etag, ETagComparison comparison) {
  if (TrimBlanks(list) == "*") return true;
  for (;;) {
    const auto comma = list.find(',');
    std::string_view listed = TrimBlanks(list.substr(0, comma));
    if (comparison == ETagComparison::kWeak && listed.starts_with(kWeakPrefix))
      listed.remove_prefix(kWeakPrefix.size());
    if (Unquote(listed) == etag) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

Result<ReadDecision> DecideRead(const Call& call, const store::ObjectRecord& object) {
  if (const auto match = call.Header("if-match")) {
    if (!ETagMatches(*match, object.etag.value, ETagComparison::kWeak))
      return PreconditionFailed("If-Match");
  } else if (const auto unmodified = DateHeader(call, "if-unmodified-since")) {
    if (ModifiedAfter(object, *unmodified)) return PreconditionFailed("If-Unmodified-Since");
  }
  if (const auto none_match = call.Header("if-none-match")) {
    return ETagMatches(*none_match, object.etag.value, ETagComparison::kWeak)
               ? ReadDecision::kNotModified
               : ReadDecision::kSend;
  }
  return UnmodifiedSince(call, object, "if-modified-since") ? ReadDecision::kNotModified
                                                            : ReadDecision::kSend;
}

bool RangeApplies(const Call& call, const store::ObjectRecord& object) {
  const auto validator = call.Header("if-range");
  if (!validator) return true;
  if (const auto date = ParseHttpDate(*validator))
    return floor<seconds>(*date) == floor<seconds>(object.last_modified);
  return Unquote(*validator) == object.etag.value;
}

Result<void> CheckCopySource(const Call& call, const store::ObjectRecord& source) {
  if (const auto match = call.Header("x-amz-copy-source-if-match")) {
    if (!ETagMatches(*match, source.etag.value, ETagComparison::kWeak))
      return PreconditionFailed("x-amz-copy-source-If-Match");
  } else if (const auto unmodified = DateHeader(call, "x-amz-copy-source-if-unmodified-since")) {
    if (ModifiedAfter(source, *unmodified))
      return PreconditionFailed("x-amz-copy-source-If-Unmodified-Since");
  }
  if (const auto none_match = call.Header("x-amz-copy-source-if-none-match")) {
    if (ETagMatches(*none_match, source.etag.value, ETagComparison::kWeak))
      return PreconditionFailed("x-amz-copy-source-If-None-Match");
  } else if (UnmodifiedSince(call, source, "x-amz-copy-source-if-modified-since")) {
    return PreconditionFailed("x-amz-copy-source-If-Modified-Since");
  }
  return Ok();
}

Result<WriteCondition> ReadWriteCondition(const Call& call, WriteConditionOptions options) {
  const auto if_match = call.Header("if-match");
  const auto if_none_match = call.Header("if-none-match");
  if (if_match && if_none_match) {
    return NotImplementedHeader("If-Match,If-None-Match",
                                "Multiple conditional request headers present in the request");
  }
  if (if_none_match && (options.allow_any || TrimBlanks(*if_none_match) != "*"))
    return UnsupportedValue("If-None-Match");
  if (if_match && !options.allow_any && TrimBlanks(*if_match) == "*")
    return UnsupportedValue("If-Match");
  for (const std::string_view header :
       {std::string_view("If-Modified-Since"), std::string_view("If-Unmodified-Since")}) {
    if (call.Header(header)) return NotImplementedHeader(header);
  }
  WriteCondition condition;
  condition.if_none_match = if_none_match.has_value();
  if (if_match) condition.if_match = std::string(*if_match);
  return condition;
}

Result<void> CheckWrite(const WriteCondition& condition, std::string_view key,
                        const store::ObjectRecord* current) {
  const bool exists = current != nullptr && !current->is_delete_marker;
  if (condition.absent_holds && !exists) return Ok();
  if (condition.if_none_match && exists) return PreconditionFailed("If-None-Match");
  if (condition.if_match) {
    if (!exists) return NoSuchKey(key);
    if (!ETagMatches(*condition.if_match, current->etag.value, ETagComparison::kStrong))
      return PreconditionFailed("If-Match");
  }
  if (condition.size && current->size != *condition.size)
    return PreconditionFailed("x-amz-if-match-size");
  if (condition.last_modified &&
      floor<seconds>(current->last_modified) != floor<seconds>(*condition.last_modified)) {
    return PreconditionFailed("x-amz-if-match-last-modified-time");
  }
  return Ok();
}

Result<WriteCondition> ReadDirectoryDelete(const Call& call) {
  PENSTOCK_ASSIGN(WriteCondition condition, ReadWriteCondition(call, {.allow_any = true}));
  condition.absent_holds = true;
  if (const auto size = call.Header("x-amz-if-match-size")) {
    condition.size = ParseDecimal(*size);
    if (!condition.size)
      return InvalidArgument("The size must be a number of bytes", "x-amz-if-match-size", *size);
  }
  if (const auto date = call.Header("x-amz-if-match-last-modified-time")) {
    condition.last_modified = ReadConditionDate(*date);
    if (!condition.last_modified)
      return InvalidArgument("The time must be a date", "x-amz-if-match-last-modified-time", *date);
  }
  return condition;
}

std::optional<WallTime> ReadConditionDate(std::string_view text) {
  const auto http = ParseHttpDate(text);
  return http ? http : ParseIso8601(text);
}

store::Precondition MakePrecondition(WriteCondition condition, const ObjectKey& key) {
  if (condition.unconditional()) return {};
  return [condition = std::move(condition), key = key.value](const store::ObjectRecord* current) {
    return CheckWrite(condition, key, current);
  };
}

}  // namespace penstock::emulator::s3
