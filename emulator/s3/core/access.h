// Who may do what: the one place that decides.
//
// Today the account that owns a bucket may do everything in it and everybody else nothing: ACLs and
// bucket policies are kept (sub_resources.h) but not evaluated. A directory bucket's session is
// good for that bucket alone. Evaluation belongs here, and nowhere else. Signatures are auth's.
#ifndef PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_
#define PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_

#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// May `who` do anything in `bucket`? 403 AccessDenied "Access Denied": what S3 tells other accounts
// and the unsigned.
Result<void> Authorize(const Identity& who, const store::BucketRecord& bucket);

// For operations that concern an account rather than a bucket (ListBuckets, CreateBucket): 403
// AccessDenied unsigned.
Result<void> RequireAccount(const Identity& who);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ACCESS_H_
