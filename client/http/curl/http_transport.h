// The Transport over libcurl: a few I/O threads, each with its own multi handle and connection
// pool.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_HTTP_TRANSPORT_H_
#define PENSTOCK_CLIENT_HTTP_CURL_HTTP_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/http/transport.h"

namespace penstock::http {

// The defaults are those of spec/performance.md §2.
struct HttpTransportOptions {
  DataPlane plane = DataPlane::kDirect;  // of requests that name none
  int io_threads = 0;                    // 0: half the cores, at least 1, at most 4
  // at a time, over all threads; more wait in order of Start
  int max_transfers = 256;
  std::size_t receive_buffer_bytes = 256 << 10;
  std::size_t send_buffer_bytes = 64 << 10;
  // that one connection moves before others have their turn (direct plane)
  std::size_t turn_bytes = 2 << 20;
  // S3 drops a connection after about 5 s without a request
  std::chrono::seconds max_idle_age{4};
  // then a fresh one, so that load spreads over the service's addresses
  std::chrono::seconds max_lifetime{300};
  // A body of at least so many bytes asks first (Expect: 100-continue), unless the request has its
  // own Expect header.
  std::uint64_t expect_continue_from_bytes = 1 << 20;
  // without an answer the body goes out then
  std::chrono::milliseconds expect_continue_patience{1000};
  // Addresses of names, instead of asking the system: "host:port:address,address", as
  // CURLOPT_RESOLVE takes them.
  std::vector<std::string> resolve;
};

// Starts no thread and opens no socket before the first request. Destroying it completes what is in
// flight with kCancelled and runs waiting RunAt tasks early; a Start from there on completes with
// kCancelled at once. So does the end of the process with SharedTransport's.
//
// Header order on the wire: Host first, then the request's headers as given, then Content-Length. A
// request is repeated here only when a reused connection died before any byte of the response, and
// then only if the server cannot have had all of it, or it reads (GET, HEAD); Rewind() is called
// then. The proxy variables of the environment are honoured.
//
// fork(): a child's first request builds new threads and connections. What was in flight belongs to
// the parent: the child never completes it.
//
// Thread safety: safe from any thread.
std::shared_ptr<Transport> MakeCurlTransport(HttpTransportOptions options);

// The process's own, made at the first call and never destroyed. Never null.
std::shared_ptr<Transport> SharedTransport();

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_HTTP_TRANSPORT_H_
