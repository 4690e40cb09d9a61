// Block Public Access: the four flags of a bucket (Amazon S3 User Guide, "Blocking public access to
// your Amazon S3 storage").
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_PUBLIC_ACCESS_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_PUBLIC_ACCESS_H_

#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// All true by default; all false if the configuration was deleted.
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

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_PUBLIC_ACCESS_H_
