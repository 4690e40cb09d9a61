#include "emulator/s3/dispatch/operations.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using enum Level;

// Operations without a sub-resource. The most frequent come first, to end the search early.
constexpr Operation kPlain[] = {
    {"GetObject", "GET", kObject, "", GetObject},
    {"PutObject", "PUT", kObject, "", PutObject},
    {"HeadObject", "HEAD", kObject, "", GetObject},
    {"DeleteObject", "DELETE", kObject, "", DeleteObject},
    {"ListObjects", "GET", kBucket, "", ListObjectsV1},
    {"HeadBucket", "HEAD", kBucket, "", HeadBucket},
    {"CreateBucket", "PUT", kBucket, "", CreateBucket, Entry::kAccount},
    {"DeleteBucket", "DELETE", kBucket, "", DeleteBucket},
    {"PostObject", "POST", kBucket, "", PostObject},
    {"ListBuckets", "GET", kService, "", ListBuckets, Entry::kOpen},
    {"OptionsObject", "OPTIONS", kObject, "", HandlePreflight, Entry::kOpen},
    {"OptionsObject", "OPTIONS", kBucket, "", HandlePreflight, Entry::kOpen},
};
constexpr const Operation& kPutObject = kPlain[1];
static_assert(kPutObject.name == "PutObject");
constexpr Operation kListDirectoryBuckets{"ListDirectoryBuckets", "GET",          kService, "",
                                          ListDirectoryBuckets,   Entry::kAccount};
// CRT clients with path-style addressing drop the bucket (create_session.cc).
constexpr Operation kCreateSessionWithoutBucket{"CreateSession", "GET",         kService,
                                                "session",       CreateSession, Entry::kAccount};
constexpr Operation kCopyObject{"CopyObject", "PUT", kObject, "", CopyObject};
constexpr Operation kUploadPart{"UploadPart", "PUT", kObject, "uploadId", UploadPart};
constexpr Operation kUploadPartCopy{"UploadPartCopy", "PUT", kObject, "uploadId", UploadPartCopy};

