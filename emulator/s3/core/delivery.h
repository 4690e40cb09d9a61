// How an answer leaves, where it is not to leave as fast as it can: with pauses, slowly, or not
// whole. Faults ask for it; the wire does it.
#ifndef PENSTOCK_EMULATOR_S3_CORE_DELIVERY_H_
#define PENSTOCK_EMULATOR_S3_CORE_DELIVERY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"

namespace penstock::emulator::s3 {

struct DeliveryStep {
  enum class Place : std::uint8_t {
    kHead,     // nothing has left
    kBody,     // the head and `offset` bytes of the body have left; offset 0: the head alone
    kTrailer,  // the whole body has left; where it is sent in chunks, not the one that ends it
    kEnd,      // everything has left
  };
  enum class Kind : std::uint8_t {
    kWait,  // for `wait`
    // the connection ends with RST, once the peer has acknowledged what left before, or did not for
    // a second
    kReset,
    kFin,        // it ends with FIN
    kHalfClose,  // FIN is sent, and what the peer still sends is taken for `wait`
  };
  Place place = Place::kHead;
  std::uint64_t offset = 0;  // kBody. A body that is shorter never comes to the step
  Kind kind = Kind::kWait;
  std::chrono::nanoseconds wait{};
  // called when the step has been done, on a serving thread; may be empty
  std::function<void()> done = {};
};

struct Delivery {
  std::vector<DeliveryStep> steps;  // in the order of their places; those at one place in their own
  // Where set, so many bytes of the body leave at a time, and the next ones `piece_every` later.
  std::uint64_t piece = 0;
  std::chrono::nanoseconds piece_every{};
  // Where set, each piece of the body leaves when this says, of its size and the present. `piece`
  // is set then. Called on serving threads; must not wait.
  std::function<MonotonicTime(std::uint64_t bytes, MonotonicTime now)> pace = {};
  // Headers that the wire would add by itself (Date, Server, x-amz-request-id, x-amz-id-2),
  // lower-case, and that do not leave.
  std::vector<std::string> without = {};
};

// Before anything else that `delivery` says, the answer waits for `wait`.
void HoldBack(Delivery& delivery, std::chrono::nanoseconds wait);
// Pieces of the body are no larger than this either, and leave no earlier than `pace` says. `piece`
// > 0.
void KeepPace(Delivery& delivery, std::uint64_t piece,
              std::function<MonotonicTime(std::uint64_t bytes, MonotonicTime now)> pace);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_DELIVERY_H_
