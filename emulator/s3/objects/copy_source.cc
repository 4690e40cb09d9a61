#include "emulator/s3/objects/copy_source.h"

#include "base/text/utf8.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/core/restore_state.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kHeader = "x-amz-copy-source";
constexpr std::string_view kVersionMark = "?versionId=";

// Recorded against Amazon S3: the value is the header's name.
Error InvalidSource(std::string message) {
  return InvalidArgument(std::move(message), kHeader, kHeader);
}

// "https://host/bucket/key" -> "bucket/key".
std::string_view WithoutOrigin(std::string_view source) {
  for (const std::string_view scheme :
       {std::string_view("http://"), std::string_view("https://")}) {
    if (!StartsWithIgnoreCase(source, scheme)) continue;
    const auto slash = source.find('/', scheme.size());
    return slash == std::string_view::npos ? std::string_view() : source.substr(slash + 1);
  }
  return source.starts_with('/') ? source.substr(1) : source;
}

Error SourceNotFound(Error error, const CopySource& source) {
  if (error.code == "NoSuchBucket")
    return MakeError("NoSuchBucket", {{"BucketName", source.bucket.value}});
  if (error.code == "NoSuchKey" && !source.version) return NoSuchKey(source.key.value);
  if (error.code == "NoSuchVersion" || error.code == "NoSuchKey") {
    return NoSuchVersion(source.key, *source.version);
  }
  return error;
}

}  // namespace

Result<CopySource> ParseCopySource(std::string_view header, BucketNameRules allowed) {
  if (header.starts_with("arn:")) {
    return NotImplementedHeader(
        kHeader, "Access point ARNs are not supported as copy source; use bucket/key");
  }
  std::string_view path = WithoutOrigin(header);
  CopySource source;
  if (const auto mark = path.find(kVersionMark); mark != std::string_view::npos) {
    const std::string_view id = path.substr(mark + kVersionMark.size());
    if (!IsVersionId(id)) return InvalidArgument("Invalid version id specified", "versionId", id);
    source.version = VersionId(std::string(id));
    path = path.substr(0, mark);
  }
  auto decoded = PercentDecode(path, {.plus_is_space = true});
  if (!decoded) return InvalidSource("Invalid copy source encoding");
  // "%2Fbucket%2Fkey" has a leading slash, too.
  std::string_view text = *decoded;
  if (text.starts_with('/')) text.remove_prefix(1);
  const auto slash = text.find('/');
  const std::string_view bucket = text.substr(0, slash);
  if (!CheckBucketName(bucket, allowed).ok())
    return InvalidSource("Invalid copy source bucket name");
  if (slash == std::string_view::npos || slash + 1 == text.size()) {
    return InvalidSource("Invalid copy source object key");
  }
  source.bucket = BucketName(std::string(bucket));
  source.key = ObjectKey(std::string(text.substr(slash + 1)));
  if (!IsValidUtf8(source.key.value))
    return MakeError("InvalidURI", {{"URI", PathEncode(source.key.value)}});
  return source;
}

Result<OpenedSource> OpenCopySource(Call& call) {
  PENSTOCK_ASSIGN(CopySource address,
                  ParseCopySource(call.Header(kHeader).value_or(""), call.options.bucket_names));
  PENSTOCK_ASSIGN(store::BucketPtr bucket, OpenSourceBucket(call, address.bucket));
  auto found = call.store.FindObject(address.bucket, address.key, address.version);
  const Subject subject{.bucket = bucket.get(),
                        .bucket_name = address.bucket.value,
                        .key = address.key.value,
                        .version = address.version};
  PENSTOCK_TRY(AuthorizeCopySource(call, subject, found.ok() ? found->get() : nullptr));
  if (!found.ok())
    return HideMissingKey(call, *bucket, SourceNotFound(std::move(found).error(), address));
  store::ObjectPtr object = std::move(found).value();
  if (object->is_delete_marker) {
    if (!address.version) return HideMissingKey(call, *bucket, NoSuchKey(address.key.value));
    return InvalidRequest(
        "The source of a copy request may not specifically refer to a delete marker by version "
        "id.");
  }
  PENSTOCK_TRY(CheckSourceKey(call, *object));
  if (!IsReadable(*object, call.exchange.space->clock->Now())) {
    return MakeError("InvalidObjectState", {{"StorageClass", object->storage_class}},
                     "Operation is not valid for the source object's storage class");
  }
  PENSTOCK_TRY(CheckCopySource(call, *object));
  return OpenedSource{std::move(address), std::move(bucket), std::move(object)};
}

void AddSourceVersionHeader(Call& call, const OpenedSource& source) {
  if (source.bucket->versioning == store::Versioning::kNever) return;
  if (source.object->version_id.value == "null") return;  // Recorded against Amazon S3.
  call.response().Add("x-amz-copy-source-version-id", source.object->version_id.value);
}

Result<void> RefuseCopySource(const Call& call, std::string_view operation) {
  constexpr std::string_view kRange = "x-amz-copy-source-range";
  if (operation == "UploadPartCopy") return Ok();
  const auto source = call.Header("x-amz-copy-source");
  if (source && operation != "CopyObject") {
    return InvalidArgument("You can only specify a copy source header for copy requests.",
                           "x-amz-copy-source", *source);
  }
  // The response that was recorded for other headers of the wrong copy (libs3, issue 80).
  const auto range = call.Header(kRange);
  if (range)
    return InvalidArgument("The specified header is not valid in this context", kRange, *range);
  return Ok();
}

}  // namespace penstock::emulator::s3
