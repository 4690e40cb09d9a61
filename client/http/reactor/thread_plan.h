// The number of I/O threads of a transport, and which of them takes a request (0133). Pure
// arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_HTTP_REACTOR_THREAD_PLAN_H_
#define PENSTOCK_CLIENT_HTTP_REACTOR_THREAD_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "client/http/transport.h"

namespace penstock::http {

// A request with a body of at least this size, in either direction, is large.
inline constexpr std::uint64_t kLargeBodyBytes = 1ull << 20;

// The first `for_all` threads take every request, the others only large ones: small requests cost
// less CPU on few threads.
struct ThreadPlan {
  int threads = 1;
  int for_all = 1;
  int connections = 1;            // of each thread for all requests
  int connections_for_large = 0;  // of each other thread

  int ConnectionsOf(int thread) const {
    return thread < for_all ? connections : connections_for_large;
  }
};

// `io_threads`: as configured; 0: half the cores, at most 16, of which at most 4 take every
// request. No plan has more than `max_transfers` connections. Requires max_transfers >= 1.
ThreadPlan PlanThreads(int cores, int io_threads, int max_transfers);

// Whether the request is known to be large: by its Range header, or by its own body.
bool IsLarge(const Request& request, const RequestBody* body);

// Returns the thread with the fewest requests that has a free connection, or else with the fewest
// requests. `loads` has the requests of each thread.
std::size_t ChooseThread(const ThreadPlan& plan, std::span<const std::size_t> loads, bool is_large);

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_REACTOR_THREAD_PLAN_H_
