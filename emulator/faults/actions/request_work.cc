#include "emulator/faults/actions/request_work.h"

#include "emulator/s3/core/operation_traits.h"

namespace penstock::emulator::faults {

traffic::Work WorkOf(const s3::Exchange& exchange) {
  switch (s3::TraitsOf(exchange).access) {
    case s3::Access::kList: return traffic::Work::kList;
    case s3::Access::kWrite: return traffic::Work::kWrite;
    case s3::Access::kRead: break;
  }
  return exchange.request.method == "HEAD" ? traffic::Work::kHead : traffic::Work::kGet;
}

}  // namespace penstock::emulator::faults
