// What bucket names tell, and what can stand where in a host name (spec/protocol.md §1.1, §4.2).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_NAME_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_NAME_H_

#include <string_view>

namespace penstock::s3 {

enum class Dots { kRefused, kAllowed };

// 1 to 63 letters, digits and hyphens, none of them at an end. With dots allowed, each label is
// one.
bool IsHostLabel(std::string_view text, Dots dots = Dots::kRefused);

// 3 to 63 lower-case letters, digits and hyphens per label, not shaped like an IPv4 address.
bool IsVirtualHostable(std::string_view bucket, Dots dots);

// The id of a directory bucket's zone, "usw2-az1"; empty where the name has none or is not a
// directory bucket's. AWS's rule: the lengths 8, 9, 13, 14 and 20 are tried in this order, and "--"
// must stand before it.
std::string_view ZoneOfBucket(std::string_view bucket);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_NAME_H_
