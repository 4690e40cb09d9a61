// Parses S3's success documents: checks the root, decodes listed names, reads numbers and dates.
#ifndef PENSTOCK_CLIENT_S3_VERBS_DOCUMENT_H_
#define PENSTOCK_CLIENT_S3_VERBS_DOCUMENT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

inline constexpr std::string_view kXmlNamespace =
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

// Returns the document of a success. A root <Error> returns that error: the operation failed after
// S3 sent the 200. An empty or unreadable body is kUnavailable, which is retried. Another root, or
// text that is not markup, is kUnsupported (IsNotFromS3). `also`: another accepted root name, sent
// by some S3-compatible servers.
Result<XmlDocument> ReadDocument(const WireResponse& response, std::string_view root,
                                 std::string_view also = {});

// As ReadDocument, for a response that repeats the key of its request. A reference to NUL in the
// key is accepted.
Result<XmlDocument> ReadDocumentWithKey(const WireResponse& response, std::string_view root,
                                        std::string_view also = {});

// For documents that are returned as received, with any root. The body must be a whole document. A
// root <Error> returns that error. Text that is not XML, an HTML page, or the listing of a service
// that does not know the sub-resource, is kUnsupported (IsNotFromS3).
Result<void> CheckAnyDocument(const WireResponse& response);

// For operations whose success has no document. The body may be empty, white space or a document of
// a compatible server. A root <Error> returns that error. Text that is not XML, or an HTML page, is
// kUnsupported (IsNotFromS3).
Result<void> CheckNoDocument(const WireResponse& response);

// Returns kUnavailable: the response should contain a document with that root. `why`: the reason in
// the message, for example "it is empty".
Error UnreadableDocument(const WireResponse& response, std::string_view root, std::string_view why);

// Returns whether a success response did not come from S3, but from a proxy, a web server, or a
// service that does not support the operation.
bool IsNotFromS3(const Error& error);

// Checks that the response for an object has an ETag. Without one it returns kUnsupported
// (IsNotFromS3), or kUnavailable if the head may be incomplete.
Result<void> CheckHasETag(const http::ResponseHead& head);
// The same for a document whose <ETag> is `etag`.
Result<void> CheckHasETag(const WireResponse& response, const ETag& etag);

// Parses the text of an element as a number. Returns kUnavailable with the element's name if it is
// not one.
Result<std::uint64_t> ParseNumber(std::string_view name, std::string_view text);

// Parses a child's text as a number. Returns kUnavailable with the element's name if it is missing
// or not a number.
Result<std::uint64_t> ReadNumber(const XmlElement& parent, std::string_view name);

// Returns whether a child's text is "true".
bool ReadFlag(const XmlElement& parent, std::string_view name);

// Returns a child's ISO 8601 time, or the epoch if it is missing or malformed. No caller depends on
// it for correctness.
WallTime ReadTime(const XmlElement& parent, std::string_view name);

// Decodes a URL-encoded name of a listing in place; '+' and %20 are spaces. Returns kUnavailable if
// it is not URL-encoded.
Result<void> DecodeName(std::string& name);

// Decodes names of a listing if it declares <EncodingType>url</EncodingType>.
class NameDecoder {
 public:
  explicit NameDecoder(const XmlElement& root);
  // Returns kUnavailable if the text is not encoded as the document declares.
  Result<std::string> Decode(std::string text) const;

 private:
  bool url_encoded_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_DOCUMENT_H_
