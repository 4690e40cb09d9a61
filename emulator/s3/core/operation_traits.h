// Properties of operations that authentication, faults and limits need before the operation runs.
// They share this table so that they agree.
#ifndef PENSTOCK_EMULATOR_S3_CORE_OPERATION_TRAITS_H_
#define PENSTOCK_EMULATOR_S3_CORE_OPERATION_TRAITS_H_

#include <cstdint>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

enum class Access : std::uint8_t {
  kRead,   // One object or document.
  kList,   // A page of buckets, objects, versions, uploads or parts.
  kWrite,  // Changes something.
};

struct OperationTraits {
  Access access;
  bool takes_body;  // False: the request body is not read.
};

// `operation`: the result of OperationName. If it is empty or has no row, the method decides.
OperationTraits TraitsOf(std::string_view operation, std::string_view method);
OperationTraits TraitsOf(const Exchange& exchange);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_OPERATION_TRAITS_H_
