// `penstock-emulator health`: asks a running emulator whether it serves, without another client.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_HEALTH_COMMAND_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_HEALTH_COMMAND_H_

#include <string>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

// `arguments`: the arguments after "health". Returns a text for standard output. Returns
// kInvalidArgument for wrong usage, and kUnavailable if no emulator responds: a connection, and
// each read, may take 5 s.
Result<std::string> RunHealth(const std::vector<std::string>& arguments);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_HEALTH_COMMAND_H_