// Per sub-resource in the order of its Allow header: DELETE, POST, GET, PUT (recorded against
// Amazon S3).
constexpr Operation kSelected[] = {
    {"ListObjectsV2", "GET", kBucket, "list-type", ListObjectsV2},
    {"AbortMultipartUpload", "DELETE", kObject, "uploadId", AbortMultipartUpload},
    {"CompleteMultipartUpload", "POST", kObject, "uploadId", CompleteMultipartUpload},
    {"ListParts", "GET", kObject, "uploadId", ListParts},
    {"CreateMultipartUpload", "POST", kObject, "uploads", CreateMultipartUpload},
    {"DeleteObjects", "POST", kBucket, "delete", DeleteObjects},
    {"GetBucketLocation", "GET", kBucket, "location", GetBucketLocation},
    {"ListMultipartUploads", "GET", kBucket, "uploads", ListMultipartUploads},
    {"ListObjectVersions", "GET", kBucket, "versions", ListObjectVersions},
    {"GetBucketVersioning", "GET", kBucket, "versioning", GetBucketVersioning},
    {"PutBucketVersioning", "PUT", kBucket, "versioning", PutBucketVersioning},
    {"GetObjectAttributes", "GET", kObject, "attributes", GetObjectAttributes},
    {"DeleteObjectTagging", "DELETE", kObject, "tagging", DeleteObjectTagging},
    {"GetObjectTagging", "GET", kObject, "tagging", GetObjectTagging},
    {"PutObjectTagging", "PUT", kObject, "tagging", PutObjectTagging},
    {"GetObjectAcl", "GET", kObject, "acl", GetAcl},
    {"PutObjectAcl", "PUT", kObject, "acl", PutAcl},
    {"GetObjectLegalHold", "GET", kObject, "legal-hold", GetObjectLegalHold},
    {"PutObjectLegalHold", "PUT", kObject, "legal-hold", PutObjectLegalHold},
    {"GetObjectRetention", "GET", kObject, "retention", GetObjectRetention},
    {"PutObjectRetention", "PUT", kObject, "retention", PutObjectRetention},
    {"GetObjectTorrent", "GET", kObject, "torrent", nullptr},
    {"UpdateObjectEncryption", "PUT", kObject, "encryption", UpdateObjectEncryption},
    {"RenameObject", "PUT", kObject, "renameObject", RenameObject},
    {"RestoreObject", "POST", kObject, "restore", RestoreObject},
    {"SelectObjectContent", "POST", kObject, "select", nullptr},
    {"GetBucketAcl", "GET", kBucket, "acl", GetAcl},
    {"PutBucketAcl", "PUT", kBucket, "acl", PutAcl},
    {"GetBucketAbac", "GET", kBucket, "abac", GetBucketConfiguration},
    {"PutBucketAbac", "PUT", kBucket, "abac", PutBucketConfiguration},
    {"GetBucketAccelerateConfiguration", "GET", kBucket, "accelerate", GetBucketConfiguration},
    {"PutBucketAccelerateConfiguration", "PUT", kBucket, "accelerate", PutBucketConfiguration},
    {"DeleteBucketAnalyticsConfiguration", "DELETE", kBucket, "analytics",
     DeleteBucketConfiguration},
    {"GetBucketAnalyticsConfiguration", "GET", kBucket, "analytics", GetBucketConfiguration},
    {"PutBucketAnalyticsConfiguration", "PUT", kBucket, "analytics", PutBucketConfiguration},
    {"DeleteBucketCors", "DELETE", kBucket, "cors", DeleteBucketConfiguration},
    {"GetBucketCors", "GET", kBucket, "cors", GetBucketConfiguration},
    {"PutBucketCors", "PUT", kBucket, "cors", PutBucketConfiguration},
    {"DeleteBucketEncryption", "DELETE", kBucket, "encryption", DeleteBucketEncryption},
    {"GetBucketEncryption", "GET", kBucket, "encryption", GetBucketEncryption},
    {"PutBucketEncryption", "PUT", kBucket, "encryption", PutBucketEncryption},
    {"DeleteBucketIntelligentTieringConfiguration", "DELETE", kBucket, "intelligent-tiering",
     DeleteBucketConfiguration},
    {"GetBucketIntelligentTieringConfiguration", "GET", kBucket, "intelligent-tiering",
     GetBucketConfiguration},
    {"PutBucketIntelligentTieringConfiguration", "PUT", kBucket, "intelligent-tiering",
     PutBucketConfiguration},
    {"DeleteBucketInventoryConfiguration", "DELETE", kBucket, "inventory",
     DeleteBucketConfiguration},
    {"GetBucketInventoryConfiguration", "GET", kBucket, "inventory", GetBucketConfiguration},
    {"PutBucketInventoryConfiguration", "PUT", kBucket, "inventory", PutBucketConfiguration},
    {"DeleteBucketLifecycle", "DELETE", kBucket, "lifecycle", DeleteBucketConfiguration},
    {"GetBucketLifecycleConfiguration", "GET", kBucket, "lifecycle", GetBucketConfiguration},
    {"PutBucketLifecycleConfiguration", "PUT", kBucket, "lifecycle", PutBucketConfiguration},
    {"GetBucketLogging", "GET", kBucket, "logging", GetBucketConfiguration},
    {"PutBucketLogging", "PUT", kBucket, "logging", PutBucketConfiguration},
    {"DeleteBucketMetadataConfiguration", "DELETE", kBucket, "metadataConfiguration", nullptr},
    {"CreateBucketMetadataConfiguration", "POST", kBucket, "metadataConfiguration", nullptr},
    {"GetBucketMetadataConfiguration", "GET", kBucket, "metadataConfiguration", nullptr},
    {"DeleteBucketMetadataTableConfiguration", "DELETE", kBucket, "metadataTable", nullptr},
    {"CreateBucketMetadataTableConfiguration", "POST", kBucket, "metadataTable", nullptr},
    {"GetBucketMetadataTableConfiguration", "GET", kBucket, "metadataTable", nullptr},
    {"UpdateBucketMetadataInventoryTableConfiguration", "PUT", kBucket, "metadataInventoryTable",
     nullptr},
    {"UpdateBucketMetadataJournalTableConfiguration", "PUT", kBucket, "metadataJournalTable",
     nullptr},
    {"DeleteBucketMetricsConfiguration", "DELETE", kBucket, "metrics", DeleteBucketConfiguration},
    {"GetBucketMetricsConfiguration", "GET", kBucket, "metrics", GetBucketConfiguration},
    {"PutBucketMetricsConfiguration", "PUT", kBucket, "metrics", PutBucketConfiguration},
    {"GetBucketNotificationConfiguration", "GET", kBucket, "notification", GetBucketConfiguration},
    {"PutBucketNotificationConfiguration", "PUT", kBucket, "notification", PutBucketConfiguration},
    {"GetObjectLockConfiguration", "GET", kBucket, "object-lock", GetBucketConfiguration},
    {"PutObjectLockConfiguration", "PUT", kBucket, "object-lock", PutBucketConfiguration},
    {"DeleteBucketOwnershipControls", "DELETE", kBucket, "ownershipControls",
     DeleteBucketConfiguration},
    {"GetBucketOwnershipControls", "GET", kBucket, "ownershipControls", GetBucketConfiguration},
    {"PutBucketOwnershipControls", "PUT", kBucket, "ownershipControls", PutBucketConfiguration},
    {"DeleteBucketPolicy", "DELETE", kBucket, "policy", DeleteBucketPolicy},
    {"GetBucketPolicy", "GET", kBucket, "policy", GetBucketPolicy},
    {"PutBucketPolicy", "PUT", kBucket, "policy", PutBucketPolicy},
    {"GetBucketPolicyStatus", "GET", kBucket, "policyStatus", GetBucketPolicyStatus},
    {"DeletePublicAccessBlock", "DELETE", kBucket, "publicAccessBlock", DeleteBucketConfiguration},
    {"GetPublicAccessBlock", "GET", kBucket, "publicAccessBlock", GetBucketConfiguration},
    {"PutPublicAccessBlock", "PUT", kBucket, "publicAccessBlock", PutBucketConfiguration},
    {"DeleteBucketReplication", "DELETE", kBucket, "replication", DeleteBucketConfiguration},
    {"GetBucketReplication", "GET", kBucket, "replication", GetBucketConfiguration},
    {"PutBucketReplication", "PUT", kBucket, "replication", PutBucketConfiguration},
    {"GetBucketRequestPayment", "GET", kBucket, "requestPayment", GetBucketConfiguration},
    {"PutBucketRequestPayment", "PUT", kBucket, "requestPayment", PutBucketConfiguration},
    {"CreateSession", "GET", kBucket, "session", CreateSession, Entry::kAccount},
    {"DeleteBucketTagging", "DELETE", kBucket, "tagging", DeleteBucketConfiguration},
    {"GetBucketTagging", "GET", kBucket, "tagging", GetBucketConfiguration},
    {"PutBucketTagging", "PUT", kBucket, "tagging", PutBucketConfiguration},
    {"DeleteBucketWebsite", "DELETE", kBucket, "website", DeleteBucketConfiguration},
    {"GetBucketWebsite", "GET", kBucket, "website", GetBucketConfiguration},
    {"PutBucketWebsite", "PUT", kBucket, "website", PutBucketConfiguration},
};

