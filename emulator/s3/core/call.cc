#include "emulator/s3/core/call.h"

#include <algorithm>
#include <climits>

#include "base/dates.h"
#include "emulator/s3/core/regions.h"
#include "emulator/s3/core/strict.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

Result<void> CheckExpectedOwner(const Call& call, const store::BucketRecord& bucket,
                                std::string_view header) {
  const auto expected = call.Header(header);
  if (!expected) return Ok();
  const bool account_id = expected->size() == 12 && ParseDecimal(*expected).has_value();
  if (!account_id) {
    return MakeError(
        "InvalidBucketOwnerAWSAccountID", {},
        "The value of the expected bucket owner parameter must be an AWS Account ID... [" +
            std::string(*expected) + "]");
  }
  if (AccountIdOf(call, bucket.owner_id) != *expected) return MakeError("AccessDenied");
  return Ok();
}

Result<store::BucketPtr> Find(Call& call, const BucketName& name) {
  auto found = call.store.FindBucket(name);
  if (found.ok() || found.error().code != "NoSuchBucket") return found;
  return MakeError("NoSuchBucket", {{"BucketName", name.value}});
}

// Recorded against Amazon S3.
Error DeleteMarkerError(Call& call, const store::ObjectRecord& marker, bool refused) {
  call.error_headers.emplace_back("x-amz-delete-marker", "true");
  call.error_headers.emplace_back("x-amz-version-id", marker.version_id.value);
  if (!refused) return NoSuchKey(call.key().value);
  call.error_headers.emplace_back("Allow", "DELETE");
  call.error_headers.emplace_back("Last-Modified", FormatHttpDate(marker.last_modified));
  return MethodNotAllowed(call.exchange.request.method, "DeleteMarker");
}

}  // namespace

std::string AccountIdOf(const Call& call, std::string_view owner_id) {
  const Identity& identity = call.exchange.identity;
  if (identity.owner_id == owner_id) return identity.account_id;
  const OwnerDirectory* const owners = call.exchange.space->owners;
  const auto owner = owners != nullptr ? owners->FindOwner(owner_id) : std::nullopt;
  return owner ? owner->account_id : std::string();
}

std::optional<std::string_view> Call::Header(std::string_view name) const {
  if (const auto value = exchange.request.Find(name)) return value;
  if (!presigned || !StartsWithIgnoreCase(name, "x-amz-")) return std::nullopt;
  for (const QueryParameter& parameter : exchange.target.query) {
    if (IsHeaderInQuery(parameter.name) && EqualsIgnoreCase(parameter.name, name))
      return parameter.value;
  }
  return std::nullopt;
}

void Call::RespondXml(std::string document) {
  response().Add("Content-Type", "application/xml");
  response().body = std::move(document);
}

const std::string* FindConfiguration(const store::BucketRecord& bucket, std::string_view key) {
  const auto found = std::find_if(bucket.configuration.begin(), bucket.configuration.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == bucket.configuration.end() ? nullptr : &found->second;
}

Result<store::BucketPtr> OpenBucket(Call& call) {
  if (call.opened) return call.opened;
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, Find(call, call.bucket()));
  PENSTOCK_TRY(CheckRegion(call.exchange, *bucket, call.options.region));
  PENSTOCK_TRY(CheckExpectedOwner(call, *bucket, "x-amz-expected-bucket-owner"));
  call.opened = bucket;
  return bucket;
}

Result<store::BucketPtr> OpenSourceBucket(Call& call, const BucketName& name) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, Find(call, name));
  PENSTOCK_TRY(CheckExpectedOwner(call, *bucket, "x-amz-source-expected-bucket-owner"));
  return bucket;
}

Error NoSuchVersion(const ObjectKey& key, const VersionId& version) {
  if (!store::IsIssued(version))
    return InvalidArgument("Invalid version id specified", "versionId", version.value);
  return MakeError("NoSuchVersion", {{"Key", key.value}, {"VersionId", version.value}});
}

Result<std::optional<VersionId>> VersionParameter(const Call& call) {
  const auto text = call.Query("versionId");
  if (!text) return std::optional<VersionId>();
  if (text->empty())
    return InvalidArgument("Version id cannot be the empty string", "versionId", "");
  if (!IsVersionId(*text))
    return InvalidArgument("Invalid version id specified", "versionId", *text);
  return std::optional<VersionId>(VersionId(std::string(*text)));
}

Result<store::ObjectPtr> OpenObject(Call& call, const std::optional<VersionId>& version,
                                    LatestMarker latest) {
  auto found = call.store.FindObject(call.bucket(), call.key(), version);
  if (!found.ok()) {
    Error error = std::move(found).error();
    if (error.code == "NoSuchKey" && !version) return NoSuchKey(call.key().value);
    if (version && (error.code == "NoSuchVersion" || error.code == "NoSuchKey"))
      return NoSuchVersion(call.key(), *version);
    return error;
  }
  if (found.value()->is_delete_marker) {
    return DeleteMarkerError(call, *found.value(),
                             version.has_value() || latest == LatestMarker::kRefused);
  }
  return found;
}

void AddVersionHeader(Call& call, const store::BucketRecord& bucket,
                      const store::ObjectRecord& object) {
  if (bucket.versioning == store::Versioning::kNever) return;
  call.response().Add("x-amz-version-id", object.version_id.value);
}

Result<std::int64_t> IntegerParameter(const Call& call, std::string_view name,
                                      std::int64_t fallback) {
  const auto text = call.Query(name);
  if (!text || text->empty()) return fallback;
  const bool negative = text->starts_with('-');
  const std::uint64_t limit = static_cast<std::uint64_t>(INT_MAX) + (negative ? 1 : 0);
  if (const auto value = ParseDecimal(text->substr(negative ? 1 : 0), limit)) {
    const auto number = static_cast<std::int64_t>(*value);
    return negative ? -number : number;
  }
  return InvalidArgument(
      "Provided " + std::string(name) + " not an integer or within integer range", name, *text);
}

void AddNewVersionHeader(Call& call, const store::PutOutcome& outcome) {
  if (outcome.versioning != store::Versioning::kEnabled) return;
  call.response().Add("x-amz-version-id", outcome.object->version_id.value);
}

std::string ObjectUrl(const Call& call) {
  const Exchange& exchange = call.exchange;
  std::string url = exchange.connection.tls ? "https://" : "http://";
  url += exchange.request.Find("host").value_or("s3.amazonaws.com");
  url += '/';
  if (!exchange.target.virtual_hosted) url.append(call.bucket().value).append("/");
  return url + PercentEncode(call.key().value);
}

}  // namespace penstock::emulator::s3
