// HeadBucket, DeleteBucket, GetBucketLocation and ListBuckets.
#include <algorithm>

#include "base/encoding.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/core/access.h"
#include "emulator/s3/core/all_accounts.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kUsEast1 = "us-east-1";
constexpr std::uint64_t kMaxBuckets = 10'000;
constexpr std::string_view kTokenPrefix = "penstock-1:";

struct BucketPage {
  std::vector<store::BucketPtr> buckets;
  bool truncated = false;
};

struct BucketQuery {
  std::string prefix;
  std::string region;       // Empty: any.
  std::string start_after;  // Exclusive.
  std::size_t max = kMaxBuckets;
  bool with_region = false;  // S3 returns BucketRegion only if a parameter was sent.
};

Result<BucketQuery> ReadBucketQuery(const Call& call) {
  BucketQuery query;
  query.prefix = call.Query("prefix").value_or("");
  if (call.Query("max-buckets")) {
    PENSTOCK_ASSIGN(const std::int64_t value, IntegerParameter(call, "max-buckets", kMaxBuckets));
    if (value < 1 || value > static_cast<std::int64_t>(kMaxBuckets)) {
      return InvalidArgument("Argument max-buckets must be an integer between 1 and 10000.",
                             "max-buckets", std::to_string(value));
    }
    query.max = static_cast<std::size_t>(value);
  }
  if (const auto region = call.Query("bucket-region")) {
    if (!IsAwsRegion(*region) && *region != call.options.region) {
      // Recorded against Amazon S3: without ArgumentValue.
      return InvalidArgument(
          "Argument value " + std::string(*region) + " is not a valid AWS Region", "bucket-region");
    }
    query.region = *region;
  }
  // Recorded against Amazon S3: an empty token is accepted.
  if (const auto token = call.Query("continuation-token"); token && !token->empty()) {
    const auto raw = Base64Decode(*token);
    if (!raw || !raw->starts_with(kTokenPrefix)) {
      return InvalidArgument("The continuation token provided is incorrect", "continuation-token");
    }
    query.start_after = raw->substr(kTokenPrefix.size());
  }
  const auto sent = [&](std::string_view name) { return call.Query(name).has_value(); };
  query.with_region =
      sent("prefix") || sent("max-buckets") || sent("bucket-region") || sent("continuation-token");
  return query;
}

BucketPage SelectBuckets(std::vector<store::BucketPtr> all, const BucketQuery& query,
                         const Exchange& exchange) {
  BucketPage page;
  const bool all_accounts = exchange.Find<AllAccounts>() != nullptr;
  for (store::BucketPtr& bucket : all) {
    const bool is_own =
        bucket->owner_id == exchange.identity.owner_id && !IsDirectoryBucket(*bucket);
    if ((!is_own && !all_accounts) || bucket->name.value <= query.start_after) continue;
    if (!bucket->name.value.starts_with(query.prefix)) continue;
    if (!query.region.empty() && RegionOfConstraint(bucket->region) != query.region) continue;
    if (page.buckets.size() == query.max) {
      page.truncated = true;
      break;
    }
    page.buckets.push_back(std::move(bucket));
  }
  return page;
}

void WriteBucket(XmlWriter& xml, const store::BucketRecord& bucket, bool with_region) {
  xml.Open("Bucket");
  xml.Element("Name", bucket.name.value);
  xml.Element("CreationDate", XmlDate(bucket.created));
  if (with_region) xml.Element("BucketRegion", RegionOfConstraint(bucket.region));
  xml.Element("BucketArn", "arn:aws:s3:::" + bucket.name.value);
  xml.Close("Bucket");
}

}  // namespace

Result<void> HeadBucket(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  Response& response = call.response();
  response.Add("x-amz-bucket-region", std::string(RegionOfConstraint(bucket->region)));
  response.Add("x-amz-bucket-arn", BucketArn(call, *bucket));
  AddLocationHeaders(call, *bucket);
  response.Add("x-amz-access-point-alias", "false");
  response.Add("Content-Type", "application/xml");
  return Ok();
}

Result<void> DeleteBucket(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  const auto open_uploads =
      IsDirectoryBucket(*bucket) ? store::OpenUploads::kBlockIt : store::OpenUploads::kGoWithIt;
  const auto deleted = call.store.DeleteBucket(bucket->name, open_uploads);
  if (!deleted.ok()) {
    if (deleted.error().code != "BucketNotEmpty") return deleted.error();
    const bool versioned = bucket->versioning != store::Versioning::kNever;
    return MakeError(
        "BucketNotEmpty", {{"BucketName", bucket->name.value}},
        versioned
            ? "The bucket you tried to delete is not empty. You must delete all versions in the "
              "bucket."
            : "");
  }
  call.response().status = 204;
  return Ok();
}

Result<void> GetBucketLocation(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  XmlWriter xml;
  if (bucket->region == kUsEast1) {
    xml.Empty("LocationConstraint", kXmlNamespace);
  } else {
    // The only document whose root contains text.
    xml.Open("LocationConstraint", kXmlNamespace);
    std::string document = xml.Take();
    AppendXmlEscaped(document, bucket->region);
    call.RespondXml(document.append("</LocationConstraint>"));
    return Ok();
  }
  call.RespondXml(xml.Take());
  return Ok();
}

Result<void> ListBuckets(Call& call) {
  // S3 redirects anonymous requests to its product page.
  if (!RequireAccount(call.exchange.identity).ok()) {
    call.response().status = 307;
    call.response().Add("Location", "https://aws.amazon.com/s3/");
    return Ok();
  }
  PENSTOCK_TRY(AuthorizeOperation(call));
  PENSTOCK_ASSIGN(const BucketQuery query, ReadBucketQuery(call));
  PENSTOCK_ASSIGN(std::vector<store::BucketPtr> all, call.store.ListBuckets());
  const std::string& owner_id = call.exchange.identity.owner_id;
  const BucketPage page = SelectBuckets(std::move(all), query, call.exchange);
  XmlWriter xml;
  xml.Open("ListAllMyBucketsResult", kXmlNamespace);
  WriteOwner(xml, "Owner", owner_id);
  xml.Open("Buckets");
  for (const store::BucketPtr& bucket : page.buckets) WriteBucket(xml, *bucket, query.with_region);
  xml.Close("Buckets");
  if (page.truncated) {
    const std::string token = std::string(kTokenPrefix) + page.buckets.back()->name.value;
    xml.Element("ContinuationToken", Base64Encode(AsBytes(token)));
  }
  if (!query.prefix.empty()) xml.Element("Prefix", query.prefix);
  xml.Close("ListAllMyBucketsResult");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
