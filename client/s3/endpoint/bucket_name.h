// Properties of bucket names, and which names are valid in host names ("Bucket naming rules",
// Amazon S3 User Guide).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_NAME_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_NAME_H_

#include <string_view>

namespace penstock::s3 {

enum class Dots { kRefused, kAllowed };

// Returns whether `text` is 1 to 63 letters, digits and hyphens without a hyphen at either end.
// With dots allowed, each label must be.
bool IsHostLabel(std::string_view text, Dots dots = Dots::kRefused);

// Returns whether each label is lower case and the whole has 3 to 63 characters and does not look
// like an IPv4 address.
bool IsVirtualHostable(std::string_view bucket, Dots dots);

// Returns the zone id of a directory bucket, for example "usw2-az1". Empty if the name has no zone
// id or is not a directory bucket's. As in AWS's endpoint rule set, the lengths 8, 9, 13, 14 and 20
// are tried in this order, and "--" must precede the id.
std::string_view ZoneOfBucket(std::string_view bucket);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_NAME_H_
