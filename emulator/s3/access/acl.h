// Access control lists: read from a request (canned, grant headers, document), kept as a document,
// given back.
//
// They decide nothing yet: access.h does, and asks only for the owner (spec/protocol.md §2.17
// "ACL").
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

inline constexpr std::string_view kBucketOwnerEnforced = "BucketOwnerEnforced";
inline constexpr std::string_view kOwnershipKey = "ownershipControls";
inline constexpr std::string_view kAclKey = "acl";  // in a bucket's configuration
inline constexpr std::string_view kObjectAclAttribute = ":acl";

// The bucket's ObjectOwnership. BucketOwnerEnforced unless it was set; ObjectWriter once its
// controls were deleted.
std::string_view OwnershipOf(const store::BucketRecord& bucket);

// InvalidBucketAclWithObjectOwnership when the bucket's ACL grants anything to anybody but its
// owner.
Result<void> RequirePrivateAcl(const store::BucketRecord& bucket);

enum class AclResource : std::uint8_t { kBucket, kObject };

struct AclOwners {
  std::string_view resource_owner;
  std::string_view bucket_owner;  // who canned ACLs of objects may name
};

// x-amz-acl or any x-amz-grant-* is there.
bool HasAclHeaders(const Call& call);
// The ACL the headers ask for; the owner's alone when there are none.
Result<Element> ReadAclHeaders(const Call& call, AclResource resource, const AclOwners& owners);
// The ACL a new object gets from its request's headers, as it is kept; empty: the owner's alone.
// Under BucketOwnerEnforced AccessControlListNotSupported, but for those that change nothing (spec
// §2.5).
Result<std::string> AclOfNewObject(const Call& call, const store::BucketRecord& bucket);
// Puts it with the object's attributes, where it is not empty.
void StoreAcl(std::string acl, store::Attributes& attributes);
// An AccessControlPolicy document. MalformedACLError when it is not one.
Result<Element> ReadAclDocument(std::string_view text, const AclOwners& owners);

// True when a group (everybody, or every AWS account) is granted anything.
bool IsPublicAcl(const Element& acl);
bool IsPrivateAcl(const Element& acl);

// How an ACL is kept: without prolog. Empty text is the owner's alone.
std::string StoredAcl(const Element& acl);
std::string AclDocument(std::string_view stored, std::string_view owner_id);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_ACL_H_
