#include "client/s3/verbs/write_attributes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "base/dates.h"
#include "base/encoding.h"
#include "base/text/json_text.h"
#include "client/http/uri.h"
#include "client/s3/verbs/request_start.h"

namespace penstock::s3 {
namespace {

constexpr std::size_t kMaxUserMetadataBytes = 2048;
constexpr const char* kEncryptionHeader = "x-amz-server-side-encryption";

bool IsTokenChar(char c) {
  const bool alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

Result<void> AppendUserMetadata(const NameValueList& metadata, std::vector<http::Header>& headers) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : metadata) {
    if (!IsHeaderToken(name)) {
      return InvalidRequest("user metadata name `" + name +
                            "` is not a header token; use letters, digits, - and _");
    }
    if (!IsPrintableAscii(value)) {
      return InvalidRequest("user metadata `" + name +
                            "` has a value with characters other than printable ASCII; encode it");
    }
    bytes += name.size() + value.size();
    headers.push_back({"x-amz-meta-" + AsciiLower(name), value});
  }
  if (bytes > kMaxUserMetadataBytes) {
    return InvalidRequest("user metadata has " + std::to_string(bytes) +
                          " bytes of names and values; S3 allows at most 2048");
  }
  return Ok();
}

// "k=v&l=w", percent-encoded.
std::string TaggingText(const std::vector<Tag>& tags) {
  http::QueryParameters parameters;
  parameters.reserve(tags.size());
  for (const Tag& tag : tags) parameters.emplace_back(tag.key, tag.value);
  return http::BuildQuery(parameters);
}

// Base64 of a JSON object with strings.
std::string ContextText(const EncryptionContext& context) {
  std::string json = "{";
  for (const auto& [name, value] : context) {
    if (json.size() > 1) json += ", ";
    internal::AppendJsonString(json, name);
    json += ": ";
    internal::AppendJsonString(json, value);
  }
  return Base64Encode(AsBytes(json + "}"));
}

Result<void> AppendKms(const char* kind, const std::string& key_id,
                       const EncryptionContext& context, std::vector<http::Header>& headers) {
  headers.push_back({kEncryptionHeader, kind});
  PENSTOCK_TRY(AppendText("x-amz-server-side-encryption-aws-kms-key-id", key_id, headers));
  if (!context.empty())
    headers.push_back({"x-amz-server-side-encryption-context", ContextText(context)});
  return Ok();
}

Result<void> AppendEncryption(const Encryption& encryption, WireRequest& wire) {
  if (std::holds_alternative<SseS3>(encryption)) {
    wire.headers.push_back({kEncryptionHeader, "AES256"});
  } else if (const auto* kms = std::get_if<SseKms>(&encryption)) {
    PENSTOCK_TRY(AppendKms("aws:kms", kms->key_id, kms->context, wire.headers));
    if (kms->bucket_key) {
      wire.headers.push_back(
          {"x-amz-server-side-encryption-bucket-key-enabled", *kms->bucket_key ? "true" : "false"});
    }
  } else if (const auto* dsse = std::get_if<DsseKms>(&encryption)) {
    PENSTOCK_TRY(AppendKms("aws:kms:dsse", dsse->key_id, dsse->context, wire.headers));
  } else if (const auto* key = std::get_if<CustomerKey>(&encryption)) {
    AppendCustomerKey(*key, wire);
  }
  return Ok();
}

void AppendLock(const ObjectLock& lock, std::vector<http::Header>& headers) {
  if (lock.mode != LockMode::kNone) {
    headers.push_back({"x-amz-object-lock-mode",
                       lock.mode == LockMode::kGovernance ? "GOVERNANCE" : "COMPLIANCE"});
    headers.push_back({"x-amz-object-lock-retain-until-date", FormatIso8601(lock.retain_until)});
  }
  if (lock.legal_hold)
    headers.push_back({"x-amz-object-lock-legal-hold", *lock.legal_hold ? "ON" : "OFF"});
}

void AppendKey(std::string_view prefix, const CustomerKey& key, WireRequest& wire) {
  if (key.empty()) return;
  const auto append = [&](std::string_view name, std::string value) {
    wire.headers.push_back({std::string(prefix).append(name), std::move(value)});
  };
  append("algorithm", "AES256");
  append("key", key.base64());
  append("key-MD5", key.md5());
  wire.carries_customer_key = true;
}

const char* GrantHeader(GrantPermission permission) {
  switch (permission) {
    case GrantPermission::kFullControl: return "x-amz-grant-full-control";
    case GrantPermission::kRead: return "x-amz-grant-read";
    case GrantPermission::kReadAcp: return "x-amz-grant-read-acp";
    case GrantPermission::kWrite: return "x-amz-grant-write";
    case GrantPermission::kWriteAcp: break;
  }
  return "x-amz-grant-write-acp";
}

}  // namespace

