#include "emulator/s3/access/acl.h"

#include <algorithm>
#include <array>
#include <optional>

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxGrants = 100;
constexpr std::string_view kBucketOwnerPreferred = "BucketOwnerPreferred";
constexpr std::string_view kOwnerControl = "bucket-owner-full-control";
constexpr std::string_view kLogDelivery = "http://acs.amazonaws.com/groups/s3/LogDelivery";
constexpr std::string_view kXsi =
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"";

struct GrantHeader {
  std::string_view name;
  std::string_view permission;
};
constexpr GrantHeader kGrantHeaders[] = {{"x-amz-grant-full-control", "FULL_CONTROL"},
                                         {"x-amz-grant-read", "READ"},
                                         {"x-amz-grant-read-acp", "READ_ACP"},
                                         {"x-amz-grant-write", "WRITE"},
                                         {"x-amz-grant-write-acp", "WRITE_ACP"}};

// What a canned ACL grants in addition to the owner's FULL_CONTROL.
struct CannedGrant {
  std::string_view canned;
  std::string_view group;  // Empty: the bucket's owner.
  std::string_view permission;
};
constexpr CannedGrant kCannedGrants[] = {{"public-read", kAllUsers, "READ"},
                                         {"public-read-write", kAllUsers, "READ"},
                                         {"public-read-write", kAllUsers, "WRITE"},
                                         {"authenticated-read", kAuthenticatedUsers, "READ"},
                                         {"log-delivery-write", kLogDelivery, "WRITE"},
                                         {"log-delivery-write", kLogDelivery, "READ_ACP"},
                                         {"bucket-owner-read", "", "READ"},
                                         {"bucket-owner-full-control", "", "FULL_CONTROL"}};

Element Leaf(std::string_view name, std::string_view text) {
  Element element;
  element.name = name;
  element.text = text;
  return element;
}

Element Grant(std::string_view type, std::string_view id_element, std::string_view id,
              std::string_view permission) {
  Element grantee;
  grantee.name = "Grantee";
  grantee.attributes = std::string(kXsi) + std::string(type) + "\"";
  grantee.children = {Leaf(id_element, id)};
  Element grant;
  grant.name = "Grant";
  grant.children = {std::move(grantee), Leaf("Permission", permission)};
  return grant;
}

Element UserGrant(std::string_view id, std::string_view permission) {
  return Grant("CanonicalUser", "ID", id, permission);
}
Element GroupGrant(std::string_view uri, std::string_view permission) {
  return Grant("Group", "URI", uri, permission);
}

Element MakeAcl(std::string_view owner_id, std::vector<Element> grants) {
  Element owner;
  owner.name = "Owner";
  owner.children = {Leaf("ID", owner_id)};
  Element list;
  list.name = "AccessControlList";
  list.children = std::move(grants);
  Element acl;
  acl.name = "AccessControlPolicy";
  acl.children = {std::move(owner), std::move(list)};
  return acl;
}

