#include "emulator/s3/listing/list_entries.h"

#include <charconv>
#include <chrono>

#include "emulator/s3/core/restore_state.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// Size of an entry without its name: markup, an ETag of 32 digits, a date and an owner.
constexpr std::size_t kTypicalEntryBytes = 420;

void AppendElement(std::string& out, std::string_view open, std::string_view text,
                   std::string_view close) {
  out.append(open);
  AppendXmlEscaped(out, text);
  out.append(close);
}

}  // namespace

Result<AppendToEntry> ReadOptionalAttributes(const Call& call) {
  constexpr std::string_view kHeader = "x-amz-optional-object-attributes";
  const auto value = call.Header(kHeader);
  if (!value) return AppendToEntry();
  if (*value != "RestoreStatus")
    return InvalidArgument("Invalid attribute name specified.", kHeader, *value);
  const WallTime now = call.exchange.space->clock->Now();
  return AppendToEntry([&call, now](std::string& out, const store::ListEntry& entry) {
    if (entry.is_delete_marker || !IsArchived(entry.storage_class)) return;
    const auto object = call.store.FindObject(call.bucket(), ObjectKey(std::string(entry.key)),
                                              VersionId(std::string(entry.version_id)));
    const auto restore = object.ok() ? StoredRestore((*object)->attributes) : std::nullopt;
    if (!restore || now >= restore->expiry) return;
    const bool ongoing = restore->IsOngoing(now);
    out.append("<RestoreStatus><IsRestoreInProgress>")
        .append(ongoing ? "true" : "false")
        .append("</IsRestoreInProgress>");
    if (!ongoing)
      AppendElement(out, "<RestoreExpiryDate>", XmlDate(restore->expiry), "</RestoreExpiryDate>");
    out.append("</RestoreStatus>");
  });
}

void EntryWriter::AppendName(std::string_view name) {
  if (form_.url_encoding) {
    AppendListingEncoded(out_, name);  // The result needs no XML escaping.
  } else {
    AppendXmlEscaped(out_, name);
  }
}

void EntryWriter::AppendLastModified(WallTime time) {
  const std::int64_t second =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  if (second != last_second_) {
    last_second_ = second;
    last_date_ = "<LastModified>" + XmlDate(time) + "</LastModified>";
  }
  out_.append(last_date_);
}

void EntryWriter::AppendETagAndSize(const store::ListEntry& entry) {
  AppendElement(out_, "<ETag>&quot;", entry.etag, "&quot;</ETag>");
  if (!entry.checksum_algorithm.empty()) {
    AppendElement(out_, "<ChecksumAlgorithm>", entry.checksum_algorithm, "</ChecksumAlgorithm>");
    if (!entry.checksum_type.empty())
      AppendElement(out_, "<ChecksumType>", entry.checksum_type, "</ChecksumType>");
  }
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), entry.size).ptr;
  out_.append("<Size>").append(digits, end).append("</Size>");
}

void EntryWriter::AppendOwner(std::string_view owner_id) {
  if (last_owner_.empty() || owner_id != last_owner_id_) {
    last_owner_id_ = owner_id;
    last_owner_.clear();
    AppendElement(last_owner_, "<Owner><ID>", owner_id, "</ID></Owner>");
  }
  out_.append(last_owner_);
}

void EntryWriter::WriteObject(const store::ListEntry& entry) {
  out_.append("<Contents><Key>");
  AppendName(entry.key);
  out_.append("</Key>");
  AppendLastModified(entry.last_modified);
  AppendETagAndSize(entry);
  if (form_.append_restore) form_.append_restore(out_, entry);
  if (form_.with_owner) AppendOwner(entry.owner_id);
  AppendElement(out_, "<StorageClass>", entry.storage_class, "</StorageClass></Contents>");
}

void EntryWriter::WriteVersion(const store::ListEntry& entry) {
  out_.append(entry.is_delete_marker ? "<DeleteMarker><Key>" : "<Version><Key>");
  AppendName(entry.key);
  AppendElement(out_, "</Key><VersionId>", entry.version_id, "</VersionId>");
  out_.append(entry.is_latest ? "<IsLatest>true</IsLatest>" : "<IsLatest>false</IsLatest>");
  AppendLastModified(entry.last_modified);
  if (!entry.is_delete_marker) AppendETagAndSize(entry);
  if (form_.append_restore) form_.append_restore(out_, entry);
  AppendOwner(entry.owner_id);
  if (entry.is_delete_marker) {
    out_.append("</DeleteMarker>");
  } else {
    AppendElement(out_, "<StorageClass>", entry.storage_class, "</StorageClass></Version>");
  }
}

void EntryWriter::WritePrefixes(const std::vector<store::ListEntry>& entries) {
  for (const store::ListEntry& entry : entries) {
    if (!entry.is_common_prefix) continue;
    out_.append("<CommonPrefixes><Prefix>");
    AppendName(entry.key);
    out_.append("</Prefix></CommonPrefixes>");
  }
}

void EntryWriter::WriteContents(const std::vector<store::ListEntry>& entries) {
  out_.reserve(out_.size() + entries.size() * kTypicalEntryBytes);
  for (const store::ListEntry& entry : entries) {
    if (!entry.is_common_prefix) WriteObject(entry);
  }
  WritePrefixes(entries);
}

void EntryWriter::WriteVersions(const std::vector<store::ListEntry>& entries) {
  out_.reserve(out_.size() + entries.size() * kTypicalEntryBytes);
  for (const store::ListEntry& entry : entries) {
    if (!entry.is_common_prefix) WriteVersion(entry);
  }
  WritePrefixes(entries);
}

}  // namespace penstock::emulator::s3
