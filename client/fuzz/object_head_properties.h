// Properties of the readers of an object's response headers, for any response head.
#ifndef PENSTOCK_CLIENT_FUZZ_OBJECT_HEAD_PROPERTIES_H_
#define PENSTOCK_CLIENT_FUZZ_OBJECT_HEAD_PROPERTIES_H_

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/dates.h"
#include "client/http/exchange/head_parser.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/verbs.h"
#include "penstock/base/check.h"

namespace penstock::s3 {

inline std::string_view TakeLine(std::string_view& input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view line = input.substr(0, end);
  input.remove_prefix(std::min(end + 1, input.size()));
  return line;
}

// Formatting a parsed date and parsing it again returns the same second, in every form. gmtime_r
// agrees.
inline void CheckDate(std::string_view text) {
  for (const auto parse : {ParseHttpDate, ParseIso8601, ParseAmzDate}) {
    const std::optional<WallTime> time = parse(text);
    if (!time) continue;
    const WallTime second = std::chrono::floor<std::chrono::seconds>(*time);
    PENSTOCK_CHECK(ParseHttpDate(FormatHttpDate(*time)) == second);
    PENSTOCK_CHECK(ParseAmzDate(FormatAmzDate(*time)) == second);
    PENSTOCK_CHECK(ParseIso8601(FormatIso8601(*time)) ==
                   std::chrono::floor<std::chrono::milliseconds>(*time));
    const std::time_t count =
        std::chrono::duration_cast<std::chrono::seconds>(second.time_since_epoch()).count();
    std::tm fields{};
    PENSTOCK_CHECK(::gmtime_r(&count, &fields) != nullptr);
    char expected[32];
    PENSTOCK_CHECK(std::strftime(expected, sizeof expected, "%Y%m%dT%H%M%SZ", &fields) == 16);
    PENSTOCK_CHECK(FormatAmzDate(*time) == expected);
  }
}

inline void CheckContentRange(std::string_view text) {
  const std::optional<ContentRange> range = ParseContentRange(text);
  if (!range) return;
  PENSTOCK_CHECK(range->range.begin < range->range.end && range->range.end <= range->object_size);
  const std::string written = "bytes " + std::to_string(range->range.begin) + "-" +
                              std::to_string(range->range.end - 1) + "/" +
                              std::to_string(range->object_size);
  const std::optional<ContentRange> again = ParseContentRange(written);
  PENSTOCK_CHECK(again && again->range == range->range && again->object_size == range->object_size);
}

// Returns nullopt for the whole object.
inline std::optional<RangeRequest> RangeOf(std::string_view line) {
  const auto number = [&line]() -> std::optional<std::uint64_t> {
    std::optional<std::uint64_t> value;
    while (!line.empty() && line.front() >= '0' && line.front() <= '9') {
      if (value.value_or(0) > std::numeric_limits<std::uint64_t>::max() / 10 - 1)
        return std::nullopt;
      value = value.value_or(0) * 10 + static_cast<std::uint64_t>(line.front() - '0');
      line.remove_prefix(1);
    }
    return value;
  };
  RangeRequest range;
  range.begin = number();
  if (!line.starts_with('-')) return std::nullopt;
  line.remove_prefix(1);
  (range.begin ? range.end : range.suffix) = number();
  return range;
}

// An accepted response has exactly the requested range, clipped to the object, and the announced
// length.
inline void CheckParsedHead(const GetObjectRequest& request, const http::ResponseHead& head) {
  const Result<ParsedObjectHead> parsed = ReadObjectHead(request, head);
  if (!parsed.ok()) {
    PENSTOCK_CHECK(!parsed.error().message.empty());
    return;
  }
  const std::uint64_t size = parsed->metadata.size;
  const ByteRange wanted = request.range ? Select(*request.range, size) : ByteRange{0, size};
  PENSTOCK_CHECK(wanted.begin <= wanted.end && wanted.end <= size &&
                 parsed->body_length == wanted.size());
  PENSTOCK_CHECK(parsed->whole_object == (parsed->body_length == size));
  const auto length = ReadContentLength(head);
  PENSTOCK_CHECK(!length || *length == parsed->body_length);
  if (request.if_match) PENSTOCK_CHECK(parsed->metadata.etag == *request.if_match);
  PENSTOCK_CHECK(ReadETag(QuoteETag(parsed->metadata.etag)) == parsed->metadata.etag ||
                 parsed->metadata.etag.value == "*");
}

// Input: a line with the requested range ("5-10", "5-", "-3"; anything else requests the whole
// object), then the response head.
inline void CheckObjectHead(std::string_view input) {
  GetObjectRequest request;
  request.range = RangeOf(TakeLine(input));
  if (request.range && !FormatRange(*request.range).ok()) request.range.reset();
  http::HeadParser parser;
  while (!input.empty() && !parser.complete()) {
    if (!parser.Add(TakeLine(input)).ok()) return;
  }
  const http::ResponseHead& head = parser.head();
  for (const http::Header& header : head.headers) {
    CheckDate(header.value);
    CheckContentRange(header.value);
  }
  CheckParsedHead(request, head);
  request.if_match = ETag("e");
  CheckParsedHead(request, head);
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_FUZZ_OBJECT_HEAD_PROPERTIES_H_
