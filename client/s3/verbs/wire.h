// An operation's request and response between the pure functions of verbs/ and the attempt loop:
// before endpoint, signature and retry headers are added, and after the transport.
#ifndef PENSTOCK_CLIENT_S3_VERBS_WIRE_H_
#define PENSTOCK_CLIENT_S3_VERBS_WIRE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/http/transport.h"
#include "client/s3/model/operations.h"
#include "penstock/credentials.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

struct WireRequest {
  Operation operation = Operation::kListBuckets;
  std::string bucket;  // Empty: the service.
  // Not percent-encoded. Empty: the bucket.
  std::string key;
  std::vector<std::pair<std::string, std::string>> query;  // Not encoded, in wire order.
  // Without Host, signature and SDK headers.
  std::vector<http::Header> headers;
  std::string document;  // XML to send; empty: none.
  // Bytes to send; null: none. Not owned.
  BodySource* source = nullptr;
  // The headers contain an SSE-C key, which must not be sent without TLS.
  bool carries_customer_key = false;
  // The name for errors, if the operation is one of several. Empty: that of the table. Static.
  std::string_view operation_name;

  // Returns the value of the header with exactly this name, or null.
  const std::string* FindHeader(std::string_view name) const {
    for (const http::Header& header : headers) {
      if (header.name == name) return &header.value;
    }
    return nullptr;
  }
};

// Secrets of a request as sent, which a server may repeat in its texts. Not owned.
struct RequestSecrets {
  const Credentials* credentials = nullptr;  // Null: unsigned.
  std::string_view signature;                // Empty: unsigned.
  std::string_view customer_key;             // SSE-C keys, as sent. Empty: none.
  std::string_view source_customer_key;
};

// Ends the text of a failure that such an attempt may have caused.
inline constexpr std::string_view kUnclearAttemptNote =
    " (an earlier attempt of this call got no clear answer and may have been carried out)";

// A success. `body` is the document; empty if the body went to a sink.
struct WireResponse {
  http::ResponseHead head;
  std::string body;
  RequestSecrets secrets = {};
  // An earlier attempt of the call got no clear answer and may have been carried out.
  bool after_unclear_attempt = false;
};

// The part of the configuration that BuildRequest functions use.
struct BuildContext {
  std::string region;  // The client's, for CreateBucket's LocationConstraint.
  bool requester_pays = false;
  bool upload_checksums = true;  // CRC64NVME on uploads.
  bool verify_downloads = true;  // Request and verify checksums of whole objects.
  // Another program sends the request: it has no body and no sink here.
  bool presigned = false;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_WIRE_H_
