#include "emulator/faults/request_work.h"

#include "emulator/api/operation_traits.h"

namespace penstock::emulator::faults {

throttle::Work WorkOf(const api::Exchange& exchange) {
  switch (api::TraitsOf(exchange).access) {
    case api::Access::kList: return throttle::Work::kList;
    case api::Access::kWrite: return throttle::Work::kWrite;
    case api::Access::kRead: break;
  }
  return exchange.request.method == "HEAD" ? throttle::Work::kHead : throttle::Work::kGet;
}

}  // namespace penstock::emulator::faults
