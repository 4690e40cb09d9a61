// The response-* query parameters of GetObject and HeadObject.
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_OVERRIDES_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_OVERRIDES_H_

#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Returns the headers that replace the stored ones: name and ISO-8859-1 value.
Result<store::Attributes> ReadOverrides(const Call& call);

// Refuses these parameters in anonymous requests. Checked before authorization.
Result<void> RefuseAnonymousOverrides(const Call& call);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_OVERRIDES_H_
