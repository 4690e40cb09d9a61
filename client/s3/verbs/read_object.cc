#include "client/s3/verbs/verbs.h"

#include <string>
#include <utility>

#include "client/s3/verbs/document.h"
#include "client/s3/verbs/object_headers.h"
#include "client/s3/verbs/request_start.h"

namespace penstock::s3 {
namespace {

Error UnexpectedResponse(std::string message) {
  return Error::Make(ErrorKind::kDataLoss, std::move(message));
}

std::string Show(const ByteRange& range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

// A partial response: its range must be the requested one, clipped to the object.
Result<ByteRange> CheckPartial(const GetObjectRequest& request, const http::ResponseHead& head,
                               ObjectAnswer& answer) {
  const auto text = head.Find("content-range");
  const auto sent = text ? ParseContentRange(*text) : std::nullopt;
  if (!sent) {
    return UnexpectedResponse(
        "the " + std::to_string(head.status) + " response has " +
        (text ? "Content-Range `" + std::string(*text) + "`, which is not a valid range"
              : std::string("no Content-Range")));
  }
  if (!request.range)
    return UnexpectedResponse("requested the whole object, but received bytes " +
                              Show(sent->range));
  const ByteRange asked = Select(*request.range, sent->object_size);
  if (sent->range != asked) {
    return UnexpectedResponse("requested bytes " + Show(asked) + ", but received bytes " +
                              Show(sent->range));
  }
  answer.metadata.size = sent->object_size;
  return asked;
}

// A 200 contains the whole object. This is also correct for a range that selects everything.
Result<ByteRange> CheckWhole(const GetObjectRequest& request, const http::ResponseHead& head,
                             ObjectAnswer& answer) {
  const auto length = ReadContentLength(head);
  if (!length)
    return UnexpectedResponse(
        "the response has no Content-Length, so its completeness cannot be checked: let the server "
        "or proxy send it, as S3 does, instead of Transfer-Encoding: chunked, or read ranges");
  answer.metadata.size = *length;
  const ByteRange all{0, *length};
  if (request.range && Select(*request.range, *length) != all) {
    return UnexpectedResponse("requested bytes " + Show(Select(*request.range, *length)) +
                              ", but the server ignored the range and sent all " +
                              std::to_string(*length) + " bytes");
  }
  return all;
}

}  // namespace

Result<ObjectAnswer> ReadObjectHead(const GetObjectRequest& request,
                                    const http::ResponseHead& head) {
  PENSTOCK_TRY(CheckNamesObject(head));
  ObjectAnswer answer;
  answer.metadata = ReadMetadata(head);
  if (request.if_match && request.if_match->value != "*" &&
      answer.metadata.etag != *request.if_match) {
    return UnexpectedResponse("requested the object with ETag " + request.if_match->value +
                              ", but received one with ETag " + answer.metadata.etag.value);
  }
  // Some compatible servers answer a range request with 200 and give the range in Content-Range.
  const bool partial = head.status == 206 || (request.range && head.Find("content-range"));
  PENSTOCK_ASSIGN(const ByteRange range, partial ? CheckPartial(request, head, answer)
                                                 : CheckWhole(request, head, answer));
  answer.body_length = range.size();
  answer.whole_object = range.size() == answer.metadata.size;
  const auto length = ReadContentLength(head);
  if (length && *length != answer.body_length) {
    return UnexpectedResponse("Content-Length is " + std::to_string(*length) +
                              ", but the Content-Range has " + std::to_string(answer.body_length) +
                              " bytes");
  }
  return answer;
}

Result<WireRequest> BuildRequest(const GetObjectRequest& request, const BuildContext& context) {
  if (request.sink == nullptr) return InvalidRequest("GetObject needs a sink for the bytes");
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kGetObject, request.bucket, request.key, context));
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  if (request.range) {
    PENSTOCK_ASSIGN(std::string range, FormatRange(*request.range));
    wire.headers.push_back({"Range", std::move(range)});
  }
  if (request.if_match) wire.headers.push_back({"If-Match", QuoteETag(*request.if_match)});
  if (context.verify_downloads) wire.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
  return wire;
}

Result<ObjectMetadata> ParseResponse(const GetObjectRequest& request,
                                     const WireResponse& response) {
  PENSTOCK_ASSIGN(ObjectAnswer answer, ReadObjectHead(request, response.head));
  return std::move(answer.metadata);
}

Result<WireRequest> BuildRequest(const HeadObjectRequest& request, const BuildContext& context) {
  PENSTOCK_ASSIGN(WireRequest wire,
                  StartObjectRequest(Operation::kHeadObject, request.bucket, request.key, context));
  if (!request.version_id.empty()) wire.query.emplace_back("versionId", request.version_id.value);
  if (context.verify_downloads) wire.headers.push_back({"x-amz-checksum-mode", "ENABLED"});
  return wire;
}

Result<ObjectMetadata> ParseResponse(const HeadObjectRequest&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNamesObject(response.head));
  ObjectMetadata metadata = ReadMetadata(response.head);
  const auto length = ReadContentLength(response.head);
  if (!length) {
    return Error::Make(ErrorKind::kUnavailable,
                       "the response has no Content-Length, so the object's size is unknown");
  }
  metadata.size = *length;
  return metadata;
}

}  // namespace penstock::s3
