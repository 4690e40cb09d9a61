// EmulatorOptions: defaults filled in and values checked, before anything is opened.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_OPTIONS_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_OPTIONS_H_

#include <string>

#include "penstock/emulator.h"

namespace penstock::emulator::server {

// The options with the default access key where neither keys nor users are given. kInvalidArgument
// naming the option, its value and what it takes.
Result<EmulatorOptions> CheckedOptions(EmulatorOptions options);

// "http://127.0.0.1:9000": where a client on this machine reaches a listener bound to `host`.
std::string EndpointUrl(const std::string& scheme, const std::string& host, int port);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_OPTIONS_H_
