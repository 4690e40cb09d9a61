// A transfer for a reactor, and its result.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_PENDING_FOR_TEST_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_PENDING_FOR_TEST_H_

#include <future>
#include <memory>
#include <utility>

#include "client/http/body_for_test.h"
#include "client/http/exchange/transfer.h"

namespace penstock::http {

// Must outlive the completion.
struct Pending {
  TransferPtr Make(Request request) {
    auto transfer = std::make_shared<Transfer>();
    transfer->request = std::move(request);
    transfer->response_body = &sink;
    transfer->started = SystemClock().Monotonic();
    transfer->done = [this](Result<Outcome> outcome) { promise.set_value(std::move(outcome)); };
    return transfer;
  }
  Result<Outcome> Wait() { return promise.get_future().get(); }

  Collector sink;
  std::promise<Result<Outcome>> promise;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_PENDING_FOR_TEST_H_
