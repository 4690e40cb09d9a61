// The innermost Handler: S3's verbs over a Store.
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
  std::uint64_t min_part_size_bytes = 5ull << 20;      // lowered by tests only
  std::size_t max_buckets_per_account = 10'000;        // AWS's default since November 2024
  std::size_t max_directory_buckets_per_region = 100;  // of an account
  // appends to an object and parts of an upload; lowered by tests only
  int max_object_parts = 10'000;
  BucketNames bucket_names = BucketNames::kOfS3;
};

std::unique_ptr<Handler> MakeRouter(RouterOptions options);

// The operation a request addresses ("PutObject", "UploadPartCopy", ...), from method, target and
// headers alone; empty when it is none of S3's. Auth, faults and the journal name operations with
// it.
std::string OperationName(const RequestHead& request, const Target& target);

// Every name that OperationName may give, sorted.
const std::vector<std::string_view>& OperationNames();

// Replaces the response by S3's error document for `error` (status, headers, XML elements, no body
// for HEAD).
void RespondWithError(Exchange& exchange, const Error& error);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ROUTER_H_
