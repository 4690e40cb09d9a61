// Cross-origin resource sharing: evaluates a bucket's CORS rules for a request.
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_CORS_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_CORS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/document_schema.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct CorsQuestion {
  std::string_view origin;
  std::string_view method;
  std::vector<std::string_view> headers;  // Access-Control-Request-Headers.
};

// Returns the first rule that allows origin, method and all headers, or null.
const Element* FindCorsRule(const Element& configuration, const CorsQuestion& question);

using CorsHeaders = std::vector<std::pair<std::string, std::string>>;
CorsHeaders CorsHeadersOf(const Element& rule, const CorsQuestion& question);

// Adds the CORS headers to the response, including error responses, if the request has an Origin
// and a rule allows it.
void AddCorsHeaders(Call& call);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_CORS_H_
