// What auth, faults and limits must know of an operation before it runs. One table, so that they
// agree.
#ifndef PENSTOCK_EMULATOR_S3_CORE_OPERATION_TRAITS_H_
#define PENSTOCK_EMULATOR_S3_CORE_OPERATION_TRAITS_H_

#include <cstdint>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

enum class Access : std::uint8_t {
  kRead,   // one object or document
  kList,   // a page of buckets, objects, versions, uploads or parts
  kWrite,  // changes something
};

struct OperationTraits {
  Access access;
  bool takes_body;  // false: a body that a client sends is not read
};

// `operation`: what OperationName gives; where it is empty or has no row of its own, the method
// decides.
OperationTraits TraitsOf(std::string_view operation, std::string_view method);
OperationTraits TraitsOf(const Exchange& exchange);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_OPERATION_TRAITS_H_
