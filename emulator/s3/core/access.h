// Authorization of requests.
//
// The account that owns a bucket may do everything in it, other accounts nothing. The emulator
// stores ACLs and bucket policies (sub_resources.h) but does not evaluate them. A directory bucket
// session is valid for that bucket only. Signatures are verified in emulator/auth.
#ifndef PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_
#define PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_

#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Returns 403 AccessDenied if `who` may not use `bucket`: another account, an unsigned request, or
// a session for another bucket.
Result<void> Authorize(const Identity& who, const store::BucketRecord& bucket);

// For operations on an account (ListBuckets, CreateBucket): returns 403 AccessDenied for unsigned
// requests.
Result<void> RequireAccount(const Identity& who);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_
