// Starts one request and waits for it, for the tests of transports.
#ifndef PENSTOCK_CLIENT_HTTP_CALL_FOR_TEST_H_
#define PENSTOCK_CLIENT_HTTP_CALL_FOR_TEST_H_

#include <chrono>
#include <cstdlib>
#include <future>
#include <stop_token>
#include <utility>

#include "client/http/body_for_test.h"
#include "client/http/transport.h"

namespace penstock::http {

// Must outlive its completion: call Wait before destroying it.
struct Call {
  explicit Call(Collector collector = Collector()) : body(std::move(collector)) {}

  Call& Start(Transport& transport, Request request, RequestBody* upload = nullptr,
              Deadline deadline = Deadline::Never()) {
    transport.Start(std::move(request), upload, &body, {deadline, stop.get_token()},
                    [this](Result<Outcome> outcome) { promise.set_value(std::move(outcome)); });
    return *this;
  }
  // Fails with an error after a timeout, so that the test does not hang.
  Result<Outcome> Wait() {
    std::future<Result<Outcome>> future = promise.get_future();
    if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready) std::abort();
    return future.get();
  }

  Collector body;
  std::stop_source stop;
  std::promise<Result<Outcome>> promise;
};

inline Deadline In(std::chrono::milliseconds time) { return Deadline::After(SystemClock(), time); }

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CALL_FOR_TEST_H_
