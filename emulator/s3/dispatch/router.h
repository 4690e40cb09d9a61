// The innermost handler: implements S3's operations on a Store.
#ifndef PENSTOCK_EMULATOR_S3_DISPATCH_ROUTER_H_
#define PENSTOCK_EMULATOR_S3_DISPATCH_ROUTER_H_

#include <memory>

#include "emulator/s3/core/call.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

std::unique_ptr<Handler> MakeRouter(RouterOptions options);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DISPATCH_ROUTER_H_
