// The first filter: determines the request's target, operation and namespace, and counts its
// response.
#ifndef PENSTOCK_EMULATOR_SERVER_FRONT_H_
#define PENSTOCK_EMULATOR_SERVER_FRONT_H_

#include <memory>

#include "emulator/auth/auth.h"
#include "emulator/s3/core/filter_chain.h"
#include "emulator/server/process/counters.h"

namespace penstock::emulator::server {

struct FrontOptions {
  s3::HostRules hosts;
  // Uses the namespace of the claimed access key, verified or not: faults and limits apply before
  // authentication, and the namespace's journal includes refused requests. False: always the
  // default namespace.
  bool by_claim = true;
  message::Handler* aliases = nullptr;  // handles IsAdminAlias requests; null: they are not special
};

// Rejects a target that cannot be parsed. All arguments must outlive the filter.
std::unique_ptr<s3::Filter> MakeFront(FrontOptions options, const auth::Directory& directory,
                                      Counters& counters);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_FRONT_H_
