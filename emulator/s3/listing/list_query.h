// Query parameters that all listings share, and the encoding of names in their responses.
#ifndef PENSTOCK_EMULATOR_S3_LISTING_LIST_QUERY_H_
#define PENSTOCK_EMULATOR_S3_LISTING_LIST_QUERY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct ListQuery {
  std::string prefix;
  std::string delimiter;      // Empty: none.
  std::string encoding_type;  // As sent. Empty: none.
  bool url_encoding = false;
  std::int64_t requested = 1000;  // The limit as sent, see CheckLimit().

  // The limit of the page, 0 to 1000, for a `requested` that CheckLimit() accepts.
  int max_keys() const;

  // Encodes a name for the response.
  std::string Encode(std::string_view text) const;
};

// `limit_parameter`: "max-keys" or "max-uploads". The limit is parsed, but its range is not
// checked.
Result<ListQuery> ReadListQuery(const Call& call, std::string_view limit_parameter);
// Returns InvalidArgument for a negative `value`. S3 parses limits before it looks for the bucket,
// and checks their range after it (recorded against Amazon S3).
Result<void> CheckLimit(std::int64_t value, std::string_view name);
// What listings and ListParts refuse before they look for the bucket: limits that are no integers,
// parameters of the other version of ListObjects, and misplaced version markers.
Result<void> RefuseListingParameters(const Call& call, std::string_view operation);

void WriteCommonPrefix(XmlWriter& xml, const ListQuery& query, std::string_view prefix);

// For listings of a directory bucket. Returns InvalidRequest for a prefix that does not end in "/",
// or a delimiter other than "/".
Result<void> CheckDirectoryListing(const ListQuery& query);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_LISTING_LIST_QUERY_H_