// Without `id`, these sub-resources list the configurations.
constexpr Operation kListConfigurations[] = {
    {"ListBucketAnalyticsConfigurations", "GET", kBucket, "analytics", ListBucketConfigurations},
    {"ListBucketIntelligentTieringConfigurations", "GET", kBucket, "intelligent-tiering",
     ListBucketConfigurations},
    {"ListBucketInventoryConfigurations", "GET", kBucket, "inventory", ListBucketConfigurations},
    {"ListBucketMetricsConfigurations", "GET", kBucket, "metrics", ListBucketConfigurations},
};

constexpr std::string_view kParameters[] = {
    "versionId",
    "partNumber",
    "prefix",
    "delimiter",
    "encoding-type",
    "marker",
    "max-keys",
    "start-after",
    "continuation-token",
    "fetch-owner",
    "key-marker",
    "version-id-marker",
    "upload-id-marker",
    "max-uploads",
    "max-parts",
    "part-number-marker",
    "max-buckets",
    "bucket-region",
    "max-directory-buckets",
    "id",
    "x-id",
    "select-type",
    "response-content-type",
    "response-content-language",
    "response-expires",
    "response-cache-control",
    "response-content-disposition",
    "response-content-encoding",
    "AWSAccessKeyId",
    "Signature",
    "Expires",
};

