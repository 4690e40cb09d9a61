// Reports to a service manager such as systemd.
#ifndef PENSTOCK_EMULATOR_SERVER_PROCESS_SERVICE_MANAGER_H_
#define PENSTOCK_EMULATOR_SERVER_PROCESS_SERVICE_MANAGER_H_

#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Sends READY=1 to a datagram socket, as sd_notify(3) does. `address`: the value of NOTIFY_SOCKET,
// a path or "@" and the name of an abstract socket. Returns an error if nothing receives it.
Result<void> NotifyReady(const std::string& address);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_PROCESS_SERVICE_MANAGER_H_
