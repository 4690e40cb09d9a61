// The response-* query parameters of GetObject and HeadObject (spec/protocol.md §2.6 "Response
// overrides").
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_OVERRIDES_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_OVERRIDES_H_

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Headers that replace the stored ones: name and ISO-8859-1 value.
Result<store::Attributes> ReadOverrides(const Call& call);

// An anonymous request may carry none. Asked before anybody looks whether it may read the object at
// all.
Result<void> RefuseAnonymousOverrides(const Call& call);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_OVERRIDES_H_