bool IsHeaderToken(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsTokenChar);
}

bool IsPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Result<void> AppendText(std::string_view header, const std::string& value,
                        std::vector<http::Header>& headers) {
  if (value.empty()) return Ok();
  if (!IsPrintableAscii(value)) {
    return InvalidRequest(std::string(header) +
                          " has a character that is not printable ASCII; a header cannot carry it");
  }
  headers.push_back({std::string(header), value});
  return Ok();
}

Result<void> AppendAcl(const std::string& acl, const std::vector<Grant>& grants,
                       WireRequest& wire) {
  if (!acl.empty() && !grants.empty())
    return InvalidRequest("the request takes either a canned ACL or grants, not both");
  PENSTOCK_TRY(AppendText("x-amz-acl", acl, wire.headers));
  std::array<std::string, 5> lists;  // By permission.
  for (const Grant& grant : grants) {
    std::string& list = lists[static_cast<std::size_t>(grant.permission)];
    list += (list.empty() ? "" : ", ") + grant.grantee;
  }
  for (std::size_t i = 0; i < lists.size(); ++i)
    PENSTOCK_TRY(AppendText(GrantHeader(static_cast<GrantPermission>(i)), lists[i], wire.headers));
  return Ok();
}

void AppendCustomerKey(const CustomerKey& key, WireRequest& wire) {
  AppendKey("x-amz-server-side-encryption-customer-", key, wire);
}

void AppendSourceCustomerKey(const CustomerKey& key, WireRequest& wire) {
  AppendKey("x-amz-copy-source-server-side-encryption-customer-", key, wire);
}

Result<void> AppendAttributes(const ObjectAttributes& attributes, WireRequest& wire) {
  std::vector<http::Header>& headers = wire.headers;
  PENSTOCK_TRY(AppendText("Content-Type", attributes.content_type, headers));
  PENSTOCK_TRY(AppendText("Cache-Control", attributes.cache_control, headers));
  PENSTOCK_TRY(AppendText("Content-Encoding", attributes.content_encoding, headers));
  PENSTOCK_TRY(AppendText("Content-Disposition", attributes.content_disposition, headers));
  PENSTOCK_TRY(AppendText("Content-Language", attributes.content_language, headers));
  if (attributes.expires) headers.push_back({"Expires", FormatHttpDate(*attributes.expires)});
  PENSTOCK_TRY(AppendText("x-amz-storage-class", attributes.storage_class, headers));
  PENSTOCK_TRY(AppendText("x-amz-website-redirect-location", attributes.website_redirect, headers));
  PENSTOCK_TRY(AppendUserMetadata(attributes.user_metadata, headers));
  if (!attributes.tags.empty()) headers.push_back({"x-amz-tagging", TaggingText(attributes.tags)});
  if (!attributes.acl.empty() || !attributes.grants.empty())
    PENSTOCK_TRY(AppendAcl(attributes.acl, attributes.grants, wire));
  PENSTOCK_TRY(AppendEncryption(attributes.encryption, wire));
  AppendLock(attributes.lock, headers);
  return Ok();
}

}  // namespace penstock::s3
