// S3's redirects to another endpoint ("Request redirection and the REST API", Amazon S3
// documentation).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_REDIRECT_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_REDIRECT_H_

#include <optional>
#include <string>
#include <string_view>

#include "client/http/transport.h"
#include "client/s3/endpoint/endpoint.h"
#include "client/s3/model/operations.h"
#include "penstock/base/error.h"

namespace penstock::s3 {

// Exactly one member is set.
struct Redirect {
  std::string region;                        // Resolve and sign for this region.
  std::optional<ResolvedEndpoint> endpoint;  // A temporary host, for this call only.
};

// Returns the redirect of an error response, or nullopt if there is none or it must not be
// followed. A Location is followed only to a host below the requested one (or its AWS partition)
// with the same scheme, because it receives a signed request. CreateBucket never follows to another
// region, because it would create the bucket there.
std::optional<Redirect> ReadRedirect(const OperationInfo& info, const Error& error,
                                     const http::ResponseHead& head, const ResolvedEndpoint& asked,
                                     std::string_view bucket);

// Returns whether the response says or may mean that the bucket is in another region. A HEAD's 400
// has no code.
bool SpeaksOfAnotherRegion(const OperationInfo& info, const Error& error);

// Adds to the error of a redirect that was not followed: the status, the responding host and the
// fix. `redirected`: this call had already followed one. A HEAD's 400 then becomes kWrongRegion.
void ExplainRedirect(const OperationInfo& info, const http::ResponseHead& head,
                     const ResolvedEndpoint& asked, bool redirected, Error& error);

// If CreateBucket was sent to the wrong region, sets a message with both regions and the fix.
// Leaves other errors unchanged.
void ExplainRegionOfNewBucket(const OperationInfo& info, const ResolvedEndpoint& asked,
                              Error& error);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_REDIRECT_H_
