// ListObjectsV2 of a directory bucket: in no guaranteed order, directory by directory.
#include <utility>

#include "base/encoding.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/listing/list_entries.h"
#include "emulator/s3/listing/list_query.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kTokenPrefix = "penstock-directory:";

Result<std::string> ReadToken(const Call& call) {
  const auto token = call.Query("continuation-token");
  if (!token) return std::string();
  const auto raw = Base64Decode(*token);
  if (raw && raw->starts_with(kTokenPrefix) && raw->size() > kTokenPrefix.size())
    return raw->substr(kTokenPrefix.size());
  // As ListObjectsV2 of general purpose buckets, for which it is recorded.
  return InvalidArgument("The continuation token provided is incorrect", "continuation-token",
                         token->empty() ? std::nullopt : token);
}

}  // namespace

Result<void> ListDirectory(Call& call, const store::BucketRecord& bucket) {
  if (call.Query("start-after"))
    return NotImplemented("Directory buckets do not support start-after.");
  PENSTOCK_ASSIGN(const ListQuery query, ReadListQuery(call, "max-keys"));
  PENSTOCK_TRY(CheckLimit(query.requested, "maxKeys"));
  PENSTOCK_TRY(CheckDirectoryListing(query));
  PENSTOCK_ASSIGN(std::string before, ReadToken(call));
  PENSTOCK_ASSIGN(
      const store::ListPage page,
      call.store.List(store::ListDirectory{bucket.name, query.prefix, !query.delimiter.empty(),
                                           std::move(before), query.max_keys()}));
  XmlWriter xml;
  xml.Open("ListBucketResult", kXmlNamespace);
  xml.Element("Name", bucket.name.value);
  xml.Element("Prefix", query.Encode(query.prefix));
  if (const auto token = call.Query("continuation-token")) xml.Element("ContinuationToken", *token);
  if (page.truncated) {
    xml.Element("NextContinuationToken",
                Base64Encode(AsBytes(std::string(kTokenPrefix) + page.next)));
  }
  WriteNumber(xml, "KeyCount", page.entries.size());
  WriteNumber(xml, "MaxKeys", static_cast<std::uint64_t>(query.max_keys()));
  if (!query.delimiter.empty()) xml.Element("Delimiter", query.Encode(query.delimiter));
  if (query.url_encoding) xml.Element("EncodingType", "url");
  WriteFlag(xml, "IsTruncated", page.truncated);
  std::string document = xml.Take();
  EntryWriter(document, {query.url_encoding, call.Query("fetch-owner") == "true"})
      .WriteContents(page.entries);
  document += "</ListBucketResult>";
  call.response().Add("x-amz-bucket-region", std::string(RegionOfConstraint(bucket.region)));
  call.RespondXml(std::move(document));
  return Ok();
}

}  // namespace penstock::emulator::s3