// Bucket sub-resources that S3 also accepts with a key. The response is the bucket's, whatever the
// key (recorded against Amazon S3).
constexpr std::string_view kBucketSelectorsAtKey[] = {
    "accelerate", "cors",        "inventory",      "lifecycle",  "location", "notification",
    "policy",     "replication", "requestPayment", "versioning", "website"};

// Bucket sub-resources that S3 refuses with a key (recorded against Amazon S3).
struct KeyRefusal {
  std::string_view selector;
  std::string_view code;
  std::string_view message;
};
constexpr KeyRefusal kKeyRefusals[] = {
    {"logging", "NoLoggingStatusForKey",
     "There is no such thing as the ?logging sub-resource for a key"},
    {"uploads", "InvalidRequest", "Key is not expected for the GET method ?uploads subresource"},
    {"versions", "InvalidRequest",
     "There is no such thing as the ?versions sub-resource for a key"},
};

// The selectors, sorted. Every query parameter is looked up here.
constexpr auto kSelectors = [] {
  std::array<std::string_view, std::size(kSelected)> names;
  std::transform(std::begin(kSelected), std::end(kSelected), names.begin(),
                 [](const Operation& operation) { return operation.selector; });
  std::sort(names.begin(), names.end());
  return names;
}();

// Bit n of entry c is set if a selector of n letters begins with c. Most other parameters fail this
// test, which is cheaper than the search.
constexpr auto kSelectorShapes = [] {
  std::array<std::uint64_t, 256> shapes{};
  for (const std::string_view name : kSelectors)
    shapes[static_cast<unsigned char>(name[0])] |= std::uint64_t{1} << name.size();
  return shapes;
}();

bool IsSelector(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  if ((kSelectorShapes[static_cast<unsigned char>(name[0])] >> name.size() & 1) == 0) return false;
  return std::binary_search(kSelectors.begin(), kSelectors.end(), name);
}

