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
  bool takes_body = false;   // False: the request body is not read.
  bool stores_body = false;  // The request body has the data of an object or a part.
  // May replace the current object of the key in its target. False for PostObject: its key is in
  // the form, which is read later.
  bool overwrites = false;
  bool shows_objects = false;  // Returns data, attributes or names of current objects.
  bool is_multipart = false;   // An operation of a multipart upload.
};

// Returns nullptr if the operation has no row: the table has the operations on objects, parts and
// lists.
const OperationTraits* FindTraits(std::string_view operation);

// `operation`: the result of OperationName. If it is empty or has no row, the method decides.
OperationTraits TraitsOf(std::string_view operation, std::string_view method);
OperationTraits TraitsOf(const Exchange& exchange);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_OPERATION_TRAITS_H_
