// Finds the S3 operation that a request addresses: one constexpr table and the rules around it.
#ifndef PENSTOCK_EMULATOR_S3_DISPATCH_OPERATIONS_H_
#define PENSTOCK_EMULATOR_S3_DISPATCH_OPERATIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/operation.h"

namespace penstock::emulator::s3 {

struct Resolution {
  const Operation* operation = nullptr;
  // Set if there is no operation: S3's error.
  std::optional<Error> error;
  std::string allow;  // Value of the Allow header of a 405.
};

Resolution ResolveOperation(const RequestHead& request, const Target& target);

// Returns the operation that a request addresses ("PutObject", "UploadPartCopy", ...), from method,
// target and headers alone. Empty if S3 has no such operation. Authentication, faults and the
// journal use these names.
std::string OperationName(const RequestHead& request, const Target& target);

// Finds the operation that the exchange addresses: sets its name and its row.
void SetOperation(Exchange& exchange);

// All names that OperationName can return, and kStsOperations, sorted.
const std::vector<std::string_view>& OperationNames();

// The operations of STS on the port of S3 (emulator/identity/sts). The router has none of them.
inline constexpr std::string_view kStsOperations[] = {"AssumeRole", "AssumeRoleWithWebIdentity",
                                                      "GetCallerIdentity", "GetSessionToken"};

// True for a query parameter that selects an operation or that some operation reads.
bool IsKnownParameter(std::string_view name);
// Returns NotImplemented for a query parameter without a value that is not a known sub-resource.
// Other unknown query parameters are ignored, as in S3. RefuseUnknown checks x-amz-* parameters.
Result<void> RefuseUnknownSubResource(const Target& target, bool presigned);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DISPATCH_OPERATIONS_H_