bool IsCanonicalId(std::string_view id) {
  return id.size() == 64 && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool IsGroup(std::string_view uri) {
  return uri == kAllUsers || uri == kAuthenticatedUsers || uri == kLogDelivery;
}

// S3 has refused e-mail grantees with 405 since October 2025 (Amazon S3 User Guide, "Access control
// list (ACL) overview").
Error EmailGrantee(AclResource resource) {
  return MethodNotAllowed("PUT", resource == AclResource::kBucket ? "BUCKET" : "OBJECT");
}

Result<Element> ReadGrantee(AclResource resource, std::string_view text,
                            const GrantHeader& header) {
  const auto malformed = [&] {
    return InvalidArgument("Argument format not recognized", header.name, TrimBlanks(text));
  };
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return malformed();
  const std::string_view kind = TrimBlanks(text.substr(0, equals));
  std::string_view value = TrimBlanks(text.substr(equals + 1));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  if (EqualsIgnoreCase(kind, "id")) {
    if (!IsCanonicalId(value)) return InvalidArgument("Invalid id", "id", value);
    return UserGrant(value, header.permission);
  }
  if (EqualsIgnoreCase(kind, "uri")) {
    if (!IsGroup(value)) return InvalidArgument("Invalid group uri", "uri", value);
    return GroupGrant(value, header.permission);
  }
  if (EqualsIgnoreCase(kind, "emailAddress")) return EmailGrantee(resource);
  return malformed();
}

Result<std::vector<Element>> ReadGrantHeaders(const Call& call, AclResource resource) {
  std::vector<Element> grants;
  for (const GrantHeader& header : kGrantHeaders) {
    const auto value = call.Header(header.name);
    if (!value) continue;
    std::string_view rest = *value;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      PENSTOCK_ASSIGN(Element grant, ReadGrantee(resource, rest.substr(0, comma), header));
      grants.push_back(std::move(grant));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return grants;
}

Error MixedAcl() {
  return InvalidRequest("Specifying both Canned ACLs and Header Grants is not allowed");
}

bool HasGrantHeaders(const Call& call) {
  return std::any_of(
      std::begin(kGrantHeaders), std::end(kGrantHeaders),
      [&](const GrantHeader& header) { return call.Header(header.name).has_value(); });
}

// Those of objects are ignored for buckets, and the reverse (Amazon S3 User Guide, "Canned ACL").
bool IsCanned(std::string_view name) {
  return name == "private" || name == "aws-exec-read" ||
         std::any_of(std::begin(kCannedGrants), std::end(kCannedGrants),
                     [&](const CannedGrant& grant) { return grant.canned == name; });
}

Result<Element> CannedAcl(std::string_view canned, AclResource resource, const AclOwners& owners) {
  if (!IsCanned(canned)) {
    Error unknown = InvalidArgument("", "x-amz-acl", canned);
    unknown.message.clear();  // Recorded against Amazon S3: the Message is empty.
    return unknown;
  }
  std::vector<Element> grants = {UserGrant(owners.resource_owner, "FULL_CONTROL")};
  for (const CannedGrant& grant : kCannedGrants) {
    if (grant.canned != canned) continue;
    if (grant.group == kLogDelivery && resource == AclResource::kObject) continue;
    if (!grant.group.empty()) {
      grants.push_back(GroupGrant(grant.group, grant.permission));
    } else if (owners.bucket_owner != owners.resource_owner) {
      grants.push_back(UserGrant(owners.bucket_owner, grant.permission));
    }
  }
  return MakeAcl(owners.resource_owner, std::move(grants));
}

// Returns a grant in the form in which it will be returned: names and e-mail addresses are dropped.
Result<Element> ReadDocumentGrant(const Element& grant) {
  const Element& grantee = *grant.Find("Grantee");
  const std::string_view permission = grant.TextOf("Permission");
  if (grantee.attributes.ends_with("\"CanonicalUser\"")) {
    const std::string_view id = grantee.TextOf("ID");
    if (!IsCanonicalId(id)) return InvalidArgument("Invalid id", "CanonicalUser/ID", id);
    return UserGrant(id, permission);
  }
  if (grantee.attributes.ends_with("\"Group\"")) {
    const std::string_view uri = grantee.TextOf("URI");
    if (!IsGroup(uri)) return InvalidArgument("Invalid group uri", "Group/URI", uri);
    return GroupGrant(uri, permission);
  }
  return EmailGrantee(AclResource::kBucket);
}

}  // namespace

std::string_view OwnershipOf(const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, kOwnershipKey);
  if (document == nullptr) return kBucketOwnerEnforced;
  for (const std::string_view ownership : {kBucketOwnerEnforced, kBucketOwnerPreferred}) {
    if (document->find(ownership) != std::string::npos) return ownership;
  }
  return "ObjectWriter";
}

Result<void> RequirePrivateAcl(const store::BucketRecord& bucket) {
  const std::string* stored = FindConfiguration(bucket, kAclKey);
  if (stored == nullptr || stored->empty()) return Ok();
  PENSTOCK_ASSIGN(const Element acl, ReadBySchema(*stored, kAclSchema));
  if (IsPrivateAcl(acl)) return Ok();
  return MakeError("InvalidBucketAclWithObjectOwnership");
}

std::string OwnerOfNewObject(const Call& call, const store::BucketRecord& bucket) {
  const std::string_view ownership = OwnershipOf(bucket);
  const bool given = ownership == kBucketOwnerPreferred &&
                     call.Header("x-amz-acl") == std::optional<std::string_view>(kOwnerControl);
  if (ownership == kBucketOwnerEnforced || given) return bucket.owner_id;
  const std::string& requester = call.exchange.identity.owner_id;
  return requester.empty() ? std::string(kAnonymousOwner) : requester;
}

std::string_view StoredObjectAcl(const store::ObjectRecord& object) {
  for (const auto& [name, value] : object.attributes) {
    if (name == kObjectAclAttribute) return value;
  }
  return {};
}

