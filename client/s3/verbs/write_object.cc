#include "client/s3/verbs/verbs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/dates.h"
#include "client/http/uri.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/write_attributes.h"
#include "penstock/bucket_kind.h"

namespace penstock::s3 {
namespace {

// Requires that members which S3 would ignore are unset.
Result<void> CheckCopiedAttributes(const CopyObjectRequest& request) {
  const ObjectAttributes& given = request.attributes;
  const bool metadata = !given.content_type.empty() || !given.user_metadata.empty() ||
                        !given.cache_control.empty() || !given.content_encoding.empty() ||
                        !given.content_disposition.empty() || !given.content_language.empty() ||
                        given.expires.has_value();
  if (metadata && request.metadata_directive == CopyDirective::kCopy) {
    return InvalidRequest(
        "the copy has content headers or user metadata, which S3 ignores with "
        "metadata_directive kCopy; set it to kReplace");
  }
  if (!given.tags.empty() && request.tagging_directive == CopyDirective::kCopy) {
    return InvalidRequest(
        "the copy has tags, which S3 ignores with tagging_directive kCopy; set it to kReplace");
  }
  return Ok();
}

void AppendSourceConditions(const CopyObjectRequest& request, std::vector<http::Header>& headers) {
  if (request.source_if_match)
    headers.push_back({"x-amz-copy-source-if-match", QuoteETag(*request.source_if_match)});
  if (request.source_if_none_match) {
    headers.push_back(
        {"x-amz-copy-source-if-none-match", QuoteETag(*request.source_if_none_match)});
  }
  if (request.source_if_modified_since) {
    headers.push_back(
        {"x-amz-copy-source-if-modified-since", FormatHttpDate(*request.source_if_modified_since)});
  }
  if (request.source_if_unmodified_since) {
    headers.push_back({"x-amz-copy-source-if-unmodified-since",
                       FormatHttpDate(*request.source_if_unmodified_since)});
  }
}

// The conditions of a write on the object that it replaces.
template <class Request>
void AppendWriteConditions(const Request& request, std::vector<http::Header>& headers) {
  if (request.if_match) headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  if (request.if_none_match_any) headers.push_back({"If-None-Match", "*"});
}

// For a locked object, S3 requires Content-MD5, or a checksum whose algorithm is also named (API
// reference of PutObject). `has_checksum`: the last header is a checksum.
Result<void> AppendLockChecksum(bool has_checksum, BodySource* body,
                                std::vector<http::Header>& headers) {
  constexpr std::string_view kPrefix = "x-amz-checksum-";
  if (has_checksum) {
    const std::string_view name = headers.back().name;
    headers.push_back({"x-amz-sdk-checksum-algorithm", AlgorithmName(name.substr(kPrefix.size()))});
  } else if (body != nullptr) {
    PENSTOCK_ASSIGN(std::string md5, ComputeChecksum("md5", *body));
    headers.push_back({"Content-MD5", std::move(md5)});
  }
  return Ok();
}

}  // namespace

Result<WireRequest> BuildRequest(const PutObjectRequest& request, const BuildContext& context) {
  if (request.body == nullptr && !context.presigned)
    return InvalidRequest("PutObject needs a body");
  if (request.if_match && request.if_none_match_any) {
    return InvalidRequest("PutObject takes either if_match or if_none_match_any, not both");
  }
  if (request.write_offset) {
    PENSTOCK_TRY(CheckDirectoryBucket("appending", request.bucket, "write a new object"));
  }
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kPutObject, request.bucket, request.key, context));
  PENSTOCK_TRY(AppendAttributes(request.attributes, wire));
  AppendWriteConditions(request, wire.headers);
  if (request.write_offset) {
    wire.headers.push_back({"x-amz-write-offset-bytes", std::to_string(*request.write_offset)});
  }
  BodySource* const body = context.presigned ? nullptr : request.body;
  const std::size_t before = wire.headers.size();
  PENSTOCK_TRY(AppendBodyChecksum({request.checksum_algorithm, request.checksum_value, body},
                                  context.upload_checksums, wire.headers));
  if (request.attributes.lock.IsSet())
    PENSTOCK_TRY(AppendLockChecksum(wire.headers.size() > before, body, wire.headers));
  wire.source = body;
  return wire;
}

Result<PutObjectResponse> ParseResponse(const PutObjectRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  PENSTOCK_TRY(CheckHasETag(response.head));
  ObjectMetadata metadata = ReadMetadata(response.head);
  PutObjectResponse out{.etag = std::move(metadata.etag),
                        .version_id = std::move(metadata.version_id),
                        .checksums = std::move(metadata.checksums),
                        .encryption = metadata.encryption};
  if (metadata.details.has_value()) out.kms_key_id = std::move(metadata.details.Edit().kms_key_id);
  if (const auto size = response.head.Find("x-amz-object-size")) {
    const auto number = ParseNumber("x-amz-object-size", *size);
    if (number.ok()) out.object_size = *number;
  }
  return out;
}

