// Where S3 says a request belongs instead (spec/protocol.md §2.16).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_REDIRECT_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_REDIRECT_H_

#include <optional>
#include <string>
#include <string_view>

#include "client/http/transport.h"
#include "client/s3/endpoint/endpoint.h"
#include "client/s3/operations.h"
#include "penstock/base/error.h"

namespace penstock::s3 {

// Exactly one is set.
struct Redirect {
  std::string region;                        // resolve and sign for it
  std::optional<ResolvedEndpoint> endpoint;  // a temporary host, this call only
};

// The redirect in a refusal, or nullopt when there is none or it may not be followed: a Location is
// followed only to a host below the one that was asked (or its AWS partition) with the same scheme,
// since it would get a signed request. CreateBucket never follows to another region: the bucket
// would be made where nobody asked for it.
std::optional<Redirect> ReadRedirect(const OperationInfo& info, const Error& error,
                                     const http::ResponseHead& head, const ResolvedEndpoint& asked,
                                     std::string_view bucket);

// The answer says that the bucket is elsewhere, or may be meant to: a HEAD's 400 has no code.
bool SpeaksOfAnotherRegion(const OperationInfo& info, const Error& error);

// Where a redirect was not followed: says what was answered and from where, and what to do.
// `redirected`: this call had followed one. A HEAD's 400 in that place becomes kWrongRegion.
void ExplainRedirect(const OperationInfo& info, const http::ResponseHead& head,
                     const ResolvedEndpoint& asked, bool redirected, Error& error);

// Where CreateBucket met the wrong region: a message that names both and the fix. Leaves every
// other error as it is.
void ExplainRegionOfNewBucket(const OperationInfo& info, const ResolvedEndpoint& asked,
                              Error& error);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_REDIRECT_H_
