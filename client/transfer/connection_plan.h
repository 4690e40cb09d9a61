// How many connections a download should use, from the rate that one is measured to have. Pure
// arithmetic, no I/O.
#ifndef PENSTOCK_CLIENT_TRANSFER_CONNECTION_PLAN_H_
#define PENSTOCK_CLIENT_TRANSFER_CONNECTION_PLAN_H_

#include <chrono>
#include <cstdint>

namespace penstock::transfer {

inline constexpr std::uint64_t kLeastPartBytes = 8ull << 20;
inline constexpr std::uint64_t kMostPartBytes = 64ull << 20;
inline constexpr int kMostConnections = 16;

// What one connection has done since its first byte, and what nobody has claimed yet.
struct RateSample {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds elapsed{};
  std::uint64_t unclaimed_bytes = 0;
};

// Connections worth having, the measured one included. A connection to S3 moves under 100 MB/s and
// deserves company; one that moves more than a gigabyte per second is this machine's own, and
// others would only cost more per byte (spec/performance.md §0). 1 while too little is known, or
// where the rest is shorter than the time to ask for it.
int WantedConnections(const RateSample& sample);

// The same by the rate of a connection in bytes per second, not 0, where there is enough left for
// all.
int ConnectionsForRate(double bytes_per_second);

// Size of the next part: a fair share of what is unclaimed, so that all end together; between 8 and
// 64 MiB, a power of 2.
std::uint64_t PlannedPartSize(std::uint64_t unclaimed_bytes, int connections);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_CONNECTION_PLAN_H_
