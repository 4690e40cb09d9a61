// The client's only interface to the network: sends a request and streams the response.
//
// Knows HTTP, not S3: no signing, no retries, no interpretation of statuses. Implementations: the
// transport of the process (reactor/http_transport.h), and the scripted fake for tests.
#ifndef PENSTOCK_CLIENT_HTTP_TRANSPORT_H_
#define PENSTOCK_CLIENT_HTTP_TRANSPORT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/http/peer_address.h"
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

// Compares header names (ASCII only). Most differ in length, which needs no call.
inline bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && internal::SameIgnoringCase(a.data(), b.data(), a.size());
}
// Returns whether `text` starts with `prefix`, compared in the same way.
inline bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && EqualsIgnoringCase(text.substr(0, prefix.size()), prefix);
}
// Returns the value of the first header with that name, or nullopt. The view is valid as long as
// the header.
std::optional<std::string_view> FindHeader(const std::vector<Header>& headers,
                                           std::string_view name);

// The destination of a request, and the key of the connection pool.
struct Endpoint {
  std::string scheme = "https";  // "http" or "https"
  std::string host;              // name or IP literal (IPv6 without brackets)
  int port = 443;
};

class ByteRate;

// How connections are made and used, where that differs from the defaults: TLS identity, proxy and
// rate.
struct ConnectSettings {
  std::string ca_directory_path;         // in addition to the bundle; empty: none
  std::string client_certificate_path;   // PEM; empty: none
  std::string client_key_path;           // PEM; empty: in the certificate file
  std::string client_key_password;       // secret; empty: none
  std::optional<std::string> proxy_url;  // empty: no proxy; unset: that of the environment
  std::string no_proxy;                  // with proxy_url: hosts without it, as in the environment
  std::shared_ptr<ByteRate> rate;        // of the bodies; null: no limit

  // Without the rate. Part of the key of the connection pool: requests with equal settings share
  // connections.
  std::string PoolKey() const;
};

struct Request {
  std::string method;  // "GET", ...
  Endpoint endpoint;
  std::string target;  // path and query exactly as on the wire
  // Sent in this order. Includes Host. The transport adds Content-Length.
  std::vector<Header> headers;
  std::string ca_bundle_path;                      // empty: the system's authorities
  std::shared_ptr<const ConnectSettings> connect;  // shared with the Client; null: the defaults
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{30'000};
};

struct ResponseHead {
  int status = 0;
  std::vector<Header> headers;  // arrival order
  // Returns the first header with that name (case-insensitive), or nullopt. The view is valid as
  // long as the head.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// Returns the number in the first Content-Length header. Nullopt if there is none or it is not a
// number.
std::optional<std::uint64_t> ContentLength(const ResponseHead& head);

// The bytes to send with the request. `size()` becomes Content-Length. The transport calls Rewind
// before the first byte of each attempt to send.
class RequestBody {
 public:
  virtual ~RequestBody() = default;
  virtual std::uint64_t size() const = 0;
  virtual void Rewind() = 0;
  virtual ByteView Next(std::size_t limit) = 0;  // empty: the end
};

// The connection that a request uses.
struct ConnectionUse {
  bool reused = false;       // has carried an earlier request
  PeerAddress address = {};  // the remote address: the service, or a proxy
};

// Consumer of the response: Begin once, then (Window, Commit) pairs. Called from one I/O thread. An
// error aborts the transfer and becomes its result. The same holds for an exception of a member of
// this class or of RequestBody.
class ResponseBody {
 public:
  virtual ~ResponseBody() = default;
  // The request has a connection. Called once per connection, because a request that fails on a
  // kept connection is repeated on another. Not called if no connection was made. May be called as
  // late as the end.
  virtual void OnConnection(const ConnectionUse&) {}
  virtual Result<void> Begin(const ResponseHead& head) = 0;
  virtual MutableByteView Window() = 0;
  virtual Result<void> Commit(std::size_t count) = 0;
};

struct Outcome {
  ResponseHead head;
  std::uint64_t body_bytes = 0;
  std::uint64_t sent_bytes = 0;
  std::chrono::nanoseconds first_byte{};  // from the start to the first byte of the head
  bool connection_reused = false;
};

// Runs exactly once, on an I/O thread, or before Start returns if no thread can accept the request.
// An exception that it throws is logged and dropped. Error kinds: kUnavailable (refused, reset,
// DNS, truncated body), kTimeout, kCancelled, kDataLoss (more bytes than the ResponseBody has room
// for), kUnauthenticated (TLS verification, credentials of a proxy), kInvalidArgument (a request
// that cannot be sent), kUnsupported (the response of a proxy), kResourceExhausted, or the error of
// a body.
using Completion = std::function<void(Result<Outcome>)>;

struct CallContext {
  Deadline deadline = Deadline::Never();
  std::stop_token cancel;
};

// Thread safety: safe from any thread. `request_body` may be null (no body). Both bodies must
// outlive the completion.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void Start(Request request, RequestBody* request_body, ResponseBody* response_body,
                     CallContext context, Completion done) = 0;
  // Runs `task` exactly once on an I/O thread, not before `when`. Used for backoff without a
  // sleeping thread. A transport that stops runs it early. On error `task` will not run: kCancelled
  // if the transport has stopped, kResourceExhausted if no thread can be started.
  [[nodiscard]] virtual Result<void> RunAt(MonotonicTime when, std::function<void()> task) = 0;
  // Returns the number of I/O threads without a request, which could receive further bodies at the
  // same time.
  virtual int idle_threads() const { return 0; }
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_TRANSPORT_H_
