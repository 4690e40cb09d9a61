// The loop of every call: resolve the endpoint, fetch credentials, build, sign with the current
// clock, send, classify, back off.
//
// It uses the operation table and wire.h, not the individual operations.
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

// External dependencies, injected so that tests can replace them.
struct ClientDependencies {
  // Called for each call, because the result changes after a fork.
  std::function<std::shared_ptr<http::Transport>()> transport;
  const Clock* clock = nullptr;  // Lives forever.
  RandomBits random;
  auth::Environment environment;
  std::function<RateControl&()> rates = RateControl::PerProcess;  // Called like `transport`.

  static ClientDependencies PerProcess();
};

// State shared by the calls of one Client. Only ProcessState contains locks.
struct ClientState {
  ClientState(ResolvedConfig resolved, ClientDependencies outside);

  const ResolvedConfig config;
  const ClientDependencies dependencies;
  const BuildContext build_context;
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

// One call, ready to be sent.
struct PreparedCall {
  WireRequest request;
  CallOptions options;
  // Destination of the body of a success. Null: WireResponse::body. Lives as long as `accept`.
  SuccessBody* success_body = nullptr;
  // Reads a success. Its errors are classified and retried like any other.
  std::function<Result<void>(const WireResponse&)> accept;
  // Runs exactly once. The error has operation, bucket, key and attempts.
  std::function<void(Result<void>)> done;
};

// Sends the call until it succeeds or must not be retried. Never blocks. `state` is shared because
// the call may outlive the Client. An exception (no memory) leaves this function only before the
// call is accepted; `call.done` then does not run.
//
// Cancellation and the deadline end the call in every phase: while it fetches credentials, in
// flight, in backoff.
void Dispatch(std::shared_ptr<ClientState> state, PreparedCall call);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_DISPATCHER_H_
