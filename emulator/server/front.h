// The outermost Handler: names the request's target, operation and namespace, and counts its
// answer.
#ifndef PENSTOCK_EMULATOR_SERVER_FRONT_H_
#define PENSTOCK_EMULATOR_SERVER_FRONT_H_

#include <memory>

#include "emulator/auth/auth.h"
#include "emulator/server/process/counters.h"

namespace penstock::emulator::server {

struct FrontOptions {
  s3::HostRules hosts;
  // The namespace is that of the key that a request claims, verified or not: faults and limits meet
  // it before auth does, and its journal has what auth refuses. False: the default one, whatever is
  // claimed.
  bool by_claim = true;
  s3::Handler* aliases = nullptr;  // answers what IsAdminAlias names; null: nobody does
};

// Everything passed outlives the handler. A target that cannot be parsed stays empty; auth refuses
// it.
std::unique_ptr<s3::Handler> MakeFront(FrontOptions options, const auth::Directory& directory,
                                       Counters& counters, s3::Handler& next);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_FRONT_H_
