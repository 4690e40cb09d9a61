// The document of tags, for buckets and objects.
#ifndef PENSTOCK_CLIENT_S3_CONFIGURATION_TAG_DOCUMENT_H_
#define PENSTOCK_CLIENT_S3_CONFIGURATION_TAG_DOCUMENT_H_

#include <string>
#include <vector>

#include "base/xml/xml.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

inline std::string TagDocument(const std::vector<Tag>& tags) {
  XmlWriter xml;
  xml.Open("Tagging", kXmlNamespace);
  xml.Open("TagSet");
  for (const Tag& tag : tags) {
    xml.Open("Tag");
    xml.Element("Key", tag.key);
    xml.Element("Value", tag.value);
    xml.Close("Tag");
  }
  xml.Close("TagSet");
  xml.Close("Tagging");
  return xml.Take();
}

inline Result<std::vector<Tag>> ReadTags(const WireResponse& response) {
  PENSTOCK_ASSIGN(const XmlDocument document, ReadDocument(response, "Tagging"));
  std::vector<Tag> tags;
  for (const XmlElement& tag : document.root().Child("TagSet").Children("Tag"))
    tags.push_back({tag.Child("Key").text(), tag.Child("Value").text()});
  return tags;
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CONFIGURATION_TAG_DOCUMENT_H_
