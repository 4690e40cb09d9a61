// What a Client has counted since it was made: requests by operation with their times, retries,
// bytes, connections.
#ifndef PENSTOCK_STATS_H_
#define PENSTOCK_STATS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace penstock {

// A distribution of times. Buckets are at most an eighth as wide as where they begin (below 8 us: 1
// us), up to 71 minutes.
struct TimeHistogram {
  struct Bucket {  // times in [begin, end)
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};
    std::uint64_t count = 0;
  };
  std::uint64_t count = 0;
  std::chrono::nanoseconds sum{};  // exact, not from the buckets
  std::vector<Bucket> buckets;     // those that hold something, ascending

  // The time that the given share of all stays below (0.5: the median), within its bucket's width.
  // Zero when there is none. `share` is taken as 0 or 1 where it is beyond.
  std::chrono::nanoseconds Quantile(double share) const;
  // Adds what another has counted, as of another operation or another process.
  void Merge(const TimeHistogram& other);
};

struct OperationStats {
  std::uint64_t requests = 0;  // attempts
  // from sending an attempt (and connecting, where it had to) to the first byte of its answer
  TimeHistogram first_byte;
  TimeHistogram duration;  // of whole attempts, failed ones included
};

// Requests by the connection they went out on. One that found a kept connection dead and was
// repeated counts twice.
struct ConnectionStats {
  std::uint64_t opened = 0;  // the first of their connection
  std::uint64_t reused = 0;
};

// Every member counts since the Client was made; those made while it is read may be in some members
// and not in others.
struct ClientStats {
  std::map<std::string, std::uint64_t> requests;       // by operation, every attempt counted
  std::map<std::string, OperationStats> operations;    // the same with their times
  std::map<std::string, ConnectionStats> connections;  // by data plane: "direct", "curl"
  std::uint64_t retries = 0;
  std::uint64_t throttled = 0;  // attempts answered with a throttling error
  // reads that were asked for a second time because the first answer was late
  std::uint64_t hedges = 0;
  std::uint64_t hedges_won = 0;  // of these, how often the second answer was first
  std::uint64_t failures = 0;    // calls that ended in an error
  // Exceptions that left callbacks, sinks, sources, observers or credentials providers, of all
  // Clients of the process. The log has them as the warning "exception", one line a second at most.
  // Those of sinks, sources and providers end their call.
  std::uint64_t exceptions = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_STATS_H_
