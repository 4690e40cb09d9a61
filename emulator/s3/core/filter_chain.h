// The filters that a request passes before its operation, and its response after it.
#ifndef PENSTOCK_EMULATOR_S3_CORE_FILTER_CHAIN_H_
#define PENSTOCK_EMULATOR_S3_CORE_FILTER_CHAIN_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

enum class FilterStatus : std::uint8_t {
  kContinue,
  // The request passes no further filter and no operation: the filter has left the response, or its
  // OnResponse will.
  kResponded,
};

// Keeps its state for a request with the exchange (Exchange::Attach) and changes the body with
// Exchange::WrapBody.
//
// Thread safety: called from many threads at once, each with its own Exchange.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual FilterStatus OnRequest(Exchange& /*exchange*/) { return FilterStatus::kContinue; }
  // Called for each request that reached OnRequest, once its response is complete and before it is
  // sent. The body is not wrapped any more. If the operation responds later, the call comes from
  // another thread than OnRequest. Must not block.
  virtual void OnResponse(Exchange& /*exchange*/) {}
};

// Passes the requests of a server through the filters to the handler of the operations. Responses
// pass the filters in the reverse order.
class FilterChain final : public message::Handler {
 public:
  // `operations` must outlive this object.
  template <class... Filters>
  explicit FilterChain(s3::Handler& operations, std::unique_ptr<Filters>... filters)
      : operations_(operations) {
    (filters_.push_back(std::move(filters)), ...);
  }

  std::unique_ptr<message::Exchange> NewExchange(RequestHead& request,
                                                 Connection& connection) override;
  void Handle(message::Exchange& exchange) override;
  // An exception of one filter or of the operation skips no other filter. Throws the first one;
  // further ones are reported as the diagnostic event "s3.further_exception".
  void Finish(message::Exchange& exchange) override;

 private:
  s3::Handler& operations_;
  std::vector<std::unique_ptr<Filter>> filters_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_FILTER_CHAIN_H_
