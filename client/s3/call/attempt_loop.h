// The loop of every call: resolve the endpoint, fetch credentials, build, sign with the current
// clock, send, classify, wait, repeat.
//
// It uses the operation table and wire.h, not the individual operations.
#ifndef PENSTOCK_CLIENT_S3_CALL_ATTEMPT_LOOP_H_
#define PENSTOCK_CLIENT_S3_CALL_ATTEMPT_LOOP_H_

#include <functional>
#include <memory>

#include "client/s3/attempt/response_bodies.h"
#include "client/s3/call/client_state.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

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
void Dispatch(std::shared_ptr<ClientState> state, PreparedCall&& call);

// Returns the deadline of a call with these options that starts now: the earlier of its own and
// operation_timeout.
Deadline DeadlineOf(const ClientState& state, const CallOptions& options);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CALL_ATTEMPT_LOOP_H_
