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

// Checks the version first, then that the bucket has Object Lock.
Result<LockedVersion> OpenLocked(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  LockedVersion locked;
  PENSTOCK_ASSIGN(locked.version, VersionParameter(call));
  PENSTOCK_ASSIGN(locked.object, OpenObject(call, locked.version));
  PENSTOCK_TRY(RequireObjectLock(*bucket));
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

Result<Element> ReadLockDocument(Call& call, const Field& schema) {
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.require_checksum = true}));
  if (text.empty()) return MakeError("MissingRequestBodyError");
  return ReadBySchema(text, schema);
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
  Result<Element> read = ReadLockDocument(call, kRetentionSchema);
  PENSTOCK_TRY(AuthorizeDocument(
      call, read,
      {{"s3:object-lock-mode", "Mode"}, {"s3:object-lock-retain-until-date", "RetainUntilDate"}}));
  PENSTOCK_ASSIGN(const LockedVersion locked, OpenLocked(call));
  PENSTOCK_ASSIGN(const Element document, std::move(read));
  if (document.Has("Mode") != document.Has("RetainUntilDate")) return MalformedXml();
  std::optional<Retention> requested;
  if (document.Has("Mode")) {
    PENSTOCK_ASSIGN(requested, ParseRetention(call, document.TextOf("Mode"),
                                              document.TextOf("RetainUntilDate")));
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
  Result<Element> read = ReadLockDocument(call, kLegalHoldSchema);
  PENSTOCK_TRY(AuthorizeDocument(call, read, {{"s3:object-lock-legal-hold", "Status"}}));
  PENSTOCK_ASSIGN(const LockedVersion locked, OpenLocked(call));
  PENSTOCK_ASSIGN(const Element document, std::move(read));
  return ChangeLock(call, locked, [&](ObjectLock& lock) -> Result<void> {
    lock.legal_hold = document.TextOf("Status") == "ON";
    return Ok();
  });
}

}  // namespace penstock::emulator::s3
