// Sub-resources of buckets that the emulator keeps no state for: what S3 answers while they are not set (spec/protocol.md
// §2.2), and versioning (§2.7), which it does keep.
#include <string>
#include <string_view>

#include "emulator/api/body.h"
#include "emulator/api/documents.h"
#include "emulator/api/errors.h"
#include "emulator/api/handlers.h"

namespace penstock::emulator::api {
namespace {

struct UnsetAnswer {
  std::string_view selector;
  std::string_view error_code;  // empty: 200 with the document below
  std::string_view root;
  std::string_view inner;  // raw XML
};

constexpr UnsetAnswer kUnset[] = {
    {"accelerate", "", "AccelerateConfiguration", ""},
    {"analytics", "NoSuchConfiguration", "", ""},
    {"cors", "NoSuchCORSConfiguration", "", ""},
    {"intelligent-tiering", "NoSuchConfiguration", "", ""},
    {"inventory", "NoSuchConfiguration", "", ""},
    {"lifecycle", "NoSuchLifecycleConfiguration", "", ""},
    {"logging", "", "BucketLoggingStatus", ""},
    {"metrics", "NoSuchConfiguration", "", ""},
    {"notification", "", "NotificationConfiguration", ""},
    {"object-lock", "ObjectLockConfigurationNotFoundError", "", ""},
    {"ownershipControls", "", "OwnershipControls", "<Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>"},
    {"policy", "NoSuchBucketPolicy", "", ""},
    {"policyStatus", "NoSuchBucketPolicy", "", ""},
    {"publicAccessBlock", "", "PublicAccessBlockConfiguration",
     "<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>"
     "<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets>"},
    {"replication", "ReplicationConfigurationNotFoundError", "", ""},
    {"requestPayment", "", "RequestPaymentConfiguration", "<Payer>BucketOwner</Payer>"},
    {"tagging", "NoSuchTagSet", "", ""},
    {"website", "NoSuchWebsiteConfiguration", "", ""},
};

std::string Document(const UnsetAnswer& answer) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<";
  xml.append(answer.root).append(" ").append(kXmlNamespace);
  if (answer.inner.empty()) return xml.append("/>");
  return xml.append(">").append(answer.inner).append("</").append(answer.root).append(">");
}

void RespondWithAcl(Call& call, std::string_view owner_id) {
  XmlWriter xml;
  xml.Open("AccessControlPolicy", kXmlNamespace);
  WriteOwner(xml, "Owner", owner_id);
  xml.Open("AccessControlList");
  xml.Open("Grant");
  xml.Open("Grantee", "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"CanonicalUser\"");
  xml.Element("ID", owner_id);
  xml.Close("Grantee");
  xml.Element("Permission", "FULL_CONTROL");
  xml.Close("Grant");
  xml.Close("AccessControlList");
  xml.Close("AccessControlPolicy");
  call.RespondXml(xml.Take());
}

Result<store::Versioning> ParseVersioning(std::string_view text) {
  auto document = XmlDocument::Parse(text);
  if (!document.ok() || document->root().name() != "VersioningConfiguration") return MalformedXml();
  const XmlElement status = document->root().Child("Status");
  if (!status) return MakeError("IllegalVersioningConfigurationException");
  if (status.text() == "Enabled") return store::Versioning::kEnabled;
  if (status.text() == "Suspended") return store::Versioning::kSuspended;
  return MalformedXml();
}

}  // namespace

Result<void> GetBucketConfiguration(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  for (const UnsetAnswer& answer : kUnset) {
    if (!call.exchange.target.Has(answer.selector)) continue;
    if (!answer.error_code.empty()) return MakeError(answer.error_code, {{"BucketName", bucket->name.value}});
    call.RespondXml(Document(answer));
    return Ok();
  }
  return NotImplemented("The sub-resource of this request is not implemented");
}

Result<void> GetAcl(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  if (call.key().empty()) {
    RespondWithAcl(call, bucket->owner_id);
    return Ok();
  }
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version));
  AddVersionHeader(call, *bucket, *object);
  RespondWithAcl(call, object->owner_id);
  return Ok();
}

Result<void> PutAcl(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  return MakeError("AccessControlListNotSupported");
}

Result<void> GetObjectLockState(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_TRY(OpenObject(call, version));
  return InvalidRequest("Bucket is missing Object Lock Configuration");
}

Result<void> GetBucketVersioning(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  XmlWriter xml;
  if (bucket->versioning == store::Versioning::kNever) {
    xml.Empty("VersioningConfiguration", kXmlNamespace);
  } else {
    xml.Open("VersioningConfiguration", kXmlNamespace);
    xml.Element("Status", bucket->versioning == store::Versioning::kEnabled ? "Enabled" : "Suspended");
    xml.Close("VersioningConfiguration");
  }
  call.RespondXml(xml.Take());
  return Ok();
}

Result<void> PutBucketVersioning(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.require_checksum = true}));
  PENSTOCK_ASSIGN(const store::Versioning versioning, ParseVersioning(text));
  return call.store.SetVersioning(bucket->name, versioning);
}

}  // namespace penstock::emulator::api
