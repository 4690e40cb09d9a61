#include "emulator/s3/access/object_lock.h"

#include <algorithm>
#include <chrono>

#include "base/dates.h"
#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kModeHeader = "x-amz-object-lock-mode";
constexpr std::string_view kUntilHeader = "x-amz-object-lock-retain-until-date";
constexpr std::string_view kHoldHeader = "x-amz-object-lock-legal-hold";

// Stored attributes. The leading ':' marks them as internal (metadata.h).
constexpr std::string_view kStoredPrefix = ":lock-";
constexpr std::string_view kStoredMode = ":lock-mode";
constexpr std::string_view kStoredUntil = ":lock-until";
constexpr std::string_view kStoredHold = ":lock-hold";

Error Protected() {
  return MakeError("AccessDenied", {}, "Access Denied because object protected by object lock.");
}

std::optional<RetentionMode> ModeOf(std::string_view name) {
  if (name == NameOf(RetentionMode::kGovernance)) return RetentionMode::kGovernance;
  if (name == NameOf(RetentionMode::kCompliance)) return RetentionMode::kCompliance;
  return std::nullopt;
}

// Adds years. 29 February becomes 28 February.
CalendarTime AddYears(CalendarTime time, int count) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  std::chrono::year_month_day date{day};
  date += std::chrono::years(count);
  if (!date.ok()) date = date.year() / date.month() / std::chrono::last;
  return std::chrono::sys_days(date) + (time - day);
}

// `count` is at most 36,500 days or 100 years (configuration_checks.cc).
CalendarTime AddPeriod(WallTime now, std::string_view unit, std::uint64_t count) {
  const auto begin = std::chrono::floor<CalendarTime::duration>(now);
  return unit == "Days" ? begin + std::chrono::days(count)
                        : AddYears(begin, static_cast<int>(count));
}

Result<std::optional<Retention>> DefaultRetention(const Call& call,
                                                  const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, kObjectLockKey);
  if (document == nullptr || document->empty()) return std::optional<Retention>();
  PENSTOCK_ASSIGN(const Element root, ReadBySchema(*document, kObjectLockSchema));
  const Element* rule = root.Find("Rule");
  const Element* retention = rule != nullptr ? rule->Find("DefaultRetention") : nullptr;
  if (retention == nullptr) return std::optional<Retention>();
  const std::string_view unit = retention->Has("Days") ? "Days" : "Years";
  const auto count = ParseDecimal(retention->TextOf(unit)).value_or(0);
  return std::optional<Retention>(
      {ModeOf(retention->TextOf("Mode")).value_or(RetentionMode::kGovernance),
       AddPeriod(call.exchange.space->clock->Now(), unit, count)});
}

Result<std::optional<bool>> ReadLegalHold(const Call& call) {
  const auto header = call.Header(kHoldHeader);
  if (!header) return std::optional<bool>();
  if (*header == "ON") return std::optional<bool>(true);
  if (*header == "OFF") return std::optional<bool>(false);
  return InvalidArgument("Legal Hold must be either of 'ON' or 'OFF'", kHoldHeader, *header);
}

}  // namespace

std::string_view NameOf(RetentionMode mode) {
  return mode == RetentionMode::kGovernance ? "GOVERNANCE" : "COMPLIANCE";
}

bool HasObjectLock(const store::BucketRecord& bucket) {
  const std::string* document = FindConfiguration(bucket, kObjectLockKey);
  return document != nullptr && !document->empty();
}

Result<void> RequireObjectLock(const store::BucketRecord& bucket) {
  if (HasObjectLock(bucket)) return Ok();
  return InvalidRequest("Bucket is missing Object Lock Configuration");
}

Result<Retention> ParseRetention(const Call& call, std::string_view mode, std::string_view until) {
  const auto known = ModeOf(mode);
  if (!known) return InvalidArgument("Unknown wormMode directive.", kModeHeader, mode);
  const auto time = ParseCalendarTime(until);
  if (!time)
    return InvalidArgument("The retain until date must be provided in ISO 8601 format",
                           kUntilHeader, until);
  const Retention retention{*known, *time};
  if (!retention.IsInEffect(call.exchange.space->clock->Now()))
    return InvalidArgument("The retain until date must be in the future!", kUntilHeader, until);
  return retention;
}

Result<ObjectLock> ReadObjectLock(const Call& call, const store::BucketRecord& bucket) {
  ObjectLock lock;
  if (!HasObjectLock(bucket)) return lock;
  if (call.families.object_lock) {
    const auto mode = call.Header(kModeHeader);
    const auto until = call.Header(kUntilHeader);
    if (mode.has_value() != until.has_value()) {
      return InvalidArgument(
          "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied",
          mode ? kUntilHeader : kModeHeader);  // The missing one, as recorded against Amazon S3.
    }
    if (mode) {
      PENSTOCK_ASSIGN(lock.retention, ParseRetention(call, *mode, *until));
    }
    PENSTOCK_ASSIGN(lock.legal_hold, ReadLegalHold(call));
  }
  if (!lock.retention) {
    PENSTOCK_ASSIGN(lock.retention, DefaultRetention(call, bucket));
  }
  return lock;
}

