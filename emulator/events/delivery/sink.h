// Receivers of events.
#ifndef PENSTOCK_EMULATOR_EVENTS_DELIVERY_SINK_H_
#define PENSTOCK_EMULATOR_EVENTS_DELIVERY_SINK_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "emulator/store/records/records.h"
#include "penstock/base/result.h"

namespace penstock::emulator::events {

class Sink {
 public:
  virtual ~Sink() = default;
  // The largest number of events of the next call of Send. The thread that sends.
  virtual std::size_t most() const = 0;
  // Sends events of a namespace in their order, and returns when the receiver has acknowledged all
  // of them. After an error the caller sends all of them again. One thread.
  virtual Result<void> Send(std::string_view name_space,
                            std::span<const store::StoredEvent> events) = 0;
  // Any thread: ends a call of Send that is in progress. May be called repeatedly. Later calls of
  // Send fail.
  virtual void Cancel() = 0;
};

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_DELIVERY_SINK_H_
