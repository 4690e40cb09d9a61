#include "emulator/faults/first_byte_delay.h"

namespace penstock::emulator::faults {
namespace {

class FirstByteDelay final : public s3::Filter {
 public:
  explicit FirstByteDelay(std::chrono::milliseconds delay) : delay_(delay) {}

  void OnResponse(s3::Exchange& exchange) override {
    if (delay_.count() > 0 &&
        (exchange.request.method == "GET" || exchange.request.method == "HEAD"))
      s3::HoldBack(exchange.response.Delivering(), delay_);
  }

 private:
  const std::chrono::milliseconds delay_;
};

}  // namespace

std::unique_ptr<s3::Filter> MakeFirstByteDelay(std::chrono::milliseconds delay) {
  return std::make_unique<FirstByteDelay>(delay);
}

}  // namespace penstock::emulator::faults
