// The Transport of the process: a few I/O threads, each with its own connection pool.
#ifndef PENSTOCK_CLIENT_HTTP_REACTOR_HTTP_TRANSPORT_H_
#define PENSTOCK_CLIENT_HTTP_REACTOR_HTTP_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/http/transport.h"

namespace penstock::http {

// Options of the transport.
struct HttpTransportOptions {
  int io_threads = 0;  // 0: by the cores (thread_plan.h); at most max_transfers
  int cores = 0;       // 0: those of the machine
  // Limit over all threads, and so of the connections in use. More requests wait in FIFO order.
  int max_transfers = 256;
  // Bytes that one connection transfers before the next connection gets its turn.
  std::size_t turn_bytes = 2 << 20;
  // S3 closes a connection after about 5 s without a request.
  std::chrono::seconds max_idle_age{4};
  // Older connections are replaced, so that load spreads over the addresses of the service.
  std::chrono::seconds max_lifetime{300};
  // A body of at least this size is sent with Expect: 100-continue, unless the request has its own
  // Expect header.
  std::uint64_t expect_continue_from_bytes = 1 << 20;
  // The body is sent after this time without a 100 response.
  std::chrono::milliseconds expect_continue_timeout{1000};
  // Addresses of host names, instead of DNS: "host:port:address,address", in the format of
  // CURLOPT_RESOLVE.
  std::vector<std::string> resolve;
};

// Starts no thread and opens no socket before the first request. Destruction completes requests in
// flight with kCancelled and runs waiting RunAt tasks early. A later Start completes with
// kCancelled immediately. Process exit does the same with SharedTransport.
//
// Header order on the wire: Host first, then the request's headers as given, then Content-Length.
// A request is repeated here only if a reused connection died before any byte of the response. In
// addition, the server cannot have received all of it, or it only reads (GET, HEAD). Rewind() is
// called before. The proxy variables of the environment are used.
//
// fork(): the first request of a child creates new threads and connections. Requests in flight
// belong to the parent: the child never completes them.
//
// Thread safety: safe from any thread.
std::shared_ptr<Transport> MakeHttpTransport(HttpTransportOptions options);

inline constexpr int kMaxIoThreads = 64;

inline constexpr int kMaxConnections = 4096;

// Returns the transport of the process with that many I/O threads and at most that many connections
// (0: the defaults), created at the first call and never destroyed. Never null. Requires
// 0 <= io_threads <= kMaxIoThreads and 0 <= max_connections <= kMaxConnections.
std::shared_ptr<Transport> SharedTransport(int io_threads = 0, int max_connections = 0);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_REACTOR_HTTP_TRANSPORT_H_
