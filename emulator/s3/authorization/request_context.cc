#include "emulator/s3/authorization/request_context.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/ascii.h"
#include "base/dates.h"
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/core/access.h"
#include "emulator/s3/core/post_form.h"
#include "emulator/s3/core/regions.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/tags.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

using Values = policy::Context::Values;

std::optional<Values> One(std::string_view value) { return Values{std::string(value)}; }
std::optional<Values> Maybe(std::optional<std::string_view> value) {
  return value ? One(*value) : std::nullopt;
}
std::optional<Values> Known(std::string_view value) {
  return value.empty() ? std::nullopt : One(value);
}

// Keys with the names of query parameters.
constexpr std::string_view kParameters[] = {"prefix", "delimiter", "max-keys"};
// Keys with the names of headers that begin with "x-amz-".
constexpr std::string_view kHeaders[] = {
    "x-amz-acl",
    "x-amz-bucket-namespace",
    "x-amz-content-sha256",
    "x-amz-grant-full-control",
    "x-amz-grant-read",
    "x-amz-grant-read-acp",
    "x-amz-grant-write",
    "x-amz-grant-write-acp",
    "x-amz-metadata-directive",
    "x-amz-object-ownership",
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-customer-algorithm",
    "x-amz-storage-class",
    "x-amz-website-redirect-location",
};
// A tag's entry in the keys of a body has its key and its value.
constexpr std::string_view kRequestTag = "s3:requestobjecttag/";
// True for operations that create the object; false for the other steps of an upload. Others do
// not have the key.
struct Creation {
  std::string_view operation;
  std::string_view value;
};
constexpr Creation kCreations[] = {
    {"PutObject", "true"},      {"CompleteMultipartUpload", "true"}, {"CopyObject", "true"},
    {"PostObject", "true"},     {"CreateMultipartUpload", "false"},  {"UploadPart", "false"},
    {"UploadPartCopy", "false"}};

template <std::size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string_view AuthType(const Call& call) {
  if (call.exchange.operation == "PostObject" || call.exchange.form != nullptr) return "POST";
  return call.presigned ? "REST-QUERY-STRING" : "REST-HEADER";
}

std::string_view SignatureVersion(const Call& call) {
  const auto authorization = call.exchange.request.Find("authorization");
  const Form* const form = call.exchange.form;
  const bool second = call.Query("AWSAccessKeyId").has_value() ||
                      (authorization && authorization->starts_with("AWS ")) ||
                      (form != nullptr && form->Find("AWSAccessKeyId").has_value());
  return second ? "AWS" : "AWS4-HMAC-SHA256";
}

// The date of a signature of version 4.
std::optional<WallTime> SignatureDate(const Call& call) {
  const RequestHead& request = call.exchange.request;
  auto text = call.Query("X-Amz-Date");
  if (!text && call.exchange.form != nullptr) text = call.exchange.form->Find("x-amz-date");
  if (!text) text = request.Find("x-amz-date");
  if (text) return ParseAmzDate(*text);
  text = request.Find("date");
  return text ? ParseHttpDate(*text) : std::nullopt;
}

// Milliseconds since the signature's date; 0 for version 2 (Amazon S3 API Reference, "Amazon S3
// Signature Version 4 Authentication Specific Policy Keys").
std::optional<Values> SignatureAge(const Call& call) {
  if (SignatureVersion(call) == "AWS") return One("0");
  const auto date = SignatureDate(call);
  const auto now = call.exchange.Now();
  if (!date || !now) return std::nullopt;
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(*now - *date);
  return One(std::to_string(std::max<std::int64_t>(age.count(), 0)));
}

// "bucket/key" without the leading slash that clients may send.
std::optional<Values> CopySourceValue(const Call& call) {
  auto source = call.Header("x-amz-copy-source");
  if (!source) return std::nullopt;
  if (source->starts_with('/')) source->remove_prefix(1);
  const auto decoded = PercentDecode(*source, {.plus_is_space = true});
  return One(decoded ? std::string_view(*decoded) : *source);
}

std::optional<Values> RemainingDays(const Call& call, const std::optional<Values>& until) {
  const auto date = until ? ParseCalendarTime(until->front()) : std::nullopt;
  const auto now = call.exchange.Now();
  if (!date || !now) return std::nullopt;
  const double days = std::chrono::duration<double, std::ratio<86400>>(
                          *date - std::chrono::floor<CalendarTime::duration>(*now))
                          .count();
  return One(std::to_string(static_cast<std::int64_t>(std::ceil(days))));
}

}  // namespace

BodyKeys TagKeys(const store::Attributes& tags) {
  BodyKeys keys;
  Values names;
  for (const auto& [name, value] : tags) {
    keys.emplace_back(kRequestTag, Values{name, value});
    names.push_back(name);
  }
  keys.emplace_back("s3:requestobjecttagkeys", std::move(names));
  return keys;
}

std::string ArnOf(const Call& call, const Subject& subject) {
  if (subject.bucket_name.empty()) {
    return call.exchange.operation == "ListDirectoryBuckets" ? "arn:aws:s3express:*:*:bucket/*"
                                                             : "arn:aws:s3:::*";
  }
  const std::string name(subject.bucket_name);
  if (IsDirectoryBucketName(name)) {
    const std::string region(subject.bucket == nullptr
                                 ? EndpointRegion(call.exchange, call.options.region)
                                 : RegionOfConstraint(subject.bucket->region));
    const std::string account = subject.bucket == nullptr
                                    ? call.exchange.identity.account_id
                                    : AccountIdOf(call, subject.bucket->owner_id);
    return "arn:aws:s3express:" + region + ":" + account + ":bucket/" + name;
  }
  std::string arn = "arn:aws:s3:::" + name;
  if (!subject.key.empty()) arn.append("/").append(subject.key);
  return arn;
}

