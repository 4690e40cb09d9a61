#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/xml/xml.h"
#include "client/s3/configuration/configuration.h"
#include "client/s3/configuration/tag_document.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/request_start.h"

namespace penstock::s3 {
namespace {

using Kind = BucketConfigurationKind;

// One sub-resource, from AWS's S3 service model. A missing name: S3 lacks the operation.
struct KindInfo {
  Kind kind;
  const char* parameter;
  std::string_view get;
  std::string_view put = {};
  std::string_view remove = {};
  bool checksum_required = false;
  bool needs_id = false;
};

constexpr bool kChecksum = true;
constexpr bool kNoChecksum = false;
constexpr bool kId = true;

constexpr std::array kKinds = {
    KindInfo{Kind::kAccelerate, "accelerate", "GetBucketAccelerateConfiguration",
             "PutBucketAccelerateConfiguration"},
    KindInfo{Kind::kAcl, "acl", "GetBucketAcl", "PutBucketAcl", {}, kChecksum},
    KindInfo{Kind::kAnalytics, "analytics", "GetBucketAnalyticsConfiguration",
             "PutBucketAnalyticsConfiguration", "DeleteBucketAnalyticsConfiguration", kNoChecksum,
             kId},
    KindInfo{Kind::kCors, "cors", "GetBucketCors", "PutBucketCors", "DeleteBucketCors", kChecksum},
    KindInfo{Kind::kEncryption, "encryption", "GetBucketEncryption", "PutBucketEncryption",
             "DeleteBucketEncryption", kChecksum},
    KindInfo{Kind::kIntelligentTiering, "intelligent-tiering",
             "GetBucketIntelligentTieringConfiguration", "PutBucketIntelligentTieringConfiguration",
             "DeleteBucketIntelligentTieringConfiguration", kNoChecksum, kId},
    KindInfo{Kind::kInventory, "inventory", "GetBucketInventoryConfiguration",
             "PutBucketInventoryConfiguration", "DeleteBucketInventoryConfiguration", kNoChecksum,
             kId},
    KindInfo{Kind::kLifecycle, "lifecycle", "GetBucketLifecycleConfiguration",
             "PutBucketLifecycleConfiguration", "DeleteBucketLifecycle", kChecksum},
    KindInfo{Kind::kLocation, "location", "GetBucketLocation"},
    KindInfo{Kind::kLogging, "logging", "GetBucketLogging", "PutBucketLogging", {}, kChecksum},
    KindInfo{Kind::kMetrics, "metrics", "GetBucketMetricsConfiguration",
             "PutBucketMetricsConfiguration", "DeleteBucketMetricsConfiguration", kNoChecksum, kId},
    KindInfo{Kind::kNotification, "notification", "GetBucketNotificationConfiguration",
             "PutBucketNotificationConfiguration"},
    KindInfo{Kind::kObjectLock,
             "object-lock",
             "GetObjectLockConfiguration",
             "PutObjectLockConfiguration",
             {},
             kChecksum},
    KindInfo{Kind::kOwnershipControls, "ownershipControls", "GetBucketOwnershipControls",
             "PutBucketOwnershipControls", "DeleteBucketOwnershipControls", kChecksum},
    KindInfo{Kind::kPolicy, "policy", "GetBucketPolicy", "PutBucketPolicy", "DeleteBucketPolicy",
             kChecksum},
    KindInfo{Kind::kPolicyStatus, "policyStatus", "GetBucketPolicyStatus"},
    KindInfo{Kind::kPublicAccessBlock, "publicAccessBlock", "GetPublicAccessBlock",
             "PutPublicAccessBlock", "DeletePublicAccessBlock", kChecksum},
    KindInfo{Kind::kReplication, "replication", "GetBucketReplication", "PutBucketReplication",
             "DeleteBucketReplication", kChecksum},
    KindInfo{Kind::kRequestPayment,
             "requestPayment",
             "GetBucketRequestPayment",
             "PutBucketRequestPayment",
             {},
             kChecksum},
    KindInfo{Kind::kTagging, "tagging", "GetBucketTagging", "PutBucketTagging",
             "DeleteBucketTagging", kChecksum},
    KindInfo{Kind::kVersioning,
             "versioning",
             "GetBucketVersioning",
             "PutBucketVersioning",
             {},
             kChecksum},
    KindInfo{Kind::kWebsite, "website", "GetBucketWebsite", "PutBucketWebsite",
             "DeleteBucketWebsite", kChecksum},
};
static_assert(std::ranges::is_sorted(kKinds, {}, &KindInfo::kind));

const KindInfo& InfoOf(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

struct Place {
  const BucketName& bucket;
  Kind kind;
  const std::string& id;
};

// `name` is the operation's, one of the members of KindInfo.
Result<WireRequest> StartConfiguration(Operation operation, const Place& place,
                                       std::string_view KindInfo::*name,
                                       const BuildContext& context) {
  const KindInfo& info = InfoOf(place.kind);
  if ((info.*name).empty()) {
    return InvalidRequest("S3 cannot " +
                          std::string(Info(operation).method == "PUT" ? "set" : "delete") +
                          " the configuration `" + info.parameter + "` of a bucket");
  }
  if (info.needs_id == place.id.empty()) {
    return InvalidRequest("the configuration `" + std::string(info.parameter) + "` of a bucket " +
                          (info.needs_id ? "needs an id; set it" : "has no id; leave it empty"));
  }
  PENSTOCK_ASSIGN(WireRequest wire, StartBucketRequest(operation, place.bucket, context));
  wire.operation_name = info.*name;
  wire.query.emplace_back(info.parameter, "");
  if (info.needs_id) wire.query.emplace_back("id", place.id);
  return wire;
}

Result<WireRequest> StartGet(const Place& place, const BuildContext& context) {
  return StartConfiguration(Operation::kGetBucketConfiguration, place, &KindInfo::get, context);
}

Result<WireRequest> StartPut(const Place& place, std::string document,
                             const BuildContext& context) {
  if (document.empty()) {
    return InvalidRequest(
        "the document of the configuration is empty; S3 needs one, or delete the "
        "configuration");
  }
  PENSTOCK_ASSIGN(WireRequest wire, StartConfiguration(Operation::kPutBucketConfiguration, place,
                                                       &KindInfo::put, context));
  wire.document = std::move(document);
  wire.headers.push_back(
      {"Content-Type", place.kind == Kind::kPolicy ? "application/json" : "application/xml"});
  if (InfoOf(place.kind).checksum_required) AppendDocumentChecksum(context, wire);
  return wire;
}

const std::string kNoId;

}  // namespace

Result<WireRequest> BuildRequest(const GetBucketConfigurationRequest& request,
                                 const BuildContext& context) {
  return StartGet({request.bucket, request.kind, request.id}, context);
}

Result<BucketConfiguration> ParseResponse(const GetBucketConfigurationRequest& request,
                                          const WireResponse& response) {
  const bool is_policy = request.kind == Kind::kPolicy;
  if (!is_policy || response.body.starts_with('<')) PENSTOCK_TRY(CheckAnyDocument(response));
  if (is_policy && !nlohmann::json::accept(response.body)) {
    return Error::Make(ErrorKind::kUnavailable,
                       "the " + std::to_string(response.head.status) +
                           " response should contain a policy in JSON, but it is empty, incomplete "
                           "or not JSON");
  }
  return BucketConfiguration{response.body};
}

Result<WireRequest> BuildRequest(const PutBucketConfigurationRequest& request,
                                 const BuildContext& context) {
  return StartPut({request.bucket, request.kind, request.id}, request.document, context);
}

Result<NoResponse> ParseResponse(const PutBucketConfigurationRequest& request,
                                 const WireResponse& response) {
  const bool repeats_policy = request.kind == Kind::kPolicy &&
                              (response.body == "True" || response.body == request.document);
  if (!repeats_policy) PENSTOCK_TRY(CheckNoDocument(response));
  return NoResponse{};
}

Result<WireRequest> BuildRequest(const DeleteBucketConfigurationRequest& request,
                                 const BuildContext& context) {
  return StartConfiguration(Operation::kDeleteBucketConfiguration,
                            {request.bucket, request.kind, request.id}, &KindInfo::remove, context);
}

Result<WireRequest> BuildRequest(const GetBucketVersioningRequest& request,
                                 const BuildContext& context) {
  return StartGet({request.bucket, Kind::kVersioning, kNoId}, context);
}

Result<GetBucketVersioningResponse> ParseResponse(const GetBucketVersioningRequest&,
                                                  const WireResponse& response) {
  // moto 5 returns <GetBucketVersioningResponse>.
  PENSTOCK_ASSIGN(const XmlDocument document,
                  ReadDocument(response, "VersioningConfiguration", "GetBucketVersioningResponse"));
  const std::string status = document.root().Child("Status").text();
  GetBucketVersioningResponse out;
  if (status == "Enabled") out.status = BucketVersioning::kEnabled;
  if (status == "Suspended") out.status = BucketVersioning::kSuspended;
  out.mfa_delete = document.root().Child("MfaDelete").text() == "Enabled";
  return out;
}

Result<WireRequest> BuildRequest(const PutBucketVersioningRequest& request,
                                 const BuildContext& context) {
  if (request.status == BucketVersioning::kNever) {
    return InvalidRequest(
        "a bucket that was versioned cannot return to kNever; use kEnabled or "
        "kSuspended");
  }
  XmlWriter xml;
  xml.Open("VersioningConfiguration", kXmlNamespace);
  xml.Element("Status", request.status == BucketVersioning::kEnabled ? "Enabled" : "Suspended");
  xml.Close("VersioningConfiguration");
  return StartPut({request.bucket, Kind::kVersioning, kNoId}, xml.Take(), context);
}

Result<WireRequest> BuildRequest(const GetBucketTaggingRequest& request,
                                 const BuildContext& context) {
  return StartGet({request.bucket, Kind::kTagging, kNoId}, context);
}

Result<GetBucketTaggingResponse> ParseResponse(const GetBucketTaggingRequest&,
                                               const WireResponse& response) {
  PENSTOCK_ASSIGN(std::vector<Tag> tags, ReadTags(response));
  return GetBucketTaggingResponse{std::move(tags)};
}

Result<WireRequest> BuildRequest(const PutBucketTaggingRequest& request,
                                 const BuildContext& context) {
  return StartPut({request.bucket, Kind::kTagging, kNoId}, TagDocument(request.tags), context);
}

}  // namespace penstock::s3