Result<WireRequest> BuildRequest(const CopyObjectRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckCopiedAttributes(request));
  if (request.if_match && request.if_none_match_any) {
    return InvalidRequest("CopyObject takes either if_match or if_none_match_any, not both");
  }
  PENSTOCK_TRY(CheckAlgorithm(request.checksum_algorithm));
  PENSTOCK_ASSIGN(std::string source,
                  CopySource(request.source_bucket, request.source_key, request.source_version_id));
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kCopyObject, request.bucket, request.key, context));
  wire.headers.push_back({"x-amz-copy-source", std::move(source)});
  AppendSourceConditions(request, wire.headers);
  AppendSourceCustomerKey(request.source_customer_key, wire);
  PENSTOCK_TRY(AppendText("x-amz-source-expected-bucket-owner",
                          request.source_expected_bucket_owner, wire.headers));
  if (request.metadata_directive == CopyDirective::kReplace)
    wire.headers.push_back({"x-amz-metadata-directive", "REPLACE"});
  if (request.tagging_directive == CopyDirective::kReplace)
    wire.headers.push_back({"x-amz-tagging-directive", "REPLACE"});
  PENSTOCK_TRY(AppendAttributes(request.attributes, wire));
  if (!request.checksum_algorithm.empty() && request.checksum_algorithm != "none") {
    wire.headers.push_back({"x-amz-checksum-algorithm", AlgorithmName(request.checksum_algorithm)});
  }
  AppendWriteConditions(request, wire.headers);
  return wire;
}

Result<CopyObjectResponse> ParseResponse(const CopyObjectRequest&, const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "CopyObjectResult"));
  const XmlElement root = document.root();
  CopyObjectResponse copied{
      ReadETag(root.Child("ETag").text()), ReadTime(root, "LastModified"), {}};
  PENSTOCK_TRY(CheckHasETag(response, copied.etag));
  copied.version_id = ReadVersionId(response.head);
  if (const auto version = response.head.Find("x-amz-copy-source-version-id"))
    copied.source_version_id = VersionId(std::string(*version));
  copied.encryption = ReadMetadata(response.head).encryption;
  return copied;
}

namespace {

constexpr std::size_t kMaxTokenBytes = 64;

Result<void> CheckToken(std::string_view token) {
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c >= 33 && c <= 126; });
  if (!token.empty() && token.size() <= kMaxTokenBytes && printable) return Ok();
  return InvalidRequest("the client token has " + std::to_string(token.size()) +
                        " bytes; S3 allows 1 to 64 printable ASCII characters without spaces");
}

// The header names of the conditions on one of the two objects.
struct ConditionNames {
  const char* match;
  const char* none_match;
  const char* modified_since;
  const char* unmodified_since;
};
constexpr ConditionNames kOfDestination = {"If-Match", "If-None-Match", "If-Modified-Since",
                                           "If-Unmodified-Since"};
constexpr ConditionNames kOfSource = {
    "x-amz-rename-source-if-match", "x-amz-rename-source-if-none-match",
    "x-amz-rename-source-if-modified-since", "x-amz-rename-source-if-unmodified-since"};

void AppendConditions(const RenameConditions& conditions, const ConditionNames& names,
                      std::vector<http::Header>& headers) {
  if (conditions.if_match) headers.push_back({names.match, QuoteETag(*conditions.if_match)});
  if (conditions.if_none_match)
    headers.push_back({names.none_match, QuoteETag(*conditions.if_none_match)});
  if (conditions.if_modified_since)
    headers.push_back({names.modified_since, FormatHttpDate(*conditions.if_modified_since)});
  if (conditions.if_unmodified_since)
    headers.push_back({names.unmodified_since, FormatHttpDate(*conditions.if_unmodified_since)});
}

}  // namespace

Result<void> CheckDirectoryBucket(std::string_view operation, const BucketName& bucket,
                                  std::string_view instead) {
  if (bucket.empty() || IsDirectoryBucket(bucket.value)) return Ok();
  return Error::Make(ErrorKind::kUnsupported,
                     std::string(operation) +
                         " works in directory buckets (S3 Express One Zone) only, and `" +
                         bucket.value + "` is a general purpose bucket; " + std::string(instead));
}

Result<WireRequest> BuildRequest(const RenameObjectRequest& request, const BuildContext& context) {
  PENSTOCK_TRY(CheckDirectoryBucket("RenameObject", request.bucket,
                                    "copy the object and delete its source"));
  PENSTOCK_ASSIGN(WireRequest wire, StartObjectRequest(Operation::kRenameObject, request.bucket,
                                                       request.destination, context));
  // Checks the source key by the same rules.
  PENSTOCK_TRY(
      StartObjectRequest(Operation::kRenameObject, request.bucket, request.source, context));
  for (const ObjectKey* key : {&request.source, &request.destination}) {
    if (key->value.ends_with('/')) {
      return InvalidRequest("the key `" + key->value +
                            "` ends in /; S3 renames objects, not directories");
    }
  }
  PENSTOCK_TRY(CheckToken(request.client_token));
  wire.query = {{"renameObject", ""}};
  wire.headers.push_back({"x-amz-rename-source", http::EncodePath(request.source.value)});
  AppendConditions(request.of_destination, kOfDestination, wire.headers);
  AppendConditions(request.of_source, kOfSource, wire.headers);
  wire.headers.push_back({"x-amz-client-token", request.client_token});
  return wire;
}

}  // namespace penstock::s3
