// What the answers of writes have in common.
#ifndef PENSTOCK_EMULATOR_S3_CORE_WRITES_H_
#define PENSTOCK_EMULATOR_S3_CORE_WRITES_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"

namespace penstock::emulator::s3 {

// x-amz-version-id of a write: only where versioning is enabled (spec §2.7 "Suspended").
void AddNewVersionHeader(Call& call, const store::PutOutcome& outcome);
// x-amz-checksum-<alg>, for the algorithm's upper-case name.
void AddChecksumHeader(Call& call, std::string_view algorithm, std::string_view value);

// x-amz-copy-source on an operation that copies nothing is refused (spec §2.5). Only worth asking
// when the request carries it.
Result<void> RefuseCopySource(const Call& call, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_WRITES_H_
