// Helpers for the responses of write operations.
#ifndef PENSTOCK_EMULATOR_S3_CORE_WRITES_H_
#define PENSTOCK_EMULATOR_S3_CORE_WRITES_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/call.h"

namespace penstock::emulator::s3 {

// Adds x-amz-version-id if versioning is enabled. S3 omits it when versioning is suspended.
void AddNewVersionHeader(Call& call, const store::PutOutcome& outcome);
// Adds x-amz-checksum-<algorithm>. `algorithm`: the upper-case name.
void AddChecksumHeader(Call& call, std::string_view algorithm, std::string_view value);

// Returns the URL of the addressed object at the request's host and in the style of the request:
// "https://bucket.s3.amazonaws.com/a%2Fb" or "http://127.0.0.1:9000/bucket/a%2Fb". S3 escapes the
// slashes of the key (github.com/aws/aws-sdk-js/issues/811 and 1158).
std::string ObjectUrl(const Call& call);

// Refuses x-amz-copy-source on operations that do not copy. Call it only if the request has the
// header.
Result<void> RefuseCopySource(const Call& call, std::string_view operation);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_WRITES_H_
