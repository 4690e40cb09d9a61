// Retention and legal hold of object versions: GetObjectRetention, PutObjectRetention,
// GetObjectLegalHold and PutObjectLegalHold.
#include "base/dates.h"
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

struct LockedVersion {
  std::optional<VersionId> version;
  store::ObjectPtr object;
};

Result<LockedVersion> OpenVersion(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  LockedVersion locked;
  PENSTOCK_ASSIGN(locked.version, VersionParameter(call));
  PENSTOCK_ASSIGN(locked.object, OpenObject(call, locked.version));
  return locked;
}

// Checks the version first, then that the bucket has Object Lock.
Result<LockedVersion> OpenLocked(Call& call) {
  PENSTOCK_ASSIGN(LockedVersion locked, OpenVersion(call));
  PENSTOCK_TRY(RequireObjectLock(*call.opened));
  return locked;
}

// Authorizes a change whose conditions depend on the document. Its errors come after those of the
// version.
Result<void> AuthorizeDocument(
    Call& call, const Result<Element>& document,
    std::initializer_list<std::pair<std::string_view, const char*>> keys) {
  BodyKeys values;
  for (const auto& [key, element] : keys) {
    if (document.ok() && document->Has(element))
      values.emplace_back(key, policy::Context::Values{std::string(document->TextOf(element))});
  }
  return AuthorizeWithBody(call, values);
}

struct LockChange {
  LockedVersion locked;
  Element document;
};

// Reads the document of a change, authorizes the change and opens the version.
// Recorded against Amazon S3: an empty body is malformed, also where the bucket has no lock.
Result<LockChange> OpenLockChange(
    Call& call, const Field& schema,
    std::initializer_list<std::pair<std::string_view, const char*>> keys) {
  const Result<std::string> text = ReadDocument(call, {.require_checksum = true});
  Result<Element> read = text.ok() ? ReadBySchema(*text, schema) : Result<Element>(text.error());
  PENSTOCK_TRY(AuthorizeDocument(call, read, keys));
  LockChange change;
  PENSTOCK_ASSIGN(change.locked, OpenVersion(call));
  if (!text.ok()) return text.error();
  if (text->empty()) return MalformedXml();
  PENSTOCK_TRY(RequireObjectLock(*call.opened));
  PENSTOCK_ASSIGN(change.document, std::move(read));
  return change;
}

// Changes the lock of the opened version in one transaction. `change` may return an error.
template <class Change>
Result<void> ChangeLock(Call& call, const LockedVersion& locked, const Change& change) {
  // Uses the id of the opened version, because a newer version may exist by now.
  return call.store.ChangeAttributes(
      call.bucket(), call.key(), locked.object->version_id,
      [&](const store::ObjectRecord& object, store::Attributes& attributes) -> Result<void> {
        ObjectLock lock = StoredObjectLock(object.attributes);
        PENSTOCK_TRY(change(lock));
        ReplaceObjectLock(lock, attributes);
        return Ok();
      });
}

// "Tue Dec 31 16:00:00 PST 2019": S3 writes dates of documents in Java's form and Pacific time, in
// all regions (recorded by LocalStack). Summer time follows the rule since 2007.
std::string PacificDate(CalendarTime utc) {
  using namespace std::chrono;
  static constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const year in = year_month_day(floor<days>(utc)).year();
  const bool summer = utc >= sys_days(in / March / Sunday[2]) + hours(10) &&
                      utc < sys_days(in / November / Sunday[1]) + hours(9);
  const auto local = floor<seconds>(utc) - (summer ? hours(7) : hours(8));
  const sys_days day = floor<days>(local);
  const year_month_day date(day);
  const hh_mm_ss time(local - day);
  const auto two = [](std::int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  std::string text(kDays[weekday(day).c_encoding()]);
  text.append(" ").append(kMonths[unsigned{date.month()} - 1]).append(" ");
  text += two(unsigned{date.day()}) + " " + two(time.hours().count()) + ":" +
          two(time.minutes().count()) + ":" + two(time.seconds().count());
  return text + (summer ? " PDT " : " PST ") + std::to_string(int{date.year()});
}

// The error for a past date names the element of the document.
Result<Retention> ReadRetention(const Call& call, const Element& document) {
  const std::string_view until = document.TextOf("RetainUntilDate");
  auto retention = ParseRetention(call, document.TextOf("Mode"), until);
  const auto time = ParseCalendarTime(until);
  if (retention.ok() || !time) return retention;
  return InvalidArgument(retention.error().message, "RetainUntilDate", PacificDate(*time));
}

template <class Fill>
Result<void> RespondElement(Call& call, std::string_view name, const Fill& fill) {
  XmlWriter xml;
  xml.Open(name, kXmlNamespace);
  fill(xml);
  xml.Close(name);
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace

Result<void> GetObjectRetention(Call& call) {
  PENSTOCK_ASSIGN(const LockedVersion locked, OpenLocked(call));
  const ObjectLock lock = StoredObjectLock(locked.object->attributes);
  if (!lock.retention) return MakeError("NoSuchObjectLockConfiguration");
  return RespondElement(call, "Retention", [&](XmlWriter& xml) {
    xml.Element("Mode", NameOf(lock.retention->mode));
    xml.Element("RetainUntilDate", FormatCalendarTime(lock.retention->until));
  });
}

Result<void> PutObjectRetention(Call& call) {
  PENSTOCK_ASSIGN(const LockChange change,
                  OpenLockChange(call, kRetentionSchema,
                                 {{"s3:object-lock-mode", "Mode"},
                                  {"s3:object-lock-retain-until-date", "RetainUntilDate"}}));
  const LockedVersion& locked = change.locked;
  const Element& document = change.document;
  if (document.Has("Mode") != document.Has("RetainUntilDate")) return MalformedXml();
  std::optional<Retention> requested;
  if (document.Has("Mode")) {
    PENSTOCK_ASSIGN(requested, ReadRetention(call, document));
  }
  const bool bypass = BypassesGovernance(call);
  return ChangeLock(call, locked, [&](ObjectLock& lock) -> Result<void> {
    PENSTOCK_TRY(CheckRetentionChange(lock, requested, call.exchange.space->clock->Now(), bypass));
    lock.retention = requested;
    return Ok();
  });
}

Result<void> GetObjectLegalHold(Call& call) {
  PENSTOCK_ASSIGN(const LockedVersion locked, OpenLocked(call));
  const ObjectLock lock = StoredObjectLock(locked.object->attributes);
  if (!lock.legal_hold) return MakeError("NoSuchObjectLockConfiguration");
  return RespondElement(call, "LegalHold", [&](XmlWriter& xml) {
    xml.Element("Status", *lock.legal_hold ? "ON" : "OFF");
  });
}

Result<void> PutObjectLegalHold(Call& call) {
  PENSTOCK_ASSIGN(
      const LockChange change,
      OpenLockChange(call, kLegalHoldSchema, {{"s3:object-lock-legal-hold", "Status"}}));
  const LockedVersion& locked = change.locked;
  const Element& document = change.document;
  return ChangeLock(call, locked, [&](ObjectLock& lock) -> Result<void> {
    lock.legal_hold = document.TextOf("Status") == "ON";
    return Ok();
  });
}

}  // namespace penstock::emulator::s3