// The ResourceType of a 405 for a sub-resource (recorded against Amazon S3).
struct SelectorType {
  std::string_view selector;
  std::string_view of_bucket;
  std::string_view of_object;
};
constexpr SelectorType kSelectorTypes[] = {
    {"abac", "BUCKET_ABAC", ""},
    {"accelerate", "ACCELERATE", ""},
    {"acl", "ACL", "ACL"},
    {"analytics", "ANALYTICS", ""},
    {"attributes", "", "OBJECT_ATTRIBUTES"},
    {"cors", "CORS", ""},
    {"delete", "MULTI_OBJECT_DELETE", ""},
    {"encryption", "ENCRYPTION", "OBJECT_ENCRYPTION"},
    {"intelligent-tiering", "INTELLIGENT_TIERING", ""},
    {"inventory", "INVENTORY", ""},
    {"legal-hold", "", "OBJECT_LOCK_LEGALHOLD"},
    {"lifecycle", "LIFECYCLE", ""},
    {"location", "LOCATION", ""},
    {"logging", "LOGGING_STATUS", ""},
    {"metadataConfiguration", "BUCKET_METADATA_CONFIGURATION", ""},
    {"metadataInventoryTable", "BUCKET_METADATA_INVENTORY_TABLE_CONFIGURATION", ""},
    {"metadataJournalTable", "BUCKET_METADATA_JOURNAL_TABLE_CONFIGURATION", ""},
    {"metadataTable", "BUCKET_METADATA_TABLE_CONFIGURATION", ""},
    {"metrics", "METRICS", ""},
    {"notification", "NOTIFICATION", ""},
    {"object-lock", "OBJECT_LOCK_CONFIGURATION", ""},
    {"ownershipControls", "OWNERSHIP_CONTROLS", ""},
    {"policy", "BUCKETPOLICY", ""},
    {"policyStatus", "POLICY_STATUS", ""},
    {"publicAccessBlock", "PUBLIC_ACCESS_BLOCK", ""},
    {"replication", "REPLICATION", ""},
    {"requestPayment", "REQUEST_PAYMENT", ""},
    {"restore", "RESTORE", "RESTORE"},
    {"retention", "", "OBJECT_LOCK_RETENTION"},
    {"select", "", "SELECT"},
    {"tagging", "TAGGING", "OBJECT_TAGGING"},
    {"torrent", "TORRENT", "TORRENT"},
    {"uploadId", "UPLOAD", "UPLOAD"},
    {"uploads", "UPLOADS", "UPLOADS"},
    {"versioning", "VERSIONING", ""},
    {"versions", "BUCKETVERSIONS", ""},
    {"website", "WEBSITE", ""},
};

std::string_view ResourceType(Level level, std::string_view selector) {
  const auto* const type =
      std::find_if(std::begin(kSelectorTypes), std::end(kSelectorTypes),
                   [&](const SelectorType& row) { return row.selector == selector; });
  if (type != std::end(kSelectorTypes)) {
    const std::string_view name = level == kObject ? type->of_object : type->of_bucket;
    if (!name.empty()) return name;
  }
  switch (level) {
    case kService: return "SERVICE";
    case kBucket: return "BUCKET";
    case kObject: return "OBJECT";
  }
  return "";
}

std::string AllowedMethods(Level level, std::string_view selector) {
  std::string allow;
  const auto add = [&](const Operation& operation) {
    // Buckets (GET) and objects (POST) share ?uploads. S3 lists both methods for either.
    if (operation.selector != selector || (operation.level != level && selector != "uploads"))
      return;
    if (!allow.empty()) allow += ", ";
    allow += operation.method;
  };
  if (selector.empty()) {
    std::for_each(std::begin(kPlain), std::end(kPlain), add);
  } else {
    std::for_each(std::begin(kSelected), std::end(kSelected), add);
  }
  return allow;
}

const Operation* FindSelected(std::string_view method, Level level, std::string_view selector,
                              const Target& target) {
  const auto fits = [&](const Operation& operation) {
    return operation.level == level && operation.selector == selector && operation.method == method;
  };
  if (target.Get("id").value_or("").empty()) {
    const auto* list =
        std::find_if(std::begin(kListConfigurations), std::end(kListConfigurations), fits);
    if (list != std::end(kListConfigurations)) return list;
  }
  const auto* found = std::find_if(std::begin(kSelected), std::end(kSelected), fits);
  return found == std::end(kSelected) ? nullptr : found;
}

Resolution NotAllowed(std::string_view method, Level level, std::string_view selector) {
  return {nullptr, MethodNotAllowed(method, ResourceType(level, selector)),
          AllowedMethods(level, selector)};
}

