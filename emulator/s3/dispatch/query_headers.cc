#include "emulator/s3/dispatch/query_headers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "emulator/s3/core/strict.h"
#include "emulator/s3/protocol/encoded_words.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// The headers in botocore's model of S3 without the prefix, and If-Range. The two that Signature
// Version 2 covers come first.
constexpr std::string_view kPlainHeaders[] = {"content-type",
                                              "content-md5",
                                              "cache-control",
                                              "content-disposition",
                                              "content-encoding",
                                              "content-language",
                                              "expires",
                                              "if-match",
                                              "if-none-match",
                                              "if-modified-since",
                                              "if-unmodified-since",
                                              "if-range",
                                              "range"};
constexpr std::size_t kVersionTwoHeaders = 2;

bool IsPlainHeader(std::string_view name, bool version_two) {
  const auto* const end =
      version_two ? std::begin(kPlainHeaders) + kVersionTwoHeaders : std::end(kPlainHeaders);
  return std::any_of(std::begin(kPlainHeaders), end,
                     [&](std::string_view header) { return EqualsIgnoreCase(header, name); });
}

}  // namespace

Result<std::vector<QueryHeader>> HeadersInQuery(const message::RequestHead& request,
                                                const Target& target) {
  const bool version_two = target.Has("Signature") || target.Has("AWSAccessKeyId");
  std::vector<QueryHeader> headers;
  for (const QueryParameter& parameter : target.query) {
    const std::string& name = parameter.name;
    const bool plain = IsPlainHeader(name, version_two);
    if ((!plain && !IsHeaderInQuery(name)) || request.Find(name)) continue;
    std::string value(TrimBlanks(parameter.value));
    if (!HasControlCharacter(name) && name.starts_with("x-amz-meta-")) {
      value = EncodeMetadataText(value);
    } else if (HasControlCharacter(name + value)) {
      return InvalidArgument("Header value cannot be represented using ISO-8859-1.", name, value);
    } else if (plain) {
      value = Utf8ToLatin1(value).text;
    }
    headers.push_back({name, std::move(value)});
  }
  return headers;
}

}  // namespace penstock::emulator::s3
