// Reading S3's success documents: the root checked, listed names decoded, numbers and dates taken
// out.
#ifndef PENSTOCK_CLIENT_S3_DOCUMENT_H_
#define PENSTOCK_CLIENT_S3_DOCUMENT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "client/s3/wire.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

inline constexpr std::string_view kXmlNamespace =
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

// The document of a success. A root <Error> is that error (a failure after the 200 went out); an
// empty or unreadable body is kUnavailable: S3 did not mean it, ask again (spec/protocol.md §5).
// Another root, or no markup at all, is kUnsupported (IsOfNoS3). `also` is a name of the root that
// compatible servers use instead.
Result<XmlDocument> ReadDocument(const WireResponse& response, std::string_view root,
                                 std::string_view also = {});

// For an operation whose success has no document: the body is empty, white space or a document of a
// compatible server. A root <Error> is that error; a body that is no XML, or an HTML page, is
// kUnsupported (IsOfNoS3).
Result<void> CheckNoDocument(const WireResponse& response);

// kUnavailable: the answer should hold a document of that root, but `why`.
Error UnreadableDocument(const WireResponse& response, std::string_view root, std::string_view why);

// A success whose answer is not S3's: a page of a proxy or of a web server, or a service that does
// not know the operation.
bool IsOfNoS3(const Error& error);

// Where the answer about an object has no ETag: kUnsupported (IsOfNoS3), or kUnavailable where its
// head may be cut short.
Result<void> CheckNamesObject(const http::ResponseHead& head);

// The text of an element as a number; kUnavailable naming the element when it is not one.
Result<std::uint64_t> ParseNumber(std::string_view name, std::string_view text);

// A child's text as a number; kUnavailable naming the element when it is missing or not one.
Result<std::uint64_t> ReadNumber(const XmlElement& parent, std::string_view name);

// "true" of a child; anything else is false.
bool ReadFlag(const XmlElement& parent, std::string_view name);

// A child's ISO 8601 time; the epoch when missing or unreadable (no caller depends on it for
// correctness).
WallTime ReadTime(const XmlElement& parent, std::string_view name);

// Decodes a URL-encoded name of a listing in place: '+' and %20 are spaces. kUnavailable when it is
// not URL-encoded.
Result<void> DecodeName(std::string& name);

// Decodes names of a listing when it says <EncodingType>url</EncodingType>.
class NameDecoder {
 public:
  explicit NameDecoder(const XmlElement& root);
  // kUnavailable when the text is not what the document declares.
  Result<std::string> Decode(std::string text) const;

 private:
  bool url_encoded_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_DOCUMENT_H_
