// Server-sent events with the state of the emulator and of one namespace, for pages that show it.
//
// Events are made while a client is connected, on the threads of the listener. No thread waits
// between them.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_LIVE_STREAM_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_LIVE_STREAM_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "emulator/message/text_stream.h"
#include "penstock/base/result.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Whether requests of a namespace are changed.
struct NamespaceActivity {
  bool limits = false;
  bool faults = false;  // a scenario or a retry test
};
// kNotFound: an unknown namespace.
using ActivityOf = std::function<Result<NamespaceActivity>(const std::string& name_space)>;

// Returns one event: a line of JSON with its prefix and the empty line after it.
Result<std::string> LiveEvent(const Emulator& emulator, const ActivityOf& activity_of,
                              const std::string& name_space);

// Ends when the namespace is deleted or the emulator stops. `place` lives as long as the stream.
// `emulator` must outlive it.
std::unique_ptr<message::TextStream> MakeLiveStream(const Emulator& emulator,
                                                    ActivityOf activity_of, std::string name_space,
                                                    std::chrono::milliseconds interval,
                                                    std::shared_ptr<void> place);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_LIVE_STREAM_H_
