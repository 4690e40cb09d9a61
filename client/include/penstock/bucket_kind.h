// The kind of a bucket, from its name.
#ifndef PENSTOCK_BUCKET_KIND_H_
#define PENSTOCK_BUCKET_KIND_H_

#include <string_view>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// Returns whether `bucket` names a directory bucket (S3 Express One Zone) or an access point of
// one: `base--zone--x-s3`, `name--zone--xa-s3`. Only the suffix is checked, as in S3 and the AWS
// SDKs. The rest of the name may be invalid.
inline bool IsDirectoryBucket(std::string_view bucket) {
  return bucket.ends_with("--x-s3") || bucket.ends_with("--xa-s3");
}

}  // namespace penstock

#endif  // PENSTOCK_BUCKET_KIND_H_
