// What an error of S3 reports as missing.
#ifndef PENSTOCK_BASE_MISSING_H_
#define PENSTOCK_BASE_MISSING_H_

#include "penstock/base/error.h"

namespace penstock {

// Returns whether the code says that the object does not exist. S3's response to a HEAD request has
// no code, so test the kind of such an error instead.
inline bool IsMissingKey(const Error& error) { return error.code == "NoSuchKey"; }

// Returns whether the code says that the bucket does not exist.
inline bool IsMissingBucket(const Error& error) { return error.code == "NoSuchBucket"; }

}  // namespace penstock

#endif  // PENSTOCK_BASE_MISSING_H_