Resolution Conflict(std::string_view selector, std::string_view other) {
  const std::string_view first = std::min(selector, other);
  return {nullptr,
          InvalidArgument("Conflicting query string parameters: " + std::string(first) + ", " +
                              std::string(std::max(selector, other)),
                          "ResourceType", first),
          {}};
}

// partNumber belongs to uploadId, and without a sub-resource to GetObject and HeadObject (recorded
// against Amazon S3). Returns nullopt if its place is right.
std::optional<Resolution> RefuseMisplacedPart(std::string_view method, Level level,
                                              std::string_view selector) {
  if (selector == "uploadId") {
    if (method == "PUT" && level == kObject) return std::nullopt;
    return Resolution{nullptr, MethodNotAllowed(method, "PART"), "PUT"};
  }
  if (!selector.empty()) return Conflict(selector, "partNumber");
  if (level == kObject) return std::nullopt;
  return Resolution{
      nullptr, MakeError("InvalidRequest", {}, "Object must have a valid key name."), {}};
}

// Resolves GET and HEAD of a key with a bucket sub-resource. Returns nullopt if S3's behaviour is
// not known.
std::optional<Resolution> ResolveBucketSelectorAtKey(const RequestHead& request,
                                                     const Target& target,
                                                     std::string_view selector) {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  const auto* refusal =
      std::find_if(std::begin(kKeyRefusals), std::end(kKeyRefusals),
                   [&](const KeyRefusal& row) { return row.selector == selector; });
  const bool refused = refusal != std::end(kKeyRefusals);
  if (refused && request.method == "GET") {
    return Resolution{nullptr, MakeError(refusal->code, {}, std::string(refusal->message)), {}};
  }
  if (!refused && std::find(std::begin(kBucketSelectorsAtKey), std::end(kBucketSelectorsAtKey),
                            selector) == std::end(kBucketSelectorsAtKey)) {
    return std::nullopt;
  }
  if (request.method == "HEAD") return NotAllowed(request.method, kBucket, selector);
  return Resolution{FindSelected(request.method, kBucket, selector, target), std::nullopt, {}};
}

// True if `text` contains a credential scope of the form "akid/day/region/s3express/aws4_request".
bool NamesDirectoryService(std::optional<std::string_view> text) {
  return text && text->find("/s3express/aws4_request") != std::string_view::npos;
}

// GET / is ListBuckets or ListDirectoryBuckets. The host, a parameter or the service in the
// signature selects the latter.
bool AsksForDirectoryBuckets(const RequestHead& request, const Target& target) {
  return target.directory_endpoint == DirectoryEndpoint::kControl ||
         target.Has("max-directory-buckets") ||
         NamesDirectoryService(request.Find("authorization")) ||
         NamesDirectoryService(target.Get("X-Amz-Credential"));
}

// General purpose buckets have no sessions: S3 answers ?session with the listing. Only list-type=2
// selects ListObjectsV2; other values select ListObjects (both recorded against Amazon S3).
bool IsIgnoredSelector(const QueryParameter& parameter, Level level, const Target& target) {
  if (parameter.name == "session")
    return level == kBucket && !IsDirectoryBucketName(target.bucket.value);
  return parameter.name == "list-type" && target.Get("list-type") != "2";
}

// PUT of a key: PutObject, UploadPart, or a copy of either.
Resolution ResolveObjectPut(const RequestHead& request, const Target& target, bool has_upload_id) {
  const bool copy = request.Find("x-amz-copy-source") || target.Has("x-amz-copy-source");
  if (!has_upload_id) {
    if (target.Has("partNumber")) {
      return {nullptr,
              InvalidArgument("This operation does not accept partNumber without uploadId",
                              "partNumber", "partNumber"),
              {}};
    }
    return {copy ? &kCopyObject : &kPutObject, std::nullopt, {}};
  }
  if (!target.Has("partNumber")) return NotAllowed(request.method, kObject, "uploadId");
  return {copy ? &kUploadPartCopy : &kUploadPart, std::nullopt, {}};
}

}  // namespace

