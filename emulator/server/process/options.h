// Fills in and checks EmulatorOptions before anything is opened.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_OPTIONS_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_OPTIONS_H_

#include <string>

#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Adds the default access key if neither keys nor users are given. kInvalidArgument names the
// option, its value and the allowed values.
Result<EmulatorOptions> CheckedOptions(EmulatorOptions options);

// Returns the URL for clients on this machine of a listener bound to `host`:
// "http://127.0.0.1:9000".
std::string EndpointUrl(const std::string& scheme, const std::string& host, int port);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_OPTIONS_H_
