// Properties of the listing parser, for any response body.
#ifndef PENSTOCK_CLIENT_FUZZ_LISTING_PROPERTIES_H_
#define PENSTOCK_CLIENT_FUZZ_LISTING_PROPERTIES_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/verbs.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/check.h"

namespace penstock::s3 {

// Returns the keys, sizes and prefixes of a page as the tree parser reads them, one per line.
// Nullopt if a name or number is invalid.
inline std::optional<std::string> PageOfTree(const XmlDocument& document) {
  const XmlElement root = document.root();
  const NameDecoder names(root);
  std::string lines;
  for (const XmlElement& element : root.Children("Contents")) {
    const auto key = names.Decode(element.Child("Key").text());
    const auto size = ReadNumber(element, "Size");
    if (!key.ok() || !size.ok()) return std::nullopt;
    lines += *key + "\n" + std::to_string(*size) + "\n" + element.Child("ETag").text() + "\n";
  }
  for (const XmlElement& element : root.Children("CommonPrefixes")) {
    const auto prefix = names.Decode(element.Child("Prefix").text());
    if (!prefix.ok()) return std::nullopt;
    lines += *prefix + "\n";
  }
  const bool continues = root.Children("IsTruncated").empty() || ReadFlag(root, "IsTruncated");
  return lines + (continues ? root.Child("NextContinuationToken").text() : "");
}

inline std::string PageAsRead(const ListObjectsResponse& page, const XmlDocument& document) {
  std::string lines;
  std::size_t at = 0;
  const auto elements = document.root().Children("Contents");
  PENSTOCK_CHECK(elements.size() == page.objects.size());
  for (const ObjectSummary& object : page.objects) {
    std::string etag = elements[at++].Child("ETag").text();  // the reader removes the quotes
    PENSTOCK_CHECK(etag == object.etag.value || etag == "\"" + object.etag.value + "\"");
    lines += object.key.value + "\n" + std::to_string(object.size) + "\n" + etag + "\n";
  }
  for (const std::string& prefix : page.common_prefixes) lines += prefix + "\n";
  return lines + page.next_token;
}

// If the in-place reader accepts a page, the tree parser accepts it too, with the same content.
// Otherwise the result is an error with a message.
inline void CheckListing(std::string_view input) {
  WireResponse response;
  response.head.status = 200;
  response.body = input;
  const auto page = ParseResponse(ListObjectsRequest{}, response);
  if (!page.ok()) {
    PENSTOCK_CHECK(!page.error().message.empty());
    return;
  }
  const auto document = ReadDocument(response, "ListBucketResult");
  PENSTOCK_CHECK(document.ok());
  PENSTOCK_CHECK(PageOfTree(*document) == PageAsRead(*page, *document));
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_FUZZ_LISTING_PROPERTIES_H_
