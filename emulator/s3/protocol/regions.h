// Which region a request was sent to and whether its bucket lives there (spec/protocol.md §2.16).
//
// One emulator answers for every region. A host name that names a region stands for that region's
// endpoint; any other (an address, "localhost", "s3.amazonaws.com") is the home region's endpoint,
// and also reaches a bucket of another region for whoever signs for that region, as a client does
// after its redirect.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_REGIONS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_REGIONS_H_

#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// The region that a signature on this request must name; `scope` is the one it does. Reads target
// and space.
std::string ExpectedSigningRegion(const Exchange& exchange, std::string_view scope,
                                  std::string_view home);

// The region whose endpoint received this request, once auth set signing_region.
std::string_view EndpointRegion(const Exchange& exchange, std::string_view home);

// The redirect for a bucket of another region: 301 PermanentRedirect + Endpoint, Bucket; where the
// host name is a global virtual-hosted one, the 400 of a signature for the wrong region + Region.
// `region` is set: RespondWithError adds x-amz-bucket-region.
Result<void> CheckRegion(const Exchange& exchange, const store::BucketRecord& bucket,
                         std::string_view home);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_REGIONS_H_
