// Headers in the query of a presigned request.
#ifndef PENSTOCK_EMULATOR_S3_DISPATCH_QUERY_HEADERS_H_
#define PENSTOCK_EMULATOR_S3_DISPATCH_QUERY_HEADERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/message/request.h"
#include "emulator/s3/protocol/target.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct QueryHeader {
  std::string name;
  std::string value;
};

// Returns the headers in the query that the request does not have as headers:
// - x-amz-*, as IsHeaderInQuery (strict.h) says.
// - Conditions, Range and content headers in any case (boto3 #4367, localstack #12624). Signature
//   Version 2 covers only Content-Type and Content-MD5, so others have no effect there.
// The values are as a client would send them in a header: user metadata encoded (RFC 2047), other
// text in ISO-8859-1. Returns InvalidArgument for a value with control characters.
Result<std::vector<QueryHeader>> HeadersInQuery(const message::RequestHead& request,
                                                const Target& target);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DISPATCH_QUERY_HEADERS_H_
