#include "emulator/s3/core/filter_chain.h"

#include <cstddef>
#include <exception>

#include "base/log/diagnostics.h"

namespace penstock::emulator::s3 {
namespace {

constinit DiagnosticEvent further_exception("s3.further_exception");

}  // namespace

std::unique_ptr<message::Exchange> FilterChain::NewExchange(RequestHead& request,
                                                            Connection& connection) {
  return std::make_unique<Exchange>(request, connection);
}

void FilterChain::Handle(message::Exchange& base) {
  // NewExchange creates all exchanges of this handler.
  auto& exchange = static_cast<Exchange&>(base);
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

void FilterChain::Finish(message::Exchange& base) {
  auto& exchange = static_cast<Exchange&>(base);
  std::exception_ptr failure;
  const auto attempt = [&failure](const auto& step) {
    try {
      step();
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
      else further_exception.Report(CurrentExceptionError("a filter of the response"));
    }
  };
  attempt([&] { operations_.Finish(exchange); });
  for (auto filter = filters_.rbegin(); filter != filters_.rend(); ++filter)
    attempt([&] { (*filter)->OnResponse(exchange); });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace penstock::emulator::s3
