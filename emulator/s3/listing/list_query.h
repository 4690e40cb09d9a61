// Query parameters that all listings share, and the encoding of names in their responses.
#ifndef PENSTOCK_EMULATOR_S3_LISTING_LIST_QUERY_H_
#define PENSTOCK_EMULATOR_S3_LISTING_LIST_QUERY_H_

#include <string>
#include <string_view>

#include "base/xml/xml.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct ListQuery {
  std::string prefix;
  std::string delimiter;  // Empty: none.
  bool url_encoding = false;
  int max_keys = 1000;  // 0 to 1000.

  // Encodes a name for the response.
  std::string Encode(std::string_view text) const;
};

// `limit_parameter`: "max-keys", "max-uploads" or "max-parts".
Result<ListQuery> ReadListQuery(const Call& call, std::string_view limit_parameter);
// Reads only the limit. Default and maximum: 1000.
Result<int> ReadLimit(const Call& call, std::string_view parameter);

void WriteCommonPrefix(XmlWriter& xml, const ListQuery& query, std::string_view prefix);

// For listings of a directory bucket. Returns InvalidRequest for a prefix that does not end in "/",
// or a delimiter other than "/".
Result<void> CheckDirectoryListing(const ListQuery& query);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_LISTING_LIST_QUERY_H_
