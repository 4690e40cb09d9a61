#include "emulator/s3/listing/list_query.h"

#include <algorithm>
#include <string>
#include <utility>

#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr int kPageLimit = 1000;

Result<void> RefuseParameter(const Call& call, std::string_view name, std::string message) {
  if (!call.Query(name)) return Ok();
  return InvalidArgument(std::move(message), name);
}

Result<void> RefuseVersionMarker(const Call& call) {
  constexpr std::string_view kName = "version-id-marker";
  const auto marker = call.Query(kName);
  if (!marker) return Ok();
  if (!call.Query("key-marker")) {
    return InvalidArgument("A version-id marker cannot be specified without a key marker.", kName,
                           *marker);
  }
  if (marker->empty())
    return InvalidArgument("A version-id marker cannot be empty.", kName, *marker);
  return Ok();
}

}  // namespace

std::string ListQuery::Encode(std::string_view text) const {
  return url_encoding ? ListingEncode(text) : std::string(text);
}

int ListQuery::max_keys() const {
  return static_cast<int>(std::min<std::int64_t>(requested, kPageLimit));
}

Result<void> CheckLimit(std::int64_t value, std::string_view name) {
  if (value >= 0) return Ok();
  return InvalidArgument(
      "Argument " + std::string(name) + " must be an integer between 0 and 2147483647", name,
      std::to_string(value));
}

Result<ListQuery> ReadListQuery(const Call& call, std::string_view limit_parameter) {
  ListQuery query;
  query.prefix = call.Query("prefix").value_or("");
  query.delimiter = call.Query("delimiter").value_or("");
  if (const auto encoding = call.Query("encoding-type")) {
    if (!EqualsIgnoreCase(*encoding, "url")) {
      return InvalidArgument("Invalid Encoding Method specified in Request", "encoding-type",
                             *encoding);
    }
    query.encoding_type = *encoding;
    query.url_encoding = true;
  }
  PENSTOCK_ASSIGN(query.requested, IntegerParameter(call, limit_parameter, kPageLimit));
  return query;
}

Result<void> RefuseListingParameters(const Call& call, std::string_view operation) {
  if (operation == "ListParts") {
    PENSTOCK_TRY(IntegerParameter(call, "max-parts", 0));
    PENSTOCK_TRY(IntegerParameter(call, "part-number-marker", 0));
  } else if (operation == "ListMultipartUploads") {
    PENSTOCK_TRY(IntegerParameter(call, "max-uploads", 0));
  } else if (operation == "ListObjectVersions") {
    PENSTOCK_TRY(IntegerParameter(call, "max-keys", 0));
    return RefuseVersionMarker(call);
  } else if (operation == "ListObjects") {
    PENSTOCK_TRY(IntegerParameter(call, "max-keys", 0));
    PENSTOCK_TRY(
        RefuseParameter(call, "continuation-token",
                        "continuation-token only supported in REST.GET.BUCKET with list-type=2"));
    return RefuseParameter(call, "start-after",
                           "startAfter only supported in REST.GET.BUCKET with list-type=2");
  } else if (operation == "ListObjectsV2") {
    PENSTOCK_TRY(IntegerParameter(call, "max-keys", 0));
    return RefuseParameter(call, "marker",
                           "Marker unsupported with REST.GET.BUCKET in list-type=2");
  }
  return Ok();
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
