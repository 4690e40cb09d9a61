// Block Public Access: what a bucket's four flags refuse (spec/protocol.md §2.1 "New defaults",
// §2.17 "Policy").
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_PUBLIC_ACCESS_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_PUBLIC_ACCESS_H_

#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// All true unless they were set; all false once the configuration was deleted.
struct PublicAccessBlock {
  bool block_acls = true;
  bool ignore_acls = true;
  bool block_policy = true;
  bool restrict_buckets = true;
};
PublicAccessBlock PublicAccessBlockOf(const store::BucketRecord& bucket);

// AccessDenied where BlockPublicAcls meets a public ACL.
Result<void> RefuseBlockedAcl(const store::BucketRecord& bucket, const Element& acl);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_PUBLIC_ACCESS_H_
