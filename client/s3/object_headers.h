// The headers that describe an object, in both directions: ETags, metadata, ranges, checksums.
#ifndef PENSTOCK_CLIENT_S3_OBJECT_HEADERS_H_
#define PENSTOCK_CLIENT_S3_OBJECT_HEADERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/http/transport.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

// Without the surrounding quotes, whether S3 sent them or not.
ETag ReadETag(std::string_view text);
// With quotes; "*" stays bare.
std::string QuoteETag(const ETag& etag);

// Content-Type, storage class and x-amz-meta-*. kInvalidArgument naming the entry when a name is no
// header token, a value has anything but printable ASCII (S3 would hand it back encoded), or names
// and values exceed 2 KB together.
Result<void> AppendAttributes(const ObjectAttributes& attributes,
                              std::vector<http::Header>& headers);

// Everything an answer says about the object, but its size.
ObjectMetadata ReadMetadata(const http::ResponseHead& head);

std::optional<std::uint64_t> ReadContentLength(const http::ResponseHead& head);

// "bytes first-last/size".
struct ContentRange {
  ByteRange range;
  std::uint64_t object_size = 0;
};
std::optional<ContentRange> ParseContentRange(std::string_view text);

// "bytes=first-last", "bytes=first-" or "bytes=-count". kInvalidArgument when the range is empty or
// contradicts itself.
Result<std::string> FormatRange(const RangeRequest& range);

// What `range` selects of an object of `object_size` bytes; empty when it begins at or beyond the
// end.
ByteRange Select(const RangeRequest& range, std::uint64_t object_size);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_OBJECT_HEADERS_H_
