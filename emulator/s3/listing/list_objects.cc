// ListObjects and ListObjectsV2.
#include <utility>

#include "base/encoding.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/listing/list_entries.h"
#include "emulator/s3/listing/list_query.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// Prefix of continuation tokens, to recognise values that the emulator did not issue.
constexpr std::string_view kTokenPrefix = "penstock-1:";

std::string MakeToken(std::string_view start_after) {
  return Base64Encode(AsBytes(std::string(kTokenPrefix) + std::string(start_after)));
}

Result<std::string> ParseToken(std::string_view token) {
  const auto raw = Base64Decode(token);
  if (raw && raw->starts_with(kTokenPrefix)) return raw->substr(kTokenPrefix.size());
  // Recorded against Amazon S3: without ArgumentValue.
  return InvalidArgument("The continuation token provided is incorrect", "continuation-token");
}

Result<store::ListPage> ListPage(Call& call, const ListQuery& query, std::string start_after) {
  if (query.max_keys() == 0) return store::ListPage{};
  return call.store.List(store::ListObjects{call.bucket(), query.prefix, query.delimiter,
                                            std::move(start_after), query.max_keys()});
}

// Writes the elements from MaxKeys to IsTruncated, which are the same in both versions.
void WritePageElements(XmlWriter& xml, const ListQuery& query, const store::ListPage& page) {
  WriteNumber(xml, "MaxKeys", static_cast<std::uint64_t>(query.requested));
  if (!query.delimiter.empty()) xml.Element("Delimiter", query.Encode(query.delimiter));
  if (query.url_encoding) xml.Element("EncodingType", query.encoding_type);
  WriteFlag(xml, "IsTruncated", page.truncated);
}

struct Listing {
  const store::BucketRecord& bucket;
  const store::ListPage& page;
  EntryForm form;
};

// Completes the document in `xml` with the entries, and responds with it.
void Respond(Call& call, XmlWriter& xml, const Listing& listing) {
  std::string document = xml.Take();
  EntryWriter(document, listing.form).WriteContents(listing.page.entries);
  document += "</ListBucketResult>";
  call.response().Add("x-amz-bucket-region",
                      std::string(RegionOfConstraint(listing.bucket.region)));
  call.RespondXml(std::move(document));
}

}  // namespace

Result<void> ListObjectsV1(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(AppendToEntry append_restore, ReadOptionalAttributes(call));
  PENSTOCK_ASSIGN(const ListQuery query, ReadListQuery(call, "max-keys"));
  PENSTOCK_TRY(CheckLimit(query.requested, "maxKeys"));
  const std::string marker(call.Query("marker").value_or(""));
  PENSTOCK_ASSIGN(const store::ListPage page, ListPage(call, query, marker));
  XmlWriter xml;
  xml.Open("ListBucketResult", kXmlNamespace);
  xml.Element("Name", bucket->name.value);
  xml.Element("Prefix", query.Encode(query.prefix));
  xml.Element("Marker", query.Encode(marker));
  if (page.truncated && !query.delimiter.empty())
    xml.Element("NextMarker", query.Encode(page.next));
  WritePageElements(xml, query, page);
  // Anonymous requesters do not see owners (recorded against Amazon S3).
  const bool with_owner = !call.exchange.identity.anonymous();
  Respond(call, xml, {*bucket, page, {query.url_encoding, with_owner, std::move(append_restore)}});
  return Ok();
}

Result<void> ListObjectsV2(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(AppendToEntry append_restore, ReadOptionalAttributes(call));
  if (IsDirectoryBucket(*bucket)) return ListDirectory(call, *bucket);
  PENSTOCK_ASSIGN(const ListQuery query, ReadListQuery(call, "max-keys"));
  const auto token = call.Query("continuation-token");
  const auto requested_start = call.Query("start-after");
  std::string start_after(requested_start.value_or(""));
  if (token) {
    PENSTOCK_ASSIGN(start_after, ParseToken(*token));
  }
  PENSTOCK_TRY(CheckLimit(query.requested, "maxKeys"));
  PENSTOCK_ASSIGN(const store::ListPage page, ListPage(call, query, std::move(start_after)));
  XmlWriter xml;
  xml.Open("ListBucketResult", kXmlNamespace);
  xml.Element("Name", bucket->name.value);
  xml.Element("Prefix", query.Encode(query.prefix));
  if (!token && requested_start) xml.Element("StartAfter", query.Encode(*requested_start));
  if (token) xml.Element("ContinuationToken", *token);
  if (page.truncated) xml.Element("NextContinuationToken", MakeToken(page.next));
  WriteNumber(xml, "KeyCount", page.entries.size());
  WritePageElements(xml, query, page);
  Respond(call, xml,
          {*bucket,
           page,
           {query.url_encoding, EqualsIgnoreCase(call.Query("fetch-owner").value_or(""), "true"),
            std::move(append_restore)}});
  return Ok();
}

}  // namespace penstock::emulator::s3
