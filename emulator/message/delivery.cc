#include "emulator/message/delivery.h"

#include <algorithm>
#include <utility>

namespace penstock::emulator::message {

void HoldBack(Delivery& delivery, std::chrono::nanoseconds wait) {
  delivery.steps.insert(delivery.steps.begin(), DeliveryStep{.wait = wait});
}

void KeepPace(Delivery& delivery, std::uint64_t piece,
              std::function<MonotonicTime(std::uint64_t bytes, MonotonicTime now)> pace) {
  delivery.piece = delivery.piece == 0 ? piece : std::min(delivery.piece, piece);
  if (!delivery.pace) {
    delivery.pace = std::move(pace);
    return;
  }
  delivery.pace = [first = std::move(delivery.pace), second = std::move(pace)](std::uint64_t bytes,
                                                                               MonotonicTime now) {
    return std::max(first(bytes, now), second(bytes, now));
  };
}

}  // namespace penstock::emulator::message
