// DeleteObjects: deletes many objects. The response is 200 once the document has been accepted.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/authorization/actions.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/text.h"
#include "emulator/store/records/ids.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxObjects = 1000;

struct Entry {
  std::string key;
  std::string version_id;  // Empty: none.
  WriteCondition condition;
};

struct DeleteRequest {
  bool quiet = false;
  std::vector<Entry> entries;
};

// Conditions of directory buckets only.
constexpr std::string_view kOfDirectoryBuckets[] = {"LastModifiedTime", "Size"};

bool IsBlankOrControl(char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }

// One key that a directory bucket does not allow fails the whole request.
Result<void> CheckDirectoryKey(const std::string& key) {
  const bool control = std::any_of(key.begin(), key.end(), [](char c) {
    return IsBlankOrControl(c) && c != ' ' && c != '\n' && c != '\t' && c != '\r';
  });
  if (!control && !std::all_of(key.begin(), key.end(), IsBlankOrControl)) return Ok();
  return InvalidRequest(
      "A key in the request is blank or contains control characters, which directory buckets do "
      "not "
      "allow.");
}

// Parses the fields that the entries of all buckets have.
Result<Entry> ParseIdentifier(const Element& object) {
  Entry entry{std::string(object.TextOf("Key")), std::string(object.TextOf("VersionId")), {}};
  if (entry.key.empty()) return MakeError("UserKeyMustBeSpecified");
  if (const Element* etag = object.Find("ETag")) entry.condition.if_match = etag->text;
  return entry;
}

Result<Entry> ParseDirectoryEntry(const Element& object) {
  PENSTOCK_ASSIGN(Entry entry, ParseIdentifier(object));
  PENSTOCK_TRY(CheckDirectoryKey(entry.key));
  entry.condition.absent_holds = true;
  if (const Element* size = object.Find("Size")) {
    entry.condition.size = ParseDecimal(size->text);
    if (!entry.condition.size) return MalformedXml();
  }
  if (const Element* date = object.Find("LastModifiedTime")) {
    entry.condition.last_modified = ReadConditionDate(date->text);
    if (!entry.condition.last_modified) return MalformedXml();
  }
  return entry;
}

Result<Entry> ParseEntry(const Element& object) {
  PENSTOCK_ASSIGN(Entry entry, ParseIdentifier(object));
  for (const std::string_view name : kOfDirectoryBuckets) {
    if (object.Has(name)) return MalformedXml();
  }
  return entry;
}

Result<DeleteRequest> ParseRequest(std::string_view text, bool directory) {
  PENSTOCK_ASSIGN(const Element root, ReadBySchema(text, kDeleteSchema));
  const std::vector<const Element*> objects = root.All("Object");
  if (objects.size() > kMaxObjects) return MalformedXml();
  DeleteRequest request;
  // Recorded against Amazon S3: any text is accepted.
  request.quiet = EqualsIgnoreCase(TrimBlanks(root.TextOf("Quiet")), "true");
  request.entries.reserve(objects.size());
  for (const Element* object : objects) {
    PENSTOCK_ASSIGN(Entry entry, directory ? ParseDirectoryEntry(*object) : ParseEntry(*object));
    request.entries.push_back(std::move(entry));
  }
  return request;
}

Result<store::DeleteObject> MakeDelete(const Call& call, const Entry& entry) {
  PENSTOCK_TRY(CheckKey(entry.key));
  std::optional<VersionId> version;
  if (!entry.version_id.empty()) {
    if (!IsVersionId(entry.version_id)) return MakeError("NoSuchVersion");
    if (IsDirectoryBucketName(call.bucket().value) && entry.version_id != "null")
      return MakeError("NoSuchVersion");
    version = VersionId(entry.version_id);
  }
  return store::DeleteObject{call.bucket(), ObjectKey(entry.key), std::move(version),
                             MakePrecondition(entry.condition, ObjectKey(entry.key)),
                             RemovalCheck(call)};
}

