#include "emulator/s3/listing/list_query.h"

#include <algorithm>
#include <climits>

#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr int kPageLimit = 1000;

}  // namespace

std::string ListQuery::Encode(std::string_view text) const {
  return url_encoding ? ListingEncode(text) : std::string(text);
}

Result<int> ReadLimit(const Call& call, std::string_view parameter) {
  const auto text = call.Query(parameter);
  if (!text || text->empty()) return kPageLimit;
  if (const auto value = ParseDecimal(*text, INT_MAX))
    return std::min(static_cast<int>(*value), kPageLimit);
  const bool negative =
      text->starts_with('-') && ParseDecimal(text->substr(1), INT_MAX).has_value();
  if (!negative) {
    return InvalidArgument(
        "Provided " + std::string(parameter) + " not an integer or within integer range", parameter,
        *text);
  }
  const std::string_view name = parameter == "max-keys" ? "maxKeys" : parameter;
  return InvalidArgument(
      "Argument " + std::string(name) + " must be an integer between 0 and 2147483647", name,
      *text);
}

Result<ListQuery> ReadListQuery(const Call& call, std::string_view limit_parameter) {
  ListQuery query;
  query.prefix = call.Query("prefix").value_or("");
  query.delimiter = call.Query("delimiter").value_or("");
  if (const auto encoding = call.Query("encoding-type")) {
    if (*encoding != "url") {
      return InvalidArgument("Invalid Encoding Method specified in Request", "encoding-type",
                             *encoding);
    }
    query.url_encoding = true;
  }
  PENSTOCK_ASSIGN(query.max_keys, ReadLimit(call, limit_parameter));
  return query;
}

void WriteCommonPrefix(XmlWriter& xml, const ListQuery& query, std::string_view prefix) {
  xml.Open("CommonPrefixes");
  xml.Element("Prefix", query.Encode(prefix));
  xml.Close("CommonPrefixes");
}

Result<void> CheckDirectoryListing(const ListQuery& query) {
  if (!query.prefix.empty() && !query.prefix.ends_with('/')) {
    return InvalidRequest(
        "This bucket does not support a prefix that does not end in a delimiter. Specify a prefix "
        "path ending with a delimiter and "
        "try again.");
  }
  if (query.delimiter.empty() || query.delimiter == "/") return Ok();
  return InvalidRequest("This bucket does not support the delimiter '" + query.delimiter +
                        "'. Use / or none.");
}

}  // namespace penstock::emulator::s3
