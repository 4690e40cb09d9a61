// ClientConfig::customer_key: the SSE-C key of requests that name none.
#ifndef PENSTOCK_CLIENT_S3_CUSTOMER_KEY_H_
#define PENSTOCK_CLIENT_S3_CUSTOMER_KEY_H_

#include <variant>

#include "client/s3/verbs/request_start.h"
#include "penstock/base/result.h"
#include "penstock/object_attributes.h"

namespace penstock::s3 {

// Sets the members of `request` that take an SSE-C key and are empty. Returns kInvalidArgument for
// a new object with another encryption: the client could not read it.
template <class Request>
Result<void> AddCustomerKey(const CustomerKey& key, Request& request) {
  if (key.empty()) return Ok();
  if constexpr (requires { request.attributes.encryption; }) {
    Encryption& encryption = request.attributes.encryption;
    if (std::holds_alternative<std::monostate>(encryption)) {
      encryption = key;
    } else if (!std::holds_alternative<CustomerKey>(encryption)) {
      return InvalidRequest(
          "this client has a customer_key, so it encrypts with SSE-C only; use a client without "
          "one for another encryption");
    }
  }
  if constexpr (requires { request.customer_key; }) {
    if (request.customer_key.empty()) request.customer_key = key;
  }
  if constexpr (requires { request.source_customer_key; }) {
    if (request.source_customer_key.empty()) request.source_customer_key = key;
  }
  return Ok();
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CUSTOMER_KEY_H_
