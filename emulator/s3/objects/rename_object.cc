// RenameObject.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/dates.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kLongestToken = 64;

// Conditions on the source or the target. S3's errors always contain the names of the target's
// headers.
struct RenameConditions {
  std::optional<std::string> if_match;
  std::optional<std::string> if_none_match;
  std::optional<WallTime> modified_since;
  std::optional<WallTime> unmodified_since;
};

// `prefix`: "" or "x-amz-rename-source-".
RenameConditions ReadConditions(const Call& call, const std::string& prefix) {
  const auto text = [&](const char* name) -> std::optional<std::string> {
    const auto value = call.Header(prefix + name);
    return value ? std::optional<std::string>(std::string(*value)) : std::nullopt;
  };
  const auto date = [&](const char* name) -> std::optional<WallTime> {
    const auto value = call.Header(prefix + name);
    return value ? ParseHttpDate(*value) : std::nullopt;
  };
  return {text("if-match"), text("if-none-match"), date("if-modified-since"),
          date("if-unmodified-since")};
}

Result<void> Check(const RenameConditions& conditions, const store::ObjectRecord* object) {
  using std::chrono::floor;
  using std::chrono::seconds;
  if (conditions.if_match &&
      (object == nullptr ||
       !ETagMatches(*conditions.if_match, object->etag.value, ETagComparison::kStrong))) {
    return PreconditionFailed("If-Match");
  }
  if (object == nullptr) return Ok();
  const auto modified = floor<seconds>(object->last_modified);
  if (conditions.unmodified_since && !conditions.if_match &&
      modified > floor<seconds>(*conditions.unmodified_since)) {
    return PreconditionFailed("If-Unmodified-Since");
  }
  if (conditions.if_none_match &&
      ETagMatches(*conditions.if_none_match, object->etag.value, ETagComparison::kWeak))
    return PreconditionFailed("If-None-Match");
  if (conditions.modified_since && !conditions.if_none_match &&
      modified <= floor<seconds>(*conditions.modified_since)) {
    return PreconditionFailed("If-Modified-Since");
  }
  return Ok();
}

store::Precondition Precondition(RenameConditions conditions) {
  return [conditions = std::move(conditions)](const store::ObjectRecord* object) {
    return Check(conditions, object);
  };
}

Result<ObjectKey> ReadSource(const Call& call) {
  const auto header = call.Header("x-amz-rename-source");
  if (!header || header->empty())
    return InvalidRequest(
        "Missing header x-amz-rename-source: set it to the URL-encoded key of the object to "
        "rename.");
  auto key = PercentDecode(*header, {});
  if (!key)
    return InvalidArgument("The rename source is not URL-encoded", "x-amz-rename-source", *header);
  PENSTOCK_TRY(CheckKey(*key));
  return ObjectKey(std::move(*key));
}

Result<std::string> ReadClientToken(const Call& call) {
  const auto token = call.Header("x-amz-client-token");
  if (!token) return std::string();
  const bool printable =
      std::all_of(token->begin(), token->end(), [](char c) { return c >= 33 && c <= 126; });
  if (printable && !token->empty() && token->size() <= kLongestToken) return std::string(*token);
  return InvalidArgument("A client token must have 1 to 64 printable ASCII characters",
                         "x-amz-client-token", *token);
}

Result<void> RefuseFolder(std::string_view key) {
  if (!key.ends_with('/')) return Ok();
  return InvalidRequest("RenameObject does not support keys that end with a delimiter: '" +
                        std::string(key) + "'");
}

// Returns what must be equal when a client token is repeated.
std::string Fingerprint(const Call& call, const ObjectKey& source) {
  std::string all = source.value + "\n" + call.key().value;
  for (const char* prefix : {"", "x-amz-rename-source-"}) {
    for (const char* name :
         {"if-match", "if-none-match", "if-modified-since", "if-unmodified-since"}) {
      all += "\n";
      all += call.Header(std::string(prefix) + name).value_or("");
    }
  }
  return all;
}

}  // namespace

Result<void> RenameObject(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(ObjectKey source, ReadSource(call));
  PENSTOCK_TRY(RefuseFolder(source.value));
  PENSTOCK_TRY(RefuseFolder(call.key().value));
  PENSTOCK_ASSIGN(std::string token, ReadClientToken(call));
  const std::string source_key = source.value;
  store::RenameObject request;
  request.bucket = bucket->name;
  request.target = call.key();
  request.source_precondition = Precondition(ReadConditions(call, "x-amz-rename-source-"));
  request.target_precondition = Precondition(ReadConditions(call, ""));
  request.token = std::move(token);
  request.request = Fingerprint(call, source);
  request.source = std::move(source);
  const auto renamed = call.store.Rename(std::move(request));
  if (renamed.ok()) return Ok();
  if (renamed.error().code == "NoSuchKey") return NoSuchKey(source_key);
  if (renamed.error().code == "IdempotencyParameterMismatch")
    return MakeError("IdempotencyParameterMismatch");
  return renamed.error();
}

}  // namespace penstock::emulator::s3
