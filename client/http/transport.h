// The client's one seam to the network: send a request, stream the response.
//
// Knows HTTP, not S3: no signing, no retry, no meaning of a status. Implementations: the curl_multi
// transport, the scripted fake for tests.
#ifndef PENSTOCK_CLIENT_HTTP_TRANSPORT_H_
#define PENSTOCK_CLIENT_HTTP_TRANSPORT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/http/direct/peer_address.h"
#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::http {

struct Header {
  std::string name;
  std::string value;
};

namespace internal {
bool SameIgnoringCase(const char* a, const char* b, std::size_t size);
}

// Header names are compared so (ASCII only). Most differ in length, which costs no call.
inline bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && internal::SameIgnoringCase(a.data(), b.data(), a.size());
}
// Whether `text` begins with `prefix`, compared in the same way.
inline bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && EqualsIgnoringCase(text.substr(0, prefix.size()), prefix);
}
// Value of the first header of that name, or nullopt. The view lives as long as the header.
std::optional<std::string_view> FindHeader(const std::vector<Header>& headers,
                                           std::string_view name);

// Where a request goes. The pool is keyed by it.
struct Endpoint {
  std::string scheme = "https";  // "http" or "https"
  std::string host;              // name or IP literal (IPv6 without brackets)
  int port = 443;
};

// How a request is carried.
enum class DataPlane {
  kDefault,  // as the transport is set up
  kDirect,   // our own code writes and receives, without a copy, on connections that libcurl made
  // all is libcurl's: for servers that only it copes with. Chosen by itself where a proxy wants it
  // so.
  kCurl,
};

struct Request {
  std::string method;  // "GET", ...
  Endpoint endpoint;
  std::string target;  // path and query exactly as they go on the wire
  // sent in this order; Host included; Content-Length is the transport's
  std::vector<Header> headers;
  std::string ca_bundle_path;  // empty: the system's
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{30'000};
  DataPlane plane = DataPlane::kDefault;
};

struct ResponseHead {
  int status = 0;
  std::vector<Header> headers;  // arrival order
  // First header of that name (case-insensitive), or nullopt. The view lives as long as the head.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// What the first Content-Length header says; nullopt when there is none or it is no number.
std::optional<std::uint64_t> ContentLength(const ResponseHead& head);

// Bytes to send with the request. `size()` becomes Content-Length. The transport calls Rewind
// before the first byte of every sending.
class RequestBody {
 public:
  virtual ~RequestBody() = default;
  virtual std::uint64_t size() const = 0;
  virtual void Rewind() = 0;
  virtual ByteView Next(std::size_t limit) = 0;  // empty: the end
};

// What a request goes out on.
struct ConnectionUse {
  DataPlane plane = DataPlane::kDefault;  // kDirect or kCurl
  bool reused = false;                    // had carried a request before
  PeerAddress address = {};               // the other end: the service, or a proxy
};

// Takes the response apart: head once, then (Window, Commit) pairs. Called from one I/O thread. An
// error aborts the transfer and becomes its result; so does an exception that leaves a member of
// this or of RequestBody.
class ResponseBody {
 public:
  virtual ~ResponseBody() = default;
  // The request has a connection. Once per connection: one that a kept one failed goes out on
  // another. Not called when none was made; may come as late as the end.
  virtual void OnConnection(const ConnectionUse&) {}
  virtual Result<void> Begin(const ResponseHead& head) = 0;
  virtual MutableByteView Window() = 0;
  virtual Result<void> Commit(std::size_t count) = 0;
};

struct Outcome {
  ResponseHead head;
  std::uint64_t body_bytes = 0;
  std::uint64_t sent_bytes = 0;
  std::chrono::nanoseconds first_byte{};  // from start to the first byte of the head
  bool connection_reused = false;
};

// Runs exactly once: on an I/O thread, or before Start returns where no thread can take the
// request. An exception that leaves it is logged and goes no further. The error kinds: kUnavailable
// (refused, reset, DNS, body cut short), kTimeout, kCancelled, kDataLoss (more bytes than the
// ResponseBody has room for), kUnauthenticated (TLS verification), kInvalidArgument (a request that
// cannot be sent as it is), kResourceExhausted, or the body's own error.
using Completion = std::function<void(Result<Outcome>)>;

struct CallContext {
  Deadline deadline = Deadline::Never();
  std::stop_token cancel;
};

// Thread safety: safe from any thread. `request_body` may be null (no body); both bodies outlive
// the completion.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void Start(Request request, RequestBody* request_body, ResponseBody* response_body,
                     CallContext context, Completion done) = 0;
  // Runs `task` exactly once on an I/O thread, no earlier than `when`: back-off without a sleeping
  // thread. A transport that stops runs it early. An error: `task` will not run; kCancelled because
  // the transport has stopped, kResourceExhausted because no thread can be started.
  [[nodiscard]] virtual Result<void> RunAt(MonotonicTime when, std::function<void()> task) = 0;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_TRANSPORT_H_
