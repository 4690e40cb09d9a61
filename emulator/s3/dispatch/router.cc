#include "emulator/s3/dispatch/router.h"

#include <memory>
#include <utility>

#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/config/cors.h"
#include "emulator/s3/core/access.h"
#include "emulator/s3/core/call.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/strict.h"
#include "emulator/s3/directory/directory_rules.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/encryption/encryption.h"
#include "emulator/s3/listing/list_query.h"
#include "emulator/s3/objects/copy_source.h"
#include "emulator/s3/objects/overrides.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

// Adds S3's text and elements to errors of the store, which have only S3 codes.
Error WithElements(const Call& call, Error error) {
  if (error.details.empty() && !error.code.empty()) {
    const std::string& bucket = call.bucket().value;
    if (error.code == "NoSuchBucket" || error.code == "BucketAlreadyOwnedByYou" ||
        error.code == "BucketAlreadyExists") {
      error = MakeError(error.code, {{"BucketName", bucket}});
    } else if (error.code == "NoSuchKey") {
      error = NoSuchKey(call.key().value);
    } else if (error.code == "NoSuchUpload") {
      error =
          MakeError(error.code, {{"UploadId", std::string(call.Query("uploadId").value_or(""))}});
    } else if (error.code == "NoSuchVersion") {
      error =
          MakeError(error.code, {{"Key", call.key().value},
                                 {"VersionId", std::string(call.Query("versionId").value_or(""))}});
    }
  }
  return error;
}

// HeadBucket returns the region with its errors, too, so that clients can find the right endpoint.
void AddRegionHeader(Call& call, const Error& error) {
  if (!error.region.empty()) return;
  const auto bucket = call.store.FindBucket(call.bucket());
  if (bucket.ok())
    call.error_headers.emplace_back("x-amz-bucket-region", RegionOfConstraint((*bucket)->region));
}

// Requesters that may not list the bucket receive 403 for a missing object or version. A missing
// source of a copy was handled before (copy_source.cc). Deletions report NoSuchVersion only for ids
// that were never issued, which reveals nothing.
Error HideFromStrangers(Call& call, Error error) {
  const Operation* const operation = call.exchange.resolved;
  const bool is_missing = error.code == "NoSuchKey" || (error.code == "NoSuchVersion" &&
                                                        call.exchange.operation != "DeleteObject");
  if (!is_missing || call.opened == nullptr || operation == nullptr ||
      operation->level != Level::kObject || call.families.copy_source)
    return error;
  error = HideMissingKey(call, *call.opened, std::move(error));
  if (error.code == "AccessDenied") call.error_headers.clear();
  return error;
}

// Operations on buckets and uploads have no versions, and ?website has no value. S3 checks both
// before it looks for the bucket; PutBucketAcl reads the version after it (recorded against Amazon
// S3).
Result<void> RefuseQueryOfBucket(const Call& call, const Operation& operation) {
  const auto version = call.Query("versionId");
  const bool has_none = operation.level == Level::kBucket
                            ? operation.name != "CreateBucket" && operation.name != "PostObject" &&
                                  operation.entry != Entry::kOpen
                            : operation.name == "ListParts";
  if (version && has_none) {
    const bool acl = operation.name == "GetBucketAcl" || operation.name == "PutBucketAcl";
    return InvalidArgument(
        acl ? "Invalid version id specified" : "This operation does not accept a version-id.",
        "versionId", *version);
  }
  const auto website = call.Query("website");
  if (!website || website->empty()) return Ok();
  return InvalidArgument("The website parameter must not have a value", "website", *website);
}

// A call whose operation responds later. Everything that it refers to belongs to the exchange or
// outlives it.
struct DeferredCall final : message::Attachment {
  explicit DeferredCall(Call deferred) : call(std::move(deferred)) {}
  Call call;
};

class Router final : public Handler {
 public:
  explicit Router(RouterOptions options) : options_(std::move(options)) {}

