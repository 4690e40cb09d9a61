// A verb's request and answer between the pure functions of verbs/ and the dispatcher: before
// endpoint, signature and retry headers, and after the transport.
#ifndef PENSTOCK_CLIENT_S3_WIRE_H_
#define PENSTOCK_CLIENT_S3_WIRE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/http/transport.h"
#include "client/s3/operations.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

struct WireRequest {
  Operation operation = Operation::kListBuckets;
  std::string bucket;  // empty: the service
  // raw, not percent-encoded; empty: the bucket
  std::string key;
  std::vector<std::pair<std::string, std::string>> query;  // raw names and values, in wire order
  // without Host, signature and SDK headers
  std::vector<http::Header> headers;
  std::string document;  // XML to send; empty: none
  // bytes to send; null: none. Not owned.
  BodySource* source = nullptr;

  // A header of that exact name was set.
  const std::string* FindHeader(std::string_view name) const {
    for (const http::Header& header : headers) {
      if (header.name == name) return &header.value;
    }
    return nullptr;
  }
};

// A success. `body` holds the document; empty where the body went to a sink.
struct WireResponse {
  http::ResponseHead head;
  std::string body;
};

// What every BuildRequest may need from the configuration.
struct BuildContext {
  std::string region;  // the client's, for CreateBucket's LocationConstraint
  bool requester_pays = false;
  bool upload_checksums = true;  // CRC64NVME on uploads
  bool verify_downloads = true;  // ask for and verify checksums of whole objects
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_WIRE_H_