bool HasAclHeaders(const Call& call) { return call.families.acl; }

Result<Element> ReadAclHeaders(const Call& call, AclResource resource, const AclOwners& owners) {
  const auto canned = call.Header("x-amz-acl");
  PENSTOCK_ASSIGN(std::vector<Element> grants, ReadGrantHeaders(call, resource));
  if (grants.empty()) return CannedAcl(canned.value_or("private"), resource, owners);
  if (canned) return MixedAcl();
  return MakeAcl(owners.resource_owner, std::move(grants));
}

Result<std::string> AclOfNewObject(const Call& call, const store::BucketRecord& bucket) {
  const auto canned = call.Header("x-amz-acl");
  if (canned && HasGrantHeaders(call)) return MixedAcl();
  const std::string owner_id = OwnerOfNewObject(call, bucket);
  // Recorded against Amazon S3: the arguments are checked first.
  PENSTOCK_ASSIGN(const Element acl,
                  ReadAclHeaders(call, AclResource::kObject, {owner_id, bucket.owner_id}));
  if (OwnershipOf(bucket) == kBucketOwnerEnforced) {
    if (canned && (*canned == "private" || *canned == "bucket-owner-full-control"))
      return std::string();
    return MakeError("AccessControlListNotSupported");
  }
  PENSTOCK_TRY(RefuseBlockedAcl(bucket, acl));
  return IsPrivateAcl(acl) ? std::string() : StoredAcl(acl);
}

void StoreAcl(std::string acl, store::Attributes& attributes) {
  if (!acl.empty()) attributes.emplace_back(kObjectAclAttribute, std::move(acl));
}

Result<Element> ReadAclDocument(std::string_view text, const AclOwners& owners) {
  auto document = ReadBySchema(text, kAclSchema);
  if (!document.ok()) return MakeError("MalformedACLError");
  const std::vector<Element>& sent = document->Find("AccessControlList")->children;
  if (sent.size() > kMaxGrants) return MakeError("MalformedACLError");
  const std::string_view owner = document->Find("Owner")->TextOf("ID");
  if (owner != owners.resource_owner)  // Recorded against Amazon S3.
    return InvalidArgument("Invalid id", "CanonicalUser/ID", owner);
  std::vector<Element> grants;
  for (const Element& grant : sent) {
    PENSTOCK_ASSIGN(Element read, ReadDocumentGrant(grant));
    grants.push_back(std::move(read));
  }
  return MakeAcl(owners.resource_owner, std::move(grants));
}

bool IsPublicAcl(const Element& acl) {
  const std::vector<Element>& grants = acl.Find("AccessControlList")->children;
  return std::any_of(grants.begin(), grants.end(), [](const Element& grant) {
    const std::string_view uri = grant.Find("Grantee")->TextOf("URI");
    return uri == kAllUsers || uri == kAuthenticatedUsers;
  });
}

bool IsPrivateAcl(const Element& acl) {
  const std::string_view owner = acl.Find("Owner")->TextOf("ID");
  const std::vector<Element>& grants = acl.Find("AccessControlList")->children;
  return std::all_of(grants.begin(), grants.end(), [&](const Element& grant) {
    return grant.Find("Grantee")->TextOf("ID") == owner;
  });
}

std::string StoredAcl(const Element& acl) { return WriteDocument(acl, Prolog::kNo); }

std::string AclDocument(std::string_view stored, std::string_view owner_id) {
  if (stored.empty())
    return WriteDocument(MakeAcl(owner_id, {UserGrant(owner_id, "FULL_CONTROL")}));
  return std::string(kXmlProlog) + std::string(stored);
}

PublicAccessBlock PublicAccessBlockOf(const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, "publicAccessBlock");
  if (document == nullptr) return {};
  const auto set = [&](std::string_view flag) {
    return document->find("<" + std::string(flag) + ">true<") != std::string::npos;
  };
  return {set("BlockPublicAcls"), set("IgnorePublicAcls"), set("BlockPublicPolicy"),
          set("RestrictPublicBuckets")};
}

Result<void> RefuseBlockedAcl(const store::BucketRecord& bucket, const Element& acl) {
  if (!IsPublicAcl(acl) || !PublicAccessBlockOf(bucket).block_acls) return Ok();
  return MakeError("AccessDenied");
}

}  // namespace penstock::emulator::s3
