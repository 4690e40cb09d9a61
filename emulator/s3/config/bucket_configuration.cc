// GET, PUT, DELETE and list of the configurations in the table of sub_resources.h.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/config/lifecycle_rules.h"
#include "emulator/s3/config/sub_resources.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/tags.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxIdCharacters = 64;
constexpr std::size_t kMaxConfigurationsPerKind = 1000;
constexpr std::size_t kPageSize = 100;
constexpr std::string_view kTokenPrefix = "penstock-configuration:";

// The setting of PutBucketLifecycleConfiguration that is a header, not part of the document.
constexpr std::string_view kMinimumSizeHeader = "x-amz-transition-default-minimum-object-size";

const SubResource& RowOf(const Call& call) {
  for (const QueryParameter& parameter : call.exchange.target.query) {
    if (const SubResource* row = FindSubResource(parameter.name)) return *row;
  }
  PENSTOCK_CHECK(false);  // The operation table routes only selectors of the table here.
  return *FindSubResource("cors");
}

bool IsIdCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

Result<std::string> KeyOf(const Call& call, const SubResource& row) {
  if (row.list_root.empty()) return std::string(row.selector);
  const std::string_view id = call.Query("id").value_or("");
  if (id.empty() || id.size() > kMaxIdCharacters ||
      !std::all_of(id.begin(), id.end(), IsIdCharacter)) {
    return MakeError("InvalidConfigurationId");
  }
  return std::string(row.selector) + "/" + std::string(id);
}

std::string UnsetDocument(const SubResource& row) {
  std::string xml(kXmlProlog);
  xml.append("<").append(row.schema->name).append(" ").append(kXmlNamespace);
  if (row.unset_content.empty()) return xml.append("/>");
  return xml.append(">")
      .append(row.unset_content)
      .append("</")
      .append(row.schema->name)
      .append(">");
}

// Recorded against Amazon S3: errors for missing configurations with an id do not contain the
// bucket.
Error NotSet(const SubResource& row, std::string_view code, const store::BucketRecord& bucket) {
  if (!row.list_root.empty()) return MakeError(code);
  return MakeError(code, {{"BucketName", bucket.name.value}});
}

using Entry = std::pair<std::string, std::string>;

// Returns the bucket's configurations of that kind, sorted by id.
std::vector<const Entry*> ConfigurationsOfKind(const store::BucketRecord& bucket,
                                               const SubResource& row) {
  const std::string prefix = std::string(row.selector) + "/";
  std::vector<const Entry*> all;
  for (const Entry& entry : bucket.configuration) {
    if (entry.first.starts_with(prefix)) all.push_back(&entry);
  }
  std::sort(all.begin(), all.end(),
            [](const Entry* a, const Entry* b) { return a->first < b->first; });
  return all;
}

Result<void> CheckId(const Call& call, const store::BucketRecord& bucket, const SubResource& row,
                     const Element& document) {
  if (document.TextOf("Id") != call.Query("id").value_or("")) {
    // Recorded against Amazon S3 by LocalStack.
    const bool malformed = row.selector == "analytics" || row.selector == "intelligent-tiering";
    return malformed ? MalformedXml() : MakeError("IdMismatch");
  }
  const std::vector<const Entry*> all = ConfigurationsOfKind(bucket, row);
  const std::string key = std::string(row.selector) + "/" + std::string(document.TextOf("Id"));
  const bool replaces =
      std::any_of(all.begin(), all.end(), [&](const Entry* entry) { return entry->first == key; });
  if (replaces || all.size() < kMaxConfigurationsPerKind) return Ok();
  return MakeError("TooManyConfigurations");
}

Result<void> StoreMinimumSize(Call& call) {
  const std::string_view value = call.Header(kMinimumSizeHeader).value_or(kMinimumSizeDefault);
  if (value != kMinimumSizeDefault && value != kMinimumSizeVaries) {
    return InvalidRequest("Invalid TransitionDefaultMinimumObjectSize found: " +
                          std::string(value));
  }
  call.response().Add(std::string(kMinimumSizeHeader), std::string(value));
  return call.store.SetConfiguration(call.bucket(), std::string(kMinimumSizeKey),
                                     std::string(value));
}

