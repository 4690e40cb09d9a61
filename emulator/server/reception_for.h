// What the wire is told of a connection that met faults.
#ifndef PENSTOCK_EMULATOR_SERVER_RECEPTION_FOR_H_
#define PENSTOCK_EMULATOR_SERVER_RECEPTION_FOR_H_

#include "emulator/faults/actions/accept_faults.h"
#include "emulator/http/reception.h"

namespace penstock::emulator::server {

http::Reception ReceptionFor(const faults::Greeting& greeting);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_RECEPTION_FOR_H_
