// The outermost Handler: names the request's target and operation, and counts its answer.
#ifndef PENSTOCK_EMULATOR_SERVER_FRONT_H_
#define PENSTOCK_EMULATOR_SERVER_FRONT_H_

#include <memory>

#include "emulator/auth/auth.h"
#include "emulator/server/counters.h"

namespace penstock::emulator::server {

// Everything passed outlives the handler. `aliases` answers what IsAdminAlias names; null: nobody does. A target that cannot be parsed stays empty; auth refuses it.
std::unique_ptr<api::Handler> MakeFront(api::HostRules hosts, const auth::Directory& directory, Counters& counters,
                                        api::Handler* aliases, api::Handler& next);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_FRONT_H_
