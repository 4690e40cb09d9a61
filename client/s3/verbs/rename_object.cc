#include "client/s3/verbs/rename_object.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/dates.h"
#include "client/http/uri.h"
#include "client/s3/document.h"
#include "client/s3/object_headers.h"
#include "client/s3/request_start.h"
#include "penstock/bucket_kind.h"

namespace penstock::s3 {
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

Result<NoResponse> ParseResponse(const RenameObjectRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return NoResponse{};
}

}  // namespace penstock::s3