  void Handle(Exchange& exchange) override {
    const Target& target = exchange.target;
    Call call{exchange,
              options_,
              *exchange.space->store,
              target.Has("X-Amz-Signature") || target.Has("Signature"),
              {},
              {},
              {},
              {}};
    exchange.response = Response{};
    exchange.response.headers.reserve(16);
    auto result = Dispatch(call);
    if (!call.continuation) return Conclude(call, std::move(result));
    exchange.Attach<DeferredCall>(std::move(call));
  }

  void Finish(Exchange& exchange) override {
    DeferredCall* const deferred = exchange.Find<DeferredCall>();
    if (deferred == nullptr)  // Handle() found no memory for it after the write was submitted
      return RespondWithError(exchange, {.kind = ErrorKind::kInternal, .message = "out of memory"});
    Conclude(deferred->call, deferred->call.continuation(deferred->call));
  }

 private:
  static void Conclude(Call& call, Result<void> result) {
    if (!result.ok()) Refuse(call, std::move(result).error());
    AddCorsHeaders(call);
  }

  static void Refuse(Call& call, Error error) {
    Exchange& exchange = call.exchange;
    if (error.kind == ErrorKind::kDataLoss && error.code.empty())
      exchange.ReportDamage(error.message);
    if (exchange.operation == "HeadBucket") AddRegionHeader(call, error);
    error = HideFromStrangers(call, std::move(error));
    RespondWithError(exchange, WithElements(call, std::move(error)));
    for (auto& [name, value] : call.error_headers)
      exchange.response.Add(std::move(name), std::move(value));
  }

  static Result<void> Dispatch(Call& call) {
    Exchange& exchange = call.exchange;
    if (exchange.resolved == nullptr) {
      Resolution resolution = ResolveOperation(exchange.request, exchange.target);
      if (resolution.operation == nullptr) {
        if (!resolution.allow.empty())
          call.error_headers.emplace_back("Allow", std::move(resolution.allow));
        return std::move(*resolution.error);
      }
      exchange.resolved = resolution.operation;
      exchange.operation = resolution.operation->name;
    }
    const Operation& operation = *exchange.resolved;
    PENSTOCK_ASSIGN(call.families,
                    RefuseUnknown(exchange.request, exchange.target, call.presigned));
    PENSTOCK_TRY(RefuseUnknownSubResource(exchange.target, call.presigned));
    if (operation.level != Level::kService)
      PENSTOCK_TRY(CheckBucketName(call.bucket().value, call.options.bucket_names));
    if (operation.level == Level::kObject) PENSTOCK_TRY(CheckKey(call.key().value));
    const bool late = operation.name == "PutBucketAcl";
    PENSTOCK_TRY(RefuseListingParameters(call, operation.name));
    if (!late && operation.level != Level::kService)
      PENSTOCK_TRY(RefuseQueryOfBucket(call, operation));
    PENSTOCK_TRY(CheckDirectoryRules(call, operation.name));
    if (operation.handler == nullptr) {
      return NotImplemented(std::string(operation.name) + " is not implemented by this emulator");
    }
    if (operation.level == Level::kObject) PENSTOCK_TRY(RefuseAnonymousOverrides(call));
    if (operation.entry == Entry::kBucket) PENSTOCK_TRY(OpenBucket(call));
    if (late) PENSTOCK_TRY(RefuseQueryOfBucket(call, operation));
    if (operation.entry == Entry::kAccount) PENSTOCK_TRY(RequireAccount(exchange.identity));
    if (operation.entry != Entry::kOpen) PENSTOCK_TRY(AuthorizeOperation(call));
    if (call.families.bucket)
      PENSTOCK_TRY(RefuseMisplacedBucketHeader(exchange.request, operation.name));
    if (call.families.encryption) PENSTOCK_TRY(RefuseMisplacedEncryption(call, operation.name));
    if (call.families.copy_source) PENSTOCK_TRY(RefuseCopySource(call, operation.name));
    if (call.families.object_lock) PENSTOCK_TRY(CheckObjectLockHeaders(call, operation.name));
    return operation.handler(call);
  }

  const RouterOptions options_;
};

}  // namespace

std::unique_ptr<Handler> MakeRouter(RouterOptions options) {
  return std::make_unique<Router>(std::move(options));
}

}  // namespace penstock::emulator::s3
