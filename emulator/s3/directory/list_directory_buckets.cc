// ListDirectoryBuckets.
#include <algorithm>

#include "base/encoding.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/regions.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::uint64_t kMaxBuckets = 1000;
constexpr std::string_view kTokenPrefix = "penstock-directory:";

Result<std::uint64_t> ReadMax(const Call& call) {
  const auto text = call.Query("max-directory-buckets");
  if (!text || text->empty()) return kMaxBuckets;
  if (const auto value = ParseDecimal(*text, kMaxBuckets)) return *value;
  return InvalidArgument("Argument max-directory-buckets must be an integer between 0 and 1000",
                         "max-directory-buckets", *text);
}

// Returns the name after which the page begins.
Result<std::string> ReadToken(const Call& call) {
  const auto token = call.Query("continuation-token");
  if (!token || token->empty()) return std::string();
  const auto raw = Base64Decode(*token);
  if (raw && raw->starts_with(kTokenPrefix)) return raw->substr(kTokenPrefix.size());
  return InvalidArgument("The continuation token provided is incorrect", "continuation-token",
                         *token);
}

}  // namespace

Result<void> ListDirectoryBuckets(Call& call) {
  PENSTOCK_ASSIGN(const std::uint64_t max, ReadMax(call));
  PENSTOCK_ASSIGN(const std::string after, ReadToken(call));
  PENSTOCK_ASSIGN(std::vector<store::BucketPtr> buckets, call.store.ListBuckets());
  const std::string_view region = EndpointRegion(call.exchange, call.options.region);
  std::erase_if(buckets, [&](const store::BucketPtr& bucket) {
    return !IsDirectoryBucket(*bucket) || bucket->owner_id != call.exchange.identity.owner_id ||
           RegionOfConstraint(bucket->region) != region || bucket->name.value <= after;
  });
  const std::size_t page_size = std::min<std::size_t>(buckets.size(), max);
  XmlWriter xml;
  xml.Open("ListAllMyDirectoryBucketsResult", kXmlNamespace);
  xml.Open("Buckets");
  for (std::size_t i = 0; i < page_size; ++i) {
    xml.Open("Bucket");
    xml.Element("Name", buckets[i]->name.value);
    xml.Element("CreationDate", XmlDate(buckets[i]->created));
    xml.Element("BucketRegion", region);
    xml.Element("BucketArn", BucketArn(call, *buckets[i]));
    xml.Close("Bucket");
  }
  xml.Close("Buckets");
  if (page_size > 0 && page_size < buckets.size()) {
    const std::string token = std::string(kTokenPrefix) + buckets[page_size - 1]->name.value;
    xml.Element("ContinuationToken", Base64Encode(AsBytes(token)));
  }
  xml.Close("ListAllMyDirectoryBucketsResult");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
