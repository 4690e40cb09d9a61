#include "emulator/s3/core/filter_chain.h"

#include <cstddef>
#include <exception>

namespace penstock::emulator::s3 {

std::unique_ptr<message::Exchange> FilterChain::NewExchange(RequestHead& request,
                                                            Connection& connection) {
  return std::make_unique<Exchange>(request, connection);
}

void FilterChain::Handle(message::Exchange& its_exchange) {
  // NewExchange creates all exchanges of this handler.
  auto& exchange = static_cast<Exchange&>(its_exchange);
  std::size_t passed = 0;
  FilterStatus status = FilterStatus::kContinue;
  while (passed < filters_.size() && status == FilterStatus::kContinue)
    status = filters_[passed++]->OnRequest(exchange);
  if (status == FilterStatus::kContinue) operations_.Handle(exchange);
  exchange.form = nullptr;  // It belongs to a body.
  exchange.UnwrapBody();
  if (exchange.pending) return;
  while (passed > 0) filters_[--passed]->OnResponse(exchange);
}

void FilterChain::Finish(message::Exchange& its_exchange) {
  auto& exchange = static_cast<Exchange&>(its_exchange);
  std::exception_ptr failure;
  const auto attempt = [&failure](const auto& step) {
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  attempt([&] { operations_.Finish(exchange); });
  for (auto filter = filters_.rbegin(); filter != filters_.rend(); ++filter)
    attempt([&] { (*filter)->OnResponse(exchange); });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace penstock::emulator::s3
