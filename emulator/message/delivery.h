// How a response is sent if it is not sent at full speed: with pauses, at a limited rate, or
// truncated. Faults set it and the HTTP layer applies it.
#ifndef PENSTOCK_EMULATOR_MESSAGE_DELIVERY_H_
#define PENSTOCK_EMULATOR_MESSAGE_DELIVERY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"

namespace penstock::emulator::message {

struct DeliveryStep {
  enum class Place : std::uint8_t {
    kHead,     // Before anything is sent.
    kBody,     // After the head and `offset` bytes of the body. 0: after the head.
    kTrailer,  // After the whole body; before the final chunk of a chunked body.
    kEnd,      // After everything.
  };
  enum class Kind : std::uint8_t {
    kWait,  // Waits for `wait`.
    // Resets the connection (RST), once the peer has acknowledged the bytes sent so far or after
    // one second.
    kReset,
    kFin,        // Closes the connection (FIN).
    kHalfClose,  // Sends FIN, then reads from the peer for `wait`.
  };
  Place place = Place::kHead;
  std::uint64_t offset = 0;  // For kBody. The step is skipped if the body is shorter.
  Kind kind = Kind::kWait;
  std::chrono::nanoseconds wait{};
  // Called on a serving thread after the step. May be empty.
  std::function<void()> done = {};
};

struct Delivery {
  std::vector<DeliveryStep> steps;  // Sorted by position; steps at one position run in order.
  // If not 0, sends this many bytes of the body at a time, with `piece_every` between them.
  std::uint64_t piece = 0;
  std::chrono::nanoseconds piece_every{};
  // If set, returns when the next piece of the body is sent, from its size and the current time.
  // Requires `piece`. Called on serving threads; must not block.
  std::function<MonotonicTime(std::uint64_t bytes, MonotonicTime now)> pace = {};
  // Headers, in lower case, that the HTTP layer must not add (Date, Server, x-amz-request-id,
  // x-amz-id-2).
  std::vector<std::string> without = {};
};

// Delays the response by `wait`, before all other steps of `delivery`.
void HoldBack(Delivery& delivery, std::chrono::nanoseconds wait);
// Limits the size of the pieces of the body to `piece` bytes (> 0), and sends them no earlier than
// `pace` returns. Limits of several calls combine.
void KeepPace(Delivery& delivery, std::uint64_t piece,
              std::function<MonotonicTime(std::uint64_t bytes, MonotonicTime now)> pace);

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_DELIVERY_H_
