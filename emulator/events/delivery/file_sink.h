// A sink that appends each message as one line of JSON to a file.
#ifndef PENSTOCK_EMULATOR_EVENTS_DELIVERY_FILE_SINK_H_
#define PENSTOCK_EMULATOR_EVENTS_DELIVERY_FILE_SINK_H_

#include <memory>
#include <string>

#include "emulator/events/delivery/sink.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::events {

// Creates the file with mode 0600. It is opened for every call of Send, so it may be moved or
// deleted meanwhile. While lines are appended it is locked by flock(2), so that several sinks and
// processes may name it. On a full disk the largest batch halves down to one line. kStrict: lines
// are on disk before they are acknowledged. Returns kInvalidArgument if the file cannot be opened
// or is not a regular file.
Result<std::unique_ptr<Sink>> OpenFileSink(const std::string& path, store::Durability durability);

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_DELIVERY_FILE_SINK_H_
