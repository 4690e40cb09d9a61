// `penstock-emulator health`: asks a running emulator whether it serves, without another client.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_HEALTH_COMMAND_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_HEALTH_COMMAND_H_

#include <string>
#include <vector>

namespace penstock::emulator::server {

struct HealthOutcome {
  int status = 0;     // 0: healthy, 1: not healthy, 2: wrong usage
  std::string out;    // for standard output
  std::string error;  // for standard error; one line
};

// `arguments`: the arguments after "health". A connection, and each read, may take 5 s.
HealthOutcome RunHealth(const std::vector<std::string>& arguments);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_HEALTH_COMMAND_H_
