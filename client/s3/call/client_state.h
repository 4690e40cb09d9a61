// What the calls of one Client share: configuration, injected dependencies, and what they learn.
#ifndef PENSTOCK_CLIENT_S3_CALL_CLIENT_STATE_H_
#define PENSTOCK_CLIENT_S3_CALL_CLIENT_STATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/http/transport.h"
#include "client/s3/call/endpoint_cache.h"
#include "client/s3/call/process_state.h"
#include "client/s3/call/random_bits.h"
#include "client/s3/config/config.h"
#include "client/s3/endpoint/bucket_regions.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/retry/hedge_policy.h"
#include "client/s3/retry/rate_control.h"
#include "client/s3/retry/retry_rules.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/clock.h"

namespace penstock::s3 {

// External dependencies, injected so that tests can replace them.
struct ClientDependencies {
  // Called for each call, because the result changes after a fork.
  std::function<std::shared_ptr<http::Transport>()> transport;
  const Clock* clock = nullptr;  // Lives forever.
  RandomBits random;
  auth::Environment environment;
  std::function<RateControl&()> rates = RateControl::PerProcess;  // Called like `transport`.

  // `io_threads` and `max_connections` as in ClientConfig; a value that ResolveConfig refuses has
  // no effect. 0: default.
  static ClientDependencies PerProcess(int io_threads = 0, int max_connections = 0);
};

// State shared by the calls of one Client. Only ProcessState contains locks.
struct ClientState {
  ClientState(ResolvedConfig resolved, ClientDependencies outside);

  // The local time, corrected by the known difference to the service's clock.
  WallTime CorrectedNow() const {
    return dependencies.clock->Now() +
           std::chrono::seconds(clock_skew_seconds.load(std::memory_order_relaxed));
  }

  const ResolvedConfig config;
  const ClientDependencies dependencies;
  const BuildContext build_context;
  // Shared with the requests. Null: the defaults.
  const std::shared_ptr<const http::ConnectSettings> connect;
  const std::string user_agent;
  ProcessState process;
  RetryQuotas quotas;
  BucketRegions regions;
  EndpointCache endpoints;
  CallCounters counters;
  HedgePolicy hedging;
  // The service's clock minus the local clock, if they differ by minutes.
  std::atomic<std::int64_t> clock_skew_seconds{0};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_CLIENT_STATE_H_
