// Reads a page of a listing from front to back; shared by all listings.
#ifndef PENSTOCK_CLIENT_S3_VERBS_LISTING_PAGE_H_
#define PENSTOCK_CLIENT_S3_VERBS_LISTING_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/xml/xml_reader.h"
#include "client/s3/verbs/document.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

inline constexpr int kMaxKeysOfAPage = 1000;
inline constexpr std::size_t kTypicalElementBytes = 200;  // Of an object with a short key.

// Tracks which children of an element were seen; only the first of each name counts.
class FirstOfEach {
 public:
  // Returns true the first time. `child` is one bit.
  bool Take(std::uint16_t child) { return std::exchange(taken_, taken_ | child) != taken_; }

 private:
  std::uint16_t taken_ = 0;
};

// Reads the <Prefix> of the open <CommonPrefixes> and closes it.
inline std::string ReadCommonPrefix(XmlReader& xml) {
  std::string prefix;
  FirstOfEach fields;
  while (xml.NextChild()) {
    if (xml.name() == "Prefix" && fields.Take(1)) {
      prefix = xml.Text();
    } else {
      xml.Skip();
    }
  }
  return prefix;
}

// Parses <IsTruncated>. Other texts are errors, because they must not end a listing early.
inline Result<void> ReadTruncated(std::string_view text, std::optional<bool>& truncated) {
  truncated = text == "true";
  if (*truncated || text == "false") return Ok();
  return Error::Make(ErrorKind::kUnavailable, "the response's <IsTruncated> is `" +
                                                  std::string(text.substr(0, 32)) +
                                                  "`, neither true nor false");
}

// What a page says about the pages after it. S3 sends IsTruncated in every page, and next markers
// also on the last one. For servers that leave IsTruncated out, a next marker says that there is
// another page, unless it repeats the marker of the request.
inline bool HasNextPage(std::optional<bool> truncated, bool has_marker, bool marker_repeats) {
  return truncated.value_or(has_marker && !marker_repeats);
}

// Returns the error of a truncated page without the element `marker`.
inline Error NoMarker(std::string_view marker) {
  return Error::Make(ErrorKind::kUnavailable,
                     "the listing is truncated, but has no " + std::string(marker));
}

// Returns the error for a body whose root is not `root`: another document, an <Error>, or no
// document.
inline Error UnexpectedListing(const WireResponse& response, std::string_view root,
                               XmlReader& xml) {
  auto document = ReadDocument(response, root);
  if (!document.ok()) return std::move(document).error();
  return UnreadableDocument(response, root, xml.Finish().error().message);
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_LISTING_PAGE_H_
