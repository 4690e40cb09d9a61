#include "emulator/api/delivery.h"

#include <algorithm>

namespace penstock::emulator::api {

void HoldBack(Delivery& delivery, std::chrono::nanoseconds wait) {
  delivery.steps.insert(delivery.steps.begin(), DeliveryStep{.wait = wait});
}

void LimitRate(Delivery& delivery, std::uint64_t bytes_per_second) {
  if (bytes_per_second == 0) return;
  delivery.bytes_per_second = delivery.bytes_per_second == 0 ? bytes_per_second : std::min(delivery.bytes_per_second, bytes_per_second);
}

}  // namespace penstock::emulator::api
