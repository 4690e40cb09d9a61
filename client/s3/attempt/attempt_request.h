// Builds the HTTP request of one attempt, before signing, from the operation's request and an
// endpoint.
#ifndef PENSTOCK_CLIENT_S3_ATTEMPT_ATTEMPT_REQUEST_H_
#define PENSTOCK_CLIENT_S3_ATTEMPT_ATTEMPT_REQUEST_H_

#include <memory>
#include <string>
#include <string_view>

#include "client/http/transport.h"
#include "client/s3/endpoint/endpoint.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

struct AttemptFacts {
  std::string_view invocation_id;  // The same for all attempts of a call.
  int attempt = 1;
  std::string_view user_agent;
};

// Returns path and query, percent-encoded: "/prefix/bucket/key?list-type=2".
std::string MakeTarget(const WireRequest& request, const ResolvedEndpoint& endpoint);

// Returns kInvalidArgument if the request has an SSE-C key and would be sent without TLS to another
// machine: the endpoint's or a proxy's. S3 itself rejects such requests, after it has received the
// key. `connect` as in http::Request.
Result<void> CheckMayCarryKey(const WireRequest& request, const http::Endpoint& endpoint,
                              const std::shared_ptr<const http::ConnectSettings>& connect);

http::Request MakeAttempt(const WireRequest& request, const ResolvedEndpoint& endpoint,
                          const ClientConfig& config, const AttemptFacts& facts);

// Returns "<prefix> penstock/<version> ua/2.1 os/linux lang/c++".
std::string MakeUserAgent(std::string_view prefix);

// Adapts the caller's source to the transport.
class SourceBody final : public http::RequestBody {
 public:
  explicit SourceBody(BodySource& source) : source_(source) {}
  std::uint64_t size() const override { return source_.size(); }
  void Rewind() override { source_.Rewind(); }
  ByteView Next(std::size_t limit) override { return source_.Next(limit); }

 private:
  BodySource& source_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ATTEMPT_ATTEMPT_REQUEST_H_