// Authorizes the deletion of one entry. Sessions of directory buckets were checked before.
Result<void> AuthorizeEntry(Call& call, const Entry& entry) {
  if (IsDirectoryBucketName(call.bucket().value)) return Ok();
  const bool named = !entry.version_id.empty();
  Subject subject{.bucket = call.opened.get(),
                  .bucket_name = call.bucket().value,
                  .key = entry.key,
                  .version = std::nullopt};
  if (named) subject.version = VersionId(entry.version_id);
  BodyKeys keys;
  const auto& etag = entry.condition.if_match;
  if (etag) keys.emplace_back("s3:if-match", policy::Context::Values{std::string(*etag)});
  PENSTOCK_TRY(AuthorizeAction(call, subject, DeleteAction(named), keys));
  if (etag && *etag != "*") PENSTOCK_TRY(AuthorizeAction(call, subject, ReadAction(named), keys));
  return named && BypassesGovernance(call)
             ? AuthorizeAction(call, subject, "s3:BypassGovernanceRetention", keys)
             : Ok();
}

// Returns one outcome per entry, in order. Deletes all valid entries in one commit.
Result<std::vector<Result<store::DeleteOutcome>>> DeleteEntries(Call& call,
                                                                const std::vector<Entry>& entries) {
  std::vector<Result<store::DeleteOutcome>> outcomes;
  std::vector<std::size_t> entry_indices;  // Maps `deletes` to indices of `entries`.
  std::vector<store::DeleteObject> deletes;
  for (const Entry& entry : entries) {
    PENSTOCK_TRY(RefuseIfCancelled(call.exchange));
    auto request = MakeDelete(call, entry);
    if (request.ok() && call.exchange.notes) {
      if (auto refusal = call.exchange.notes->RefuseEntry(outcomes.size(), entry.key))
        request = *std::move(refusal);
    }
    if (request.ok()) {
      if (auto authorized = AuthorizeEntry(call, entry); !authorized.ok())
        request = std::move(authorized).error();
    }
    if (request.ok()) {
      entry_indices.push_back(outcomes.size());
      deletes.push_back(std::move(*request));
      outcomes.emplace_back(store::DeleteOutcome{});
    } else {
      outcomes.emplace_back(std::move(request).error());
    }
  }
  auto results = call.store.Delete(std::move(deletes));
  for (std::size_t i = 0; i < results.size(); ++i) {
    // Deleting an absent version succeeds (recorded against Amazon S3 in minio pull request 11086).
    // An id that was never issued is an error.
    const std::string& version = entries[entry_indices[i]].version_id;
    const bool unknown = results[i].ok() && !results[i]->existed && !version.empty() &&
                         !store::IsIssued(VersionId(version));
    if (!results[i].ok())
      results[i] = HideMissingKey(call, *call.opened, std::move(results[i]).error());
    outcomes[entry_indices[i]] =
        unknown ? Result<store::DeleteOutcome>(MakeError("NoSuchVersion")) : std::move(results[i]);
  }
  return outcomes;
}

void WriteError(XmlWriter& xml, const Entry& entry, const Error& error) {
  const std::string_view code =
      error.code.empty() ? std::string_view("InternalError") : std::string_view(error.code);
  xml.Open("Error");
  xml.Element("Key", entry.key);
  if (!entry.version_id.empty()) xml.Element("VersionId", entry.version_id);
  xml.Element("Code", code);
  xml.Element("Message", MessageForClient(error, code));
  xml.Close("Error");
}

void WriteDeleted(XmlWriter& xml, const Entry& entry, const store::DeleteOutcome& outcome) {
  xml.Open("Deleted");
  xml.Element("Key", entry.key);
  if (!entry.version_id.empty()) xml.Element("VersionId", entry.version_id);
  if (outcome.created_marker || outcome.removed_marker) {
    xml.Element("DeleteMarker", "true");
    xml.Element("DeleteMarkerVersionId", outcome.version_id.value);
  }
  xml.Close("Deleted");
}

}  // namespace

Result<void> DeleteObjects(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_TRY(AuthorizeWithBody(call, {}));
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {.require_checksum = true}));
  if (text.empty()) return MakeError("MissingRequestBodyError");
  PENSTOCK_ASSIGN(const DeleteRequest request, ParseRequest(text, IsDirectoryBucket(*bucket)));
  XmlWriter xml;
  xml.Open("DeleteResult", kXmlNamespace);
  PENSTOCK_ASSIGN(const auto outcomes, DeleteEntries(call, request.entries));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Entry& entry = request.entries[i];
    const auto& outcome = outcomes[i];
    if (!outcome.ok()) {
      WriteError(xml, entry, outcome.error());
    } else if (!request.quiet) {
      WriteDeleted(xml, entry, outcome.value());
    }
  }
  xml.Close("DeleteResult");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
