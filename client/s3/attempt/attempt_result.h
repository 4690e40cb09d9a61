// Converts the end of an attempt to a success or a classified error.
#ifndef PENSTOCK_CLIENT_S3_ATTEMPT_ATTEMPT_RESULT_H_
#define PENSTOCK_CLIENT_S3_ATTEMPT_ATTEMPT_RESULT_H_

#include <functional>

#include "client/http/transport.h"
#include "client/s3/attempt/response_bodies.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

// What was sent.
struct AttemptRequestInfo {
  const OperationInfo& info;
  const WireRequest& wire;
  const http::RequestBody* body;  // Null: none.
  const ClientConfig& config;
  RequestSecrets secrets;
  bool after_unclear_attempt = false;  // As in WireResponse.
};

// `received` holds head and text of the response. `accept` reads a success. Texts from the server
// are shortened in the error, and secrets in them are redacted.
Result<void> ReadAttempt(const AttemptRequestInfo& sent, AttemptBody& received,
                         Result<http::Outcome> outcome,
                         const std::function<Result<void>(const WireResponse&)>& accept);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ATTEMPT_ATTEMPT_RESULT_H_
