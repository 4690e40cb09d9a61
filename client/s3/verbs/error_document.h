// Converts S3's error responses to Errors: the error document and the headers. model/error_codes.h
// has the kind of each code.
#ifndef PENSTOCK_CLIENT_S3_VERBS_ERROR_DOCUMENT_H_
#define PENSTOCK_CLIENT_S3_VERBS_ERROR_DOCUMENT_H_

#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "client/http/transport.h"
#include "client/s3/model/error_codes.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/error.h"

namespace penstock::s3 {

// Converts the response `head` with `body` to an Error. Code, message and details come from the
// document. Without one (HEAD, a proxy's page) the code is the status as text ("404"), as in the
// AWS SDKs. The caller adds operation, bucket and key.
Error ReadErrorResponse(const http::ResponseHead& head, std::string_view body);

// Replaces references to NUL (&#x0;), which parsers refuse, by U+FFFD. A document that repeats the
// key of its request has one for each NUL of the key.
std::string WithoutNulReferences(std::string_view body);

// Returns `text`, or its beginning and "..." if it has more than `max_bytes`.
std::string Shortened(std::string_view text, std::size_t max_bytes);

// Replaces secrets in texts of a server or proxy, which may repeat them, by "***": those of the
// request, the credentials of the environment's proxies, and what Redact recognizes
// (base/text/redact.h). Truncates the texts, so that an error fits in a log.
void LimitTexts(Error& error, const RequestSecrets& secrets);

// Converts a document with root <Error>, whatever the status.
Error ReadErrorElement(const http::ResponseHead& head, const XmlElement& root);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_ERROR_DOCUMENT_H_