Result<void> RequireChecksumOfLocked(const Call& call, const ObjectLock& lock, bool claims_checksum,
                                     std::string_view what) {
  if (!lock.any() || claims_checksum || call.Header("content-md5")) return Ok();
  return InvalidRequest("Content-MD5 OR x-amz-checksum- HTTP header is required for " +
                        std::string(what) + " requests with Object Lock parameters");
}

void StoreObjectLock(const ObjectLock& lock, store::Attributes& attributes) {
  if (lock.retention) {
    attributes.emplace_back(kStoredMode, NameOf(lock.retention->mode));
    attributes.emplace_back(kStoredUntil, FormatCalendarTime(lock.retention->until));
  }
  if (lock.legal_hold) attributes.emplace_back(kStoredHold, *lock.legal_hold ? "ON" : "OFF");
}

ObjectLock StoredObjectLock(const store::Attributes& attributes) {
  ObjectLock lock;
  for (const auto& [name, value] : attributes) {
    if (!name.starts_with(kStoredPrefix)) continue;
    if (name == kStoredHold) {
      lock.legal_hold = value == "ON";
      continue;
    }
    if (!lock.retention) lock.retention.emplace();
    // Unreadable values keep the version locked: damage must not unlock anything.
    if (name == kStoredMode)
      lock.retention->mode = ModeOf(value).value_or(RetentionMode::kCompliance);
    if (name == kStoredUntil)
      lock.retention->until = ParseCalendarTime(value).value_or(kLastCalendarTime);
  }
  return lock;
}

void ReplaceObjectLock(const ObjectLock& lock, store::Attributes& attributes) {
  std::erase_if(attributes,
                [](const auto& entry) { return entry.first.starts_with(kStoredPrefix); });
  StoreObjectLock(lock, attributes);
}

void AddObjectLockHeaders(Response& response, const store::Attributes& attributes) {
  const ObjectLock lock = StoredObjectLock(attributes);
  if (lock.retention) {
    response.Add(std::string(kModeHeader), std::string(NameOf(lock.retention->mode)));
    response.Add(std::string(kUntilHeader), FormatCalendarTime(lock.retention->until));
  }
  if (lock.legal_hold) response.Add(std::string(kHoldHeader), *lock.legal_hold ? "ON" : "OFF");
}

bool BypassesGovernance(const Call& call) {
  return call.families.object_lock &&
         EqualsIgnoreCase(call.Header(kBypassHeader).value_or(""), "true");
}

Result<void> CheckUnlocked(const ObjectLock& lock, WallTime now, bool bypass) {
  if (lock.legal_hold.value_or(false)) return Protected();
  if (!lock.retention || !lock.retention->IsInEffect(now)) return Ok();
  if (bypass && lock.retention->mode == RetentionMode::kGovernance) return Ok();
  return Protected();
}

store::Precondition RemovalCheck(const Call& call) {
  return [space = call.exchange.space,
          bypass = BypassesGovernance(call)](const store::ObjectRecord* version) {
    return version == nullptr
               ? Ok()
               : CheckUnlocked(StoredObjectLock(version->attributes), space->clock->Now(), bypass);
  };
}

Result<void> CheckRetentionChange(const ObjectLock& lock, const std::optional<Retention>& requested,
                                  WallTime now, bool bypass) {
  if (!lock.retention || !lock.retention->IsInEffect(now)) return Ok();
  const bool extends = requested && requested->mode == lock.retention->mode &&
                       requested->until >= lock.retention->until;
  if (extends || (bypass && lock.retention->mode == RetentionMode::kGovernance)) return Ok();
  return Protected();
}

Result<void> CheckObjectLockHeaders(Call& call, std::string_view operation) {
  const auto bypass = call.Header(kBypassHeader);
  const bool locks = operation == "PutObject" || operation == "CopyObject" ||
                     operation == "CreateMultipartUpload" || operation == "PostObject";
  const bool removes = operation == "DeleteObject" || operation == "DeleteObjects" ||
                       operation == "PutObjectRetention";
  if (bypass ? !removes : !locks) return NotImplementedHeader(bypass ? kBypassHeader : kModeHeader);
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  if (HasObjectLock(*bucket)) return Ok();
  // Recorded against Amazon S3: headers of new objects have a message without spaces.
  if (!bypass) return InvalidRequest("Bucket is missing ObjectLockConfiguration");
  if (operation == "PutObjectRetention") return RequireObjectLock(*bucket);
  return MakeError(
      "InvalidArgument", {{"ArgumentName", std::string(kBypassHeader)}},
      "x-amz-bypass-governance-retention is only applicable to Object Lock enabled buckets.");
}

}  // namespace penstock::emulator::s3
