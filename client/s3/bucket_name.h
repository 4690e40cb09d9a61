// What can stand where in a host name (spec/protocol.md §4.2).
#ifndef PENSTOCK_CLIENT_S3_BUCKET_NAME_H_
#define PENSTOCK_CLIENT_S3_BUCKET_NAME_H_

#include <string_view>

namespace penstock::s3 {

enum class Dots { kRefused, kAllowed };

// 1 to 63 letters, digits and hyphens, none of them at an end. With dots allowed, each label is one.
bool IsHostLabel(std::string_view text, Dots dots = Dots::kRefused);

// 3 to 63 lower-case letters, digits and hyphens per label, not shaped like an IPv4 address.
bool IsVirtualHostable(std::string_view bucket, Dots dots);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_BUCKET_NAME_H_