// Returns a stored document without its namespace, for use inside another document.
std::string WithoutNamespace(std::string document) {
  const std::string attribute = " " + std::string(kXmlNamespace);
  if (const auto at = document.find(attribute); at != std::string::npos)
    document.erase(at, attribute.size());
  return document;
}

}  // namespace

Result<void> GetBucketConfiguration(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  const SubResource& row = RowOf(call);
  PENSTOCK_ASSIGN(const std::string key, KeyOf(call, row));
  const std::string* document = FindConfiguration(*bucket, key);
  if (document != nullptr && document->empty()) return NotSet(row, row.deleted_code, *bucket);
  if (document == nullptr && !row.unset_code.empty()) return NotSet(row, row.unset_code, *bucket);
  if (row.selector == kLifecycleKey) {
    const std::string* size = FindConfiguration(*bucket, kMinimumSizeKey);
    call.response().Add(std::string(kMinimumSizeHeader),
                        size ? *size : std::string(kMinimumSizeDefault));
  }
  call.RespondXml(document ? std::string(kXmlProlog) + *document : UnsetDocument(row));
  return Ok();
}

Result<void> PutBucketConfiguration(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  const SubResource& row = RowOf(call);
  PENSTOCK_ASSIGN(const std::string key, KeyOf(call, row));
  PENSTOCK_ASSIGN(const std::string text,
                  ReadDocument(call, {.limit_bytes = row.limit_bytes,
                                      .require_checksum = row.checksum == Checksum::kRequired}));
  if (text.empty()) return MakeError("MissingRequestBodyError");
  PENSTOCK_ASSIGN(Element document, ReadBySchema(text, *row.schema));
  if (!row.list_root.empty()) PENSTOCK_TRY(CheckId(call, *bucket, row, document));
  if (row.check != nullptr) PENSTOCK_TRY(row.check(CheckContext{call, *bucket}, document));
  if (row.selector == kLifecycleKey) PENSTOCK_TRY(StoreMinimumSize(call));
  // Recorded against Amazon S3: an empty tag set deletes the tags.
  const bool deletes = row.selector == "tagging" && TagsOf(document.Find("TagSet")).empty();
  const auto stored =
      deletes ? std::nullopt : std::optional<std::string>(WriteDocument(document, Prolog::kNo));
  PENSTOCK_TRY(call.store.SetConfiguration(bucket->name, key, stored));
  call.response().status = row.put_status;
  return Ok();
}

Result<void> DeleteBucketConfiguration(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  const SubResource& row = RowOf(call);
  PENSTOCK_ASSIGN(const std::string key, KeyOf(call, row));
  if (!row.list_root.empty() && FindConfiguration(*bucket, key) == nullptr)
    return NotSet(row, row.unset_code, *bucket);
  // Stores an empty document if a deleted configuration differs from one that was never set.
  const auto replacement =
      row.deleted_code.empty() ? std::nullopt : std::optional<std::string>(std::string());
  PENSTOCK_TRY(call.store.SetConfiguration(bucket->name, key, replacement));
  call.response().status = 204;
  return Ok();
}

Result<void> ListBucketConfigurations(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  const SubResource& row = RowOf(call);
  std::string after;
  const auto token = call.Query("continuation-token");
  // Recorded against Amazon S3, as is its acceptance of an empty token.
  if (token && !token->empty()) {
    const auto raw = Base64Decode(*token);
    if (!raw || !raw->starts_with(kTokenPrefix)) return MakeError("MalformedContinuationToken");
    after = raw->substr(kTokenPrefix.size());
  }
  std::vector<const Entry*> all = ConfigurationsOfKind(*bucket, row);
  std::erase_if(all, [&](const Entry* entry) { return entry->first <= after; });
  const bool truncated = all.size() > kPageSize;
  if (truncated) all.resize(kPageSize);
  XmlWriter xml;
  xml.Open(row.list_root, kXmlNamespace);
  WriteFlag(xml, "IsTruncated", truncated);
  if (token) xml.Element("ContinuationToken", *token);
  if (truncated) {
    const std::string next = std::string(kTokenPrefix) + all.back()->first;
    xml.Element("NextContinuationToken", Base64Encode(AsBytes(next)));
  }
  std::string document = xml.Take();
  for (const Entry* entry : all) document += WithoutNamespace(entry->second);
  call.RespondXml(document.append("</").append(row.list_root).append(">"));
  return Ok();
}

}  // namespace penstock::emulator::s3
