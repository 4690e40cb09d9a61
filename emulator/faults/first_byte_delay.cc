#include "emulator/faults/first_byte_delay.h"

namespace penstock::emulator::faults {
namespace {

class FirstByteDelay final : public api::Handler {
 public:
  FirstByteDelay(std::chrono::milliseconds delay, api::Handler& next) : delay_(delay), next_(next) {}

  void Handle(api::Exchange& exchange) override {
    const bool delayed = delay_.count() > 0 && (exchange.request.method == "GET" || exchange.request.method == "HEAD");
    next_.Handle(exchange);
    if (!delayed) return;
    exchange.WhenAnswered([delay = delay_](api::Exchange& answered) { api::HoldBack(answered.response.Delivering(), delay); });
  }

 private:
  const std::chrono::milliseconds delay_;
  api::Handler& next_;
};

}  // namespace

std::unique_ptr<api::Handler> MakeFirstByteDelay(std::chrono::milliseconds delay, api::Handler& next) {
  return std::make_unique<FirstByteDelay>(delay, next);
}

}  // namespace penstock::emulator::faults