Resolution ResolveOperation(const RequestHead& request, const Target& target) {
  const Level level = !target.key.empty() ? kObject : !target.bucket.empty() ? kBucket : kService;
  std::string_view selector;
  for (const QueryParameter& parameter : target.query) {
    if (parameter.name == selector || !IsSelector(parameter.name)) continue;
    if (IsIgnoredSelector(parameter, level, target)) continue;
    if (!selector.empty()) return Conflict(selector, parameter.name);
    selector = parameter.name;
  }
  if (level == kService) selector = {};  // The service level has no sub-resources.
  if (level != kService && target.Has("partNumber")) {
    if (auto refused = RefuseMisplacedPart(request.method, level, selector))
      return std::move(*refused);
  }
  if (level == kService && request.method == "GET" && target.Has("session") &&
      !target.on_s3_domain) {
    return {&kCreateSessionWithoutBucket, std::nullopt, {}};
  }
  if (level == kService && request.method == "GET" && AsksForDirectoryBuckets(request, target)) {
    return {&kListDirectoryBuckets, std::nullopt, {}};
  }
  if (level == kObject && request.method == "PUT" && (selector.empty() || selector == "uploadId")) {
    return ResolveObjectPut(request, target, !selector.empty());
  }
  if (selector.empty()) {
    for (const Operation& operation : kPlain) {
      if (operation.level == level && operation.method == request.method)
        return {&operation, std::nullopt, {}};
    }
    return NotAllowed(request.method, level, selector);
  }
  if (const Operation* operation = FindSelected(request.method, level, selector, target)) {
    return {operation, std::nullopt, {}};
  }
  if (level == kObject) {
    if (auto resolution = ResolveBucketSelectorAtKey(request, target, selector))
      return std::move(*resolution);
  }
  Resolution refused = NotAllowed(request.method, level, selector);
  if (refused.allow.empty()) {
    refused.error = NotImplemented(
        "The sub-resource '" + std::string(selector) + "' does not exist for " +
        (level == kObject ? "objects" : "buckets") + "; remove it from the query string");
  }
  return refused;
}

bool IsKnownParameter(std::string_view name) {
  return IsSelector(name) ||
         std::find(std::begin(kParameters), std::end(kParameters), name) != std::end(kParameters);
}

Result<void> RefuseUnknownSubResource(const Target& target, bool presigned) {
  for (const QueryParameter& parameter : target.query) {
    if (!parameter.value.empty() || IsKnownParameter(parameter.name)) continue;
    if (presigned && StartsWithIgnoreCase(parameter.name, "x-amz-")) continue;
    return NotImplemented("The sub-resource '" + parameter.name +
                          "' is not implemented; remove it from the query string");
  }
  return Ok();
}

const std::vector<std::string_view>& OperationNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all{kListDirectoryBuckets.name, kCopyObject.name,
                                      kUploadPart.name, kUploadPartCopy.name};
    const auto add = [&all](const Operation& operation) { all.push_back(operation.name); };
    all.insert(all.end(), std::begin(kStsOperations), std::end(kStsOperations));
    std::for_each(std::begin(kPlain), std::end(kPlain), add);
    std::for_each(std::begin(kSelected), std::end(kSelected), add);
    std::for_each(std::begin(kListConfigurations), std::end(kListConfigurations), add);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }();
  return names;
}

void SetOperation(Exchange& exchange) {
  exchange.resolved = ResolveOperation(exchange.request, exchange.target).operation;
  exchange.operation = exchange.resolved != nullptr ? exchange.resolved->name : std::string_view();
}

std::string OperationName(const RequestHead& request, const Target& target) {
  const Resolution resolution = ResolveOperation(request, target);
  return resolution.operation ? std::string(resolution.operation->name) : std::string();
}

}  // namespace penstock::emulator::s3
