// Access control lists: parsed from a request (canned ACL, grant headers or document), stored as a
// document, and returned.
//
// s3/authorization evaluates them.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_ACL_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_ACL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// The canonical id of the owner of objects that unsigned requests create.
inline constexpr std::string_view kAnonymousOwner = "65a011a29cdf8ec533ec3d1ccaae921c";
inline constexpr std::string_view kBucketOwnerEnforced = "BucketOwnerEnforced";
inline constexpr std::string_view kOwnershipKey = "ownershipControls";
inline constexpr std::string_view kAclKey = "acl";  // In a bucket's configuration.
inline constexpr std::string_view kObjectAclAttribute = ":acl";
inline constexpr std::string_view kAllUsers = "http://acs.amazonaws.com/groups/global/AllUsers";
inline constexpr std::string_view kAuthenticatedUsers =
    "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";

// Returns the bucket's ObjectOwnership: BucketOwnerEnforced by default, ObjectWriter if the
// ownership controls were deleted.
std::string_view OwnershipOf(const store::BucketRecord& bucket);

// Returns InvalidBucketAclWithObjectOwnership if the bucket's ACL grants anything to anyone but the
// owner.
Result<void> RequirePrivateAcl(const store::BucketRecord& bucket);

enum class AclResource : std::uint8_t { kBucket, kObject };

struct AclOwners {
  std::string_view resource_owner;
  std::string_view bucket_owner;  // Canned ACLs of objects can grant to this account.
};

// Returns the canonical id of the owner of a new object in the bucket: the bucket's owner unless
// its ACLs are in effect and the request leaves the object to its writer.
std::string OwnerOfNewObject(const Call& call, const store::BucketRecord& bucket);
// Returns the stored ACL of an object; empty: private.
std::string_view StoredObjectAcl(const store::ObjectRecord& object);

// True if the request has x-amz-acl or any x-amz-grant-* header.
bool HasAclHeaders(const Call& call);
// Returns the ACL in the headers; private if there is none.
Result<Element> ReadAclHeaders(const Call& call, AclResource resource, const AclOwners& owners);
// Returns the stored form of the ACL for a new object from the request's headers; empty for a
// private ACL. Under BucketOwnerEnforced, returns AccessControlListNotSupported, except for ACLs
// that change nothing.
Result<std::string> AclOfNewObject(const Call& call, const store::BucketRecord& bucket);
// Adds the ACL to the object's attributes if it is not empty.
void StoreAcl(std::string acl, store::Attributes& attributes);
// Parses an AccessControlPolicy document. Returns MalformedACLError if it is not one.
Result<Element> ReadAclDocument(std::string_view text, const AclOwners& owners);

// True if a group (everyone, or all AWS accounts) is granted anything.
bool IsPublicAcl(const Element& acl);
bool IsPrivateAcl(const Element& acl);

// Returns the stored form of an ACL, without prolog. An empty text stands for a private ACL.
std::string StoredAcl(const Element& acl);
std::string AclDocument(std::string_view stored, std::string_view owner_id);

// Block Public Access (Amazon S3 User Guide, "Blocking public access to your Amazon S3 storage"):
// the four flags of a bucket. All true by default; all false if the configuration was deleted.
struct PublicAccessBlock {
  bool block_acls = true;
  bool ignore_acls = true;
  bool block_policy = true;
  bool restrict_buckets = true;
};
PublicAccessBlock PublicAccessBlockOf(const store::BucketRecord& bucket);

// Returns AccessDenied for a public ACL if BlockPublicAcls is set.
Result<void> RefuseBlockedAcl(const store::BucketRecord& bucket, const Element& acl);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_ACL_H_
