// The loop every verb goes through, written once: resolve the endpoint, fetch credentials, build,
// sign with this attempt's clock, send, classify, back off (spec/protocol.md §5, §2.16).
//
// Knows the table of operations and wire.h, not the verbs.
#ifndef PENSTOCK_CLIENT_S3_DISPATCHER_H_
#define PENSTOCK_CLIENT_S3_DISPATCHER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "client/http/transport.h"
#include "client/s3/config.h"
#include "client/s3/endpoint/bucket_regions.h"
#include "client/s3/endpoint/endpoint_cache.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/process_state.h"
#include "client/s3/random_bits.h"
#include "client/s3/response_bodies.h"
#include "client/s3/retry/hedge_policy.h"
#include "client/s3/retry/rate_control.h"
#include "client/s3/retry/retry_rules.h"
#include "client/s3/wire.h"
#include "penstock/base/clock.h"

namespace penstock::s3 {

// The outside world, injected so that tests own it.
struct ClientDependencies {
  // asked at every call: a fork may change the answer
  std::function<std::shared_ptr<http::Transport>()> transport;
  const Clock* clock = nullptr;  // lives forever
  RandomBits random;
  auth::Environment environment;
  std::function<RateControl&()> rates = RateControl::PerProcess;  // as transport

  static ClientDependencies PerProcess();
};

// What the calls of one Client share. Holds no lock but behind ProcessState.
struct ClientState {
  ClientState(ResolvedConfig resolved, ClientDependencies outside);

  const ResolvedConfig config;
  const ClientDependencies surroundings;
  const BuildContext build_context;
  const std::string user_agent;
  ProcessState process;
  RetryQuotas quotas;
  BucketRegions regions;
  EndpointCache endpoints;
  CallCounters counters;
  HedgePolicy hedging;
  // service's clock minus ours, where they differ much
  std::atomic<std::int64_t> clock_skew_seconds{0};
};

// One call, ready to be sent.
struct PreparedCall {
  WireRequest request;
  CallOptions options;
  // Where a success's body goes; null: into WireResponse::body. Lives as long as `accept`.
  SuccessBody* success_body = nullptr;
  // Reads a success; an error from it is classified and retried like any other.
  std::function<Result<void>(const WireResponse&)> accept;
  // Exactly once. The error has operation, bucket, key and attempts.
  std::function<void(Result<void>)> done;
};

// Sends until it succeeds or must not be tried again. Never blocks. `state` is shared: the call may
// outlive the Client. An exception (no memory) leaves it only before the call is taken: `call.done`
// then does not run.
//
// Cancellation and the deadline end the call in every phase: while credentials are fetched, in
// flight, in back-off.
void Dispatch(std::shared_ptr<ClientState> state, PreparedCall call);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_DISPATCHER_H_
