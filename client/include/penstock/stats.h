// Counters of a Client since it was created: requests by operation with their times, retries,
// bytes, connections.
#ifndef PENSTOCK_STATS_H_
#define PENSTOCK_STATS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// A distribution of times up to 71 minutes. A bucket is at most an eighth of its lower bound wide,
// or 1 us wide below 8 us.
struct TimeHistogram {
  struct Bucket {  // Times in [begin, end).
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};
    std::uint64_t count = 0;
  };
  std::uint64_t count = 0;
  std::chrono::nanoseconds sum{};  // Exact, not computed from the buckets.
  std::vector<Bucket> buckets;     // Non-empty buckets, ascending.

  // Returns the time below which the given share of all values is (0.5: the median), to within a
  // bucket's width. Returns zero for an empty histogram. `share` is clamped to [0, 1].
  std::chrono::nanoseconds Quantile(double share) const;
  // Adds the values of another histogram, for example of another operation or process.
  void Merge(const TimeHistogram& other);
};

struct OperationStats {
  std::uint64_t requests = 0;  // Attempts.
  // From sending an attempt, including connecting if necessary, to the first byte of its response.
  TimeHistogram first_byte;
  TimeHistogram duration;  // Of whole attempts, failed ones included.
};

// Requests that opened or reused a connection. A request that was repeated because its reused
// connection was closed counts twice.
struct ConnectionStats {
  std::uint64_t opened = 0;  // The first request of a connection.
  std::uint64_t reused = 0;
};

// Reads through the node cache (ClientConfig::cache).
struct CacheCounts {
  std::uint64_t hits = 0;        // Blocks that reads took from the cache.
  std::uint64_t hit_bytes = 0;   // Bytes of these reads.
  std::uint64_t misses = 0;      // Blocks downloaded for the cache.
  std::uint64_t miss_bytes = 0;  // Bytes of these.
};

// All members count since the Client was created. A snapshot may include a concurrent attempt in
// some members and not in others.
struct ClientStats {
  std::map<std::string, std::uint64_t> requests;     // By operation; every attempt counts.
  std::map<std::string, OperationStats> operations;  // Same, with times.
  ConnectionStats connections;
  std::uint64_t retries = 0;  // Attempts after the first of their call.
  // The same by reason: "throttled", "server_error", "timeout", "connection", "data_loss",
  // "invalid_response", "clock_skew", "credentials", "region" or "retry_policy"
  // (docs/how-to/metrics.md). Without reasons that did not occur.
  std::map<std::string, std::uint64_t> retries_by_reason;
  std::uint64_t throttled = 0;  // Attempts that failed with a throttling error.
  // Reads that sent a second request because the first response was late.
  std::uint64_t hedges = 0;
  std::uint64_t hedges_won = 0;  // Hedges whose second response was first.
  std::uint64_t failures = 0;    // Calls that ended with an error.
  // The same by kind (ErrorKindName): "not_found". Without kinds that did not occur.
  std::map<std::string, std::uint64_t> failures_by_kind;
  // Exceptions of callbacks, sinks, sources, observers and credentials providers, of all Clients of
  // the process. They are logged as the warning "exception", at most once per second. Exceptions of
  // sinks, sources and providers fail their call.
  std::uint64_t exceptions = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  CacheCounts cache;
};

}  // namespace penstock

#endif  // PENSTOCK_STATS_H_