const store::ObjectRecord* RequestContext::object() const {
  if (!object_) {
    object_.emplace();
    if (subject_.bucket != nullptr && !subject_.key.empty()) {
      auto found = call_.store.FindObject(subject_.bucket->name,
                                          ObjectKey(std::string(subject_.key)), subject_.version);
      if (found.ok()) object_ = std::move(found).value();
    }
  }
  return object_->get();
}

std::optional<Values> RequestContext::Find(std::string_view key) const {
  if (auto values = FindInBody(key)) return values;
  const std::size_t colon = key.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view prefix = key.substr(0, colon);
  const std::string_view name = key.substr(colon + 1);
  if (prefix == "aws") return FindGlobal(name);
  if (prefix == "s3" || prefix == "s3express") return FindOfService(name);
  return std::nullopt;
}

std::optional<Values> RequestContext::FindInBody(std::string_view key) const {
  store::Attributes tags;
  for (const auto& [name, values] : body_) {
    if (name == key) return values;
    if (name == kRequestTag && key.starts_with(name))
      tags.emplace_back(values.front(), values.back());
  }
  return tags.empty() ? std::nullopt : Maybe(FindTag(tags, key.substr(kRequestTag.size())));
}

std::optional<Values> RequestContext::FindGlobal(std::string_view name) const {
  const Exchange& exchange = call_.exchange;
  if (name == "sourceip") return Known(AddressOf(exchange.connection.peer));
  if (name == "securetransport") return One(exchange.connection.tls ? "true" : "false");
  if (name == "currenttime" || name == "epochtime") {
    const auto now = exchange.Now();
    if (!now) return std::nullopt;
    if (name == "currenttime") return One(FormatIso8601(*now));
    return One(
        std::to_string(std::chrono::floor<std::chrono::seconds>(*now).time_since_epoch().count()));
  }
  if (name == "useragent") return Maybe(exchange.request.Find("user-agent"));
  if (name == "referer") return Maybe(exchange.request.Find("referer"));
  if (name == "requestedregion") {
    if (subject_.bucket != nullptr) return One(RegionOfConstraint(subject_.bucket->region));
    return One(EndpointRegion(exchange, call_.options.region));
  }
  if (name == "resourceaccount") {
    return subject_.bucket == nullptr ? Known(exchange.identity.account_id)
                                      : Known(AccountIdOf(call_, subject_.bucket->owner_id));
  }
  if (name == "viaawsservice") return One("false");
  return FindPrincipalKey(exchange.identity, name);
}

std::optional<Values> RequestContext::FindOfService(std::string_view name) const {
  if (name == "authtype") {
    return call_.exchange.identity.owner_id.empty() ? std::nullopt : One(AuthType(call_));
  }
  if (name == "signatureversion") {
    return call_.exchange.identity.owner_id.empty() ? std::nullopt : One(SignatureVersion(call_));
  }
  if (name == "signatureage") {
    return call_.exchange.identity.owner_id.empty() ? std::nullopt : SignatureAge(call_);
  }
  if (name == "tlsversion") return Known(call_.exchange.connection.tls_version);
  if (name == "resourceaccount") return FindGlobal(name);
  if (name == "versionid") {
    return subject_.version ? One(subject_.version->value) : std::nullopt;
  }
  constexpr std::string_view kExistingTag = "existingobjecttag/";
  if (name.starts_with(kExistingTag)) {
    const store::ObjectRecord* const found = object();
    return found == nullptr ? std::nullopt
                            : Maybe(FindTag(found->tags, name.substr(kExistingTag.size())));
  }
  if (name == "sessionmode") {
    const auto& session = call_.exchange.identity.session;
    if (session) return One(session->read_only ? "ReadOnly" : "ReadWrite");
    return One(call_.Header("x-amz-create-session-mode").value_or("ReadWrite"));
  }
  return FindInRequest(name);
}

std::optional<Values> RequestContext::FindInRequest(std::string_view name) const {
  if (Contains(kParameters, name)) return Maybe(call_.Query(name));
  if (Contains(kHeaders, name)) return Maybe(call_.Header(name));
  if (name == "if-match" || name == "if-none-match") return Maybe(call_.Header(name));
  if (name == "x-amz-copy-source") return CopySourceValue(call_);
  if (name == "object-lock-mode") return Maybe(call_.Header("x-amz-object-lock-mode"));
  if (name == "object-lock-legal-hold") return Maybe(call_.Header("x-amz-object-lock-legal-hold"));
  if (name == "object-lock-retain-until-date")
    return Maybe(call_.Header("x-amz-object-lock-retain-until-date"));
  if (name == "object-lock-remaining-retention-days")
    return RemainingDays(call_, Find("s3:object-lock-retain-until-date"));
  if (name == "objectcreationoperation") {
    for (const Creation& creation : kCreations) {
      if (creation.operation == call_.exchange.operation) return One(creation.value);
    }
    return std::nullopt;
  }
  constexpr std::string_view kTag = kRequestTag.substr(3);  // without the service
  if (!name.starts_with(kTag) && name != "requestobjecttagkeys") return std::nullopt;
  const auto header = call_.Header("x-amz-tagging");
  const auto tags =
      header ? ParseTagHeader(*header) : Result<store::Attributes>(store::Attributes());
  if (!tags.ok()) return std::nullopt;
  if (name.starts_with(kTag)) return Maybe(FindTag(*tags, name.substr(kTag.size())));
  Values names;
  for (const auto& [tag, value] : *tags) names.push_back(tag);
  return names;
}

}  // namespace penstock::emulator::s3
