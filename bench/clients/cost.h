// Shared by the benchmark programs: ending with an error, and the CPU time of this process.
#ifndef PENSTOCK_BENCH_CLIENTS_COST_H_
#define PENSTOCK_BENCH_CLIENTS_COST_H_

#include <sys/resource.h>

#include <cerrno>  // program_invocation_short_name
#include <cstdio>
#include <cstdlib>
#include <string>

namespace penstock::bench {

[[noreturn]] inline void Fail(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
  std::exit(1);
}

// User plus system time of this process.
inline double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CLIENTS_COST_H_
