// The innermost handler: implements S3's operations on a Store.
#ifndef PENSTOCK_EMULATOR_S3_CORE_ROUTER_H_
#define PENSTOCK_EMULATOR_S3_CORE_ROUTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/exchange.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {

struct RouterOptions {
  std::string region = "us-east-1";
  std::uint64_t min_part_size_bytes = 5ull << 20;      // Tests lower it.
  std::size_t max_buckets_per_account = 10'000;        // AWS's default since November 2024.
  std::size_t max_directory_buckets_per_region = 100;  // Per account.
  // Limit for the appends to an object and for the parts of an upload. Tests lower it.
  int max_object_parts = 10'000;
  BucketNames bucket_names = BucketNames::kOfS3;
};

std::unique_ptr<Handler> MakeRouter(RouterOptions options);

// Returns the operation that a request addresses ("PutObject", "UploadPartCopy", ...), from method,
// target and headers alone. Empty if S3 has no such operation. Authentication, faults and the
// journal use these names.
std::string OperationName(const RequestHead& request, const Target& target);

// Finds the operation that the exchange addresses: sets its name and its row.
void SetOperation(Exchange& exchange);

// All names that OperationName can return, sorted.
const std::vector<std::string_view>& OperationNames();

// Replaces the response with S3's error response for `error`: status, headers and XML document.
// HEAD has no document.
void RespondWithError(Exchange& exchange, const Error& error);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ROUTER_H_
