// The headers that describe an object, for requests and responses: ETags, metadata, ranges,
// checksums.
#ifndef PENSTOCK_CLIENT_S3_VERBS_OBJECT_HEADERS_H_
#define PENSTOCK_CLIENT_S3_VERBS_OBJECT_HEADERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/http/transport.h"
#include "penstock/base/result.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

// Returns the ETag without surrounding quotes, if there are any.
ETag ReadETag(std::string_view text);
// Adds quotes; "*" stays unquoted.
std::string QuoteETag(const ETag& etag);

// Parses x-amz-server-side-encryption.
EncryptionKind ReadEncryption(std::string_view value);

// Returns everything that a response says about the object, except its size and range.
ObjectMetadata ReadMetadata(const http::ResponseHead& head);

// Returns x-amz-version-id. Empty: the bucket is not versioned.
VersionId ReadVersionId(const http::ResponseHead& head);

std::optional<std::uint64_t> ReadContentLength(const http::ResponseHead& head);

// "bytes first-last/size".
struct ContentRange {
  ByteRange range;
  std::uint64_t object_size = 0;
};
std::optional<ContentRange> ParseContentRange(std::string_view text);

// Returns "bytes=first-last", "bytes=first-" or "bytes=-count". Returns kInvalidArgument if the
// range is empty or contradictory.
Result<std::string> FormatRange(const RangeRequest& range);

// Returns the part of an object of `object_size` bytes that `range` selects. Empty if it starts at
// or beyond the end.
ByteRange Select(const RangeRequest& range, std::uint64_t object_size);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_OBJECT_HEADERS_H_
