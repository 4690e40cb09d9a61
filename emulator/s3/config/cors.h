// Cross-origin requests: what a bucket's kept rules say to a browser (spec/protocol.md §2.17
// "CORS").
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
  std::vector<std::string_view> headers;  // Access-Control-Request-Headers
};

// The first rule that allows all of it; null when none does.
const Element* FindCorsRule(const Element& configuration, const CorsQuestion& question);

using CorsHeaders = std::vector<std::pair<std::string, std::string>>;
CorsHeaders CorsHeadersOf(const Element& rule, const CorsQuestion& question);

// Adds the headers to the answer (also of a refusal) for a request that carries an Origin, where a
// rule allows it.
void AddCorsHeaders(Call& call);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_CORS_H_
