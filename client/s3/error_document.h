// From S3's refusal to an Error: the error document, the headers, and what kind of failure a code
// is (spec/protocol.md §0, §8). Whether to try again is retry_rules.h's.
#ifndef PENSTOCK_CLIENT_S3_ERROR_DOCUMENT_H_
#define PENSTOCK_CLIENT_S3_ERROR_DOCUMENT_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "client/http/transport.h"
#include "penstock/base/error.h"

namespace penstock::s3 {

// The answer `head` with `body` as an Error: code, message and details from the document where
// there is one. Without one (HEAD, a proxy's page) the code is the status as text ("404"), as the
// AWS SDKs have it. Operation, bucket and key are left to the caller.
Error ReadErrorResponse(const http::ResponseHead& head, std::string_view body);

// `text`; of a text of more than `most_bytes` its begin and "...".
std::string Shortened(std::string_view text, std::size_t most_bytes);

// Shortens texts that came from a server, so that an error is short enough for a log whatever the
// server sent.
void LimitTexts(Error& error);

// A document with root <Error>, whatever the status.
Error ReadErrorElement(const http::ResponseHead& head, const XmlElement& root);

// What the caller may do about an S3 code; nullopt for a code the table does not have.
std::optional<ErrorKind> KindOfCode(std::string_view code);
// The same from the status alone.
ErrorKind KindOfStatus(int status);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ERROR_DOCUMENT_H_
