// Computes how many connections a download should use from the measured rate of one connection.
// Pure arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_CONNECTION_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_CONNECTION_PLAN_H_

#include <chrono>
#include <cstdint>

namespace penstock::transfer {

inline constexpr std::uint64_t kMinPlannedPartBytes = 8ull << 20;
inline constexpr std::uint64_t kMaxPlannedPartBytes = 64ull << 20;
inline constexpr int kMaxConnections = 16;

// The progress of one connection since its first byte, and the bytes that no request has claimed
// yet.
struct RateSample {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds elapsed{};
  std::uint64_t unclaimed_bytes = 0;
  // The CPU time of the receiving thread meanwhile, the requests in flight for these bytes, and the
  // threads that have none.
  std::chrono::nanoseconds thread_cpu{};
  int in_flight = 1;
  int idle_threads = 0;
};

// Returns the useful number of connections, including the measured one. A connection to S3
// transfers less than 100 MB/s, so more connections help. A connection with more than 1 GB/s is
// local, and more connections would only cost more CPU per byte, unless its thread is busy: then
// the rate is that of a core, and each idle thread gets a connection (0133). Returns 1 if the
// sample is too small, or if the rest arrives sooner than a new request's first byte.
int WantedConnections(const RateSample& sample);

// Same for a rate in bytes per second, which must not be 0. Assumes enough bytes are left for all
// connections.
int ConnectionsForRate(double bytes_per_second);

// Returns the useful number of connections besides those for the rate: one for each idle thread if
// the receiving thread is busy, otherwise 0.
int ConnectionsForThreads(std::chrono::nanoseconds thread_cpu, std::chrono::nanoseconds elapsed,
                          int in_flight, int idle_threads);

// Returns the size of the next part: a fair share of the unclaimed bytes, so that all connections
// finish together. A power of 2 between 8 and 64 MiB.
std::uint64_t PlannedPartSize(std::uint64_t unclaimed_bytes, int connections);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_CONNECTION_PLAN_H_
