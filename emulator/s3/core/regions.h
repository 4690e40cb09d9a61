// The region that a request was sent to, and whether its bucket is in that region.
//
// One emulator serves every region. A host name with a region is the endpoint of that region. Any
// other host (an IP address, "localhost", "s3.amazonaws.com") is the endpoint of the home region.
// That endpoint also serves buckets of another region if the request is signed for that region, as
// clients do after a redirect.
#ifndef PENSTOCK_EMULATOR_S3_CORE_REGIONS_H_
#define PENSTOCK_EMULATOR_S3_CORE_REGIONS_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Returns the region that the signature of this request must name. `scope`: the region that it
// names. Reads `target` and `space` of the exchange.
std::string ExpectedSigningRegion(const Exchange& exchange, std::string_view scope,
                                  std::string_view home);

// Returns the region of the endpoint that received this request. Requires that authentication has
// set signing_region.
std::string_view EndpointRegion(const Exchange& exchange, std::string_view home);

// Returns an error if the bucket is in another region: 301 PermanentRedirect with Endpoint and
// Bucket. For a global virtual-hosted name it is the 400 for a wrong signing region, with Region.
// The error's `region` is set, so that RespondWithError adds x-amz-bucket-region.
Result<void> CheckRegion(const Exchange& exchange, const store::BucketRecord& bucket,
                         std::string_view home);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_REGIONS_H_
