#include "client/s3/verbs/verbs.h"

#include <string>
#include <utility>

#include "base/dates.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/write_attributes.h"

namespace penstock::s3 {
namespace {

Error UnexpectedResponse(std::string message) {
  return Error::Make(ErrorKind::kDataLoss, std::move(message));
}

std::string Show(const ByteRange& range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

void AppendOverrides(const ResponseOverrides& overrides, WireRequest& wire) {
  const auto append = [&wire](const char* name, const std::string& value) {
    if (!value.empty()) wire.query.emplace_back(name, value);
  };
  append("response-content-type", overrides.content_type);
  append("response-content-language", overrides.content_language);
  append("response-expires", overrides.expires);
  append("response-cache-control", overrides.cache_control);
  append("response-content-disposition", overrides.content_disposition);
  append("response-content-encoding", overrides.content_encoding);
}

// A partial response: its range must be the requested one, clipped to the object.
Result<ByteRange> CheckPartial(const GetObjectRequest& request, const http::ResponseHead& head,
                               ParsedObjectHead& parsed) {
  const auto text = head.Find("content-range");
  const auto sent = text ? ParseContentRange(*text) : std::nullopt;
  if (!sent) {
    return UnexpectedResponse(
        "the " + std::to_string(head.status) + " response has " +
        (text ? "Content-Range `" + std::string(*text) + "`, which is not a valid range"
              : std::string("no Content-Range")));
  }
  if (!request.range && !request.part_number)
    return UnexpectedResponse("requested the whole object, but received bytes " +
                              Show(sent->range));
  // The range of a part is known to the server only.
  const ByteRange asked = request.range ? Select(*request.range, sent->object_size) : sent->range;
  if (sent->range != asked) {
    return UnexpectedResponse("requested bytes " + Show(asked) + ", but received bytes " +
                              Show(sent->range));
  }
  parsed.metadata.size = sent->object_size;
  return asked;
}

// A 200 contains the whole object. This is also correct for a range that selects everything, and
// for the first part of an object with one part.
Result<ByteRange> CheckWhole(const GetObjectRequest& request, const http::ResponseHead& head,
                             ParsedObjectHead& parsed) {
  const auto length = ReadContentLength(head);
  if (!length)
    return UnexpectedResponse(
        "the response has no Content-Length, so its completeness cannot be checked: let the server "
        "or proxy send it, as S3 does, instead of Transfer-Encoding: chunked, or read ranges");
  parsed.metadata.size = *length;
  const ByteRange all{0, *length};
  if (request.range && Select(*request.range, *length) != all) {
    return UnexpectedResponse("requested bytes " + Show(Select(*request.range, *length)) +
                              ", but the server ignored the range and sent all " +
                              std::to_string(*length) + " bytes");
  }
  if (request.part_number && (*request.part_number > 1 || parsed.metadata.parts_count > 1)) {
    return UnexpectedResponse("requested part " + std::to_string(*request.part_number) +
                              ", but the server ignored the part number and sent all " +
                              std::to_string(*length) + " bytes");
  }
  return all;
}

// Appends what the requests for an object and for its metadata have in common.
template <class Request>
Result<void> AppendRead(const Request& request, const BuildContext& context, WireRequest& wire) {
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  if (request.part_number) {
    PENSTOCK_TRY(CheckPartNumber(*request.part_number));
    wire.query.emplace_back("partNumber", std::to_string(*request.part_number));
  }
  if (request.overrides.has_value()) AppendOverrides(*request.overrides, wire);
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  if (request.if_none_match)
    wire.headers.push_back({"If-None-Match", QuoteETag(*request.if_none_match)});
  if (request.if_modified_since) {
    wire.headers.push_back({"If-Modified-Since", FormatHttpDate(*request.if_modified_since)});
  }
  if (request.if_unmodified_since) {
    wire.headers.push_back({"If-Unmodified-Since", FormatHttpDate(*request.if_unmodified_since)});
  }
  AppendCustomerKey(request.customer_key, wire);
  if (context.verify_downloads) wire.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
  return Ok();
}

}  // namespace

Result<ParsedObjectHead> ReadObjectHead(const GetObjectRequest& request,
                                        const http::ResponseHead& head) {
  PENSTOCK_TRY(CheckHasETag(head));
  ParsedObjectHead parsed;
  parsed.metadata = ReadMetadata(head);
  if (request.if_match && request.if_match->value != "*" &&
      parsed.metadata.etag != *request.if_match) {
    return UnexpectedResponse("requested the object with ETag " + request.if_match->value +
                              ", but received one with ETag " + parsed.metadata.etag.value);
  }
  // Some compatible servers respond to a range request with 200 and give the range in
  // Content-Range.
  const bool partial = head.status == 206 || (request.range && head.Find("content-range"));
  PENSTOCK_ASSIGN(const ByteRange range, partial ? CheckPartial(request, head, parsed)
                                                 : CheckWhole(request, head, parsed));
  parsed.metadata.range = range;
  parsed.body_length = range.size();
  parsed.whole_object = range.size() == parsed.metadata.size;
  // S3 then returns the checksums of the part.
  if (request.part_number && !parsed.whole_object) parsed.metadata.checksums.clear();
  const auto length = ReadContentLength(head);
  if (length && *length != parsed.body_length) {
    return UnexpectedResponse("Content-Length is " + std::to_string(*length) +
                              ", but the Content-Range has " + std::to_string(parsed.body_length) +
                              " bytes");
  }
  return parsed;
}

Result<WireRequest> BuildRequest(const GetObjectRequest& request, const BuildContext& context) {
  if (request.sink == nullptr && !context.presigned)
    return InvalidRequest("GetObject needs a sink for the bytes");
  if (request.range && request.part_number)
    return InvalidRequest("GetObject takes either a range or a part number, not both");
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kGetObject, request.bucket, request.key, context));
  if (request.range) {
    PENSTOCK_ASSIGN(std::string range, FormatRange(*request.range));
    wire.headers.push_back({"Range", std::move(range)});
  }
  PENSTOCK_TRY(AppendRead(request, context, wire));
  return wire;
}

Result<ObjectMetadata> ParseResponse(const GetObjectRequest& request,
                                     const WireResponse& response) {
  PENSTOCK_ASSIGN(ParsedObjectHead parsed, ReadObjectHead(request, response.head));
  return std::move(parsed.metadata);
}

Result<WireRequest> BuildRequest(const HeadObjectRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kHeadObject, request.bucket, request.key, context));
  PENSTOCK_TRY(AppendRead(request, context, wire));
  return wire;
}

Result<ObjectMetadata> ParseResponse(const HeadObjectRequest& request,
                                     const WireResponse& response) {
  PENSTOCK_TRY(CheckHasETag(response.head));
  ObjectMetadata metadata = ReadMetadata(response.head);
  if (response.head.status == 206) {
    const auto text = response.head.Find("content-range");
    const auto range = text ? ParseContentRange(*text) : std::nullopt;
    if (!range || !request.part_number)
      return UnexpectedResponse("the 206 response has no valid Content-Range of a part");
    metadata.size = range->object_size;
    metadata.range = range->range;
    if (metadata.range.size() != metadata.size) metadata.checksums.clear();
    return metadata;
  }
  const auto length = ReadContentLength(response.head);
  if (!length) {
    return Error::Make(ErrorKind::kUnavailable,
                       "the response has no Content-Length, so the object's size is unknown");
  }
  metadata.size = *length;
  metadata.range = {0, *length};
  return metadata;
}

}  // namespace penstock::s3
