#include "emulator/faults/first_byte_delay.h"

namespace penstock::emulator::faults {
namespace {

class FirstByteDelay final : public s3::Handler {
 public:
  FirstByteDelay(std::chrono::milliseconds delay, s3::Handler& next) : delay_(delay), next_(next) {}

  void Handle(s3::Exchange& exchange) override {
    const bool delayed = delay_.count() > 0 &&
                         (exchange.request.method == "GET" || exchange.request.method == "HEAD");
    next_.Handle(exchange);
    if (!delayed) return;
    exchange.WhenAnswered([delay = delay_](s3::Exchange& answered) {
      s3::HoldBack(answered.response.Delivering(), delay);
    });
  }

 private:
  const std::chrono::milliseconds delay_;
  s3::Handler& next_;
};

}  // namespace

std::unique_ptr<s3::Handler> MakeFirstByteDelay(std::chrono::milliseconds delay,
                                                s3::Handler& next) {
  return std::make_unique<FirstByteDelay>(delay, next);
}

}  // namespace penstock::emulator::faults
