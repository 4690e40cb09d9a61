// What a bucket's name tells of its kind.
#ifndef PENSTOCK_BUCKET_KIND_H_
#define PENSTOCK_BUCKET_KIND_H_

#include <string_view>

namespace penstock {

// A directory bucket (S3 Express One Zone) or an access point of one: `base--zone--x-s3`,
// `name--zone--xa-s3`. By the suffix alone, as S3 and the SDKs tell them; whether the rest of the
// name is valid is another question.
inline bool IsDirectoryBucket(std::string_view bucket) {
  return bucket.ends_with("--x-s3") || bucket.ends_with("--xa-s3");
}

}  // namespace penstock

#endif  // PENSTOCK_BUCKET_KIND_H_
