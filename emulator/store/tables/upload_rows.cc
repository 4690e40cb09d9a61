#include "emulator/store/tables/upload_rows.h"

#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "emulator/store/records/codec.h"
#include "emulator/store/records/fold.h"
#include "emulator/store/records/ids.h"

#define UPLOAD_COLUMNS                                                                         \
  "key, sequence, id, owner_id, initiated, storage_class, checksum_algorithm, checksum_type, " \
  "attributes, tags, "                                                                         \
  "current_at_create, initiator"

namespace penstock::emulator::store {
namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();

Error DamagedRecordError(const Connection& connection) {
  return Error::Make(ErrorKind::kDataLoss, "the database file " + connection.path() +
                                               " contains a damaged upload record");
}

Result<UploadRow> ReadUpload(const Connection& connection, const Query& query,
                             const Bucket& bucket) {
  UploadRow row;
  UploadRecord& record = row.record;
  record.bucket = bucket.record->name;
  record.key = ObjectKey(query.Text(0));
  row.sequence = query.Int(1);
  record.id = UploadId(query.Text(2));
  record.owner_id = query.Text(3);
  record.initiated = FromNanoseconds(query.Int(4));
  record.storage_class = query.Text(5);
  record.checksum_algorithm = query.Text(6);
  record.checksum_type = query.Text(7);
  auto attributes = DecodeAttributes(query.Bytes(8));
  auto tags = DecodeAttributes(query.Bytes(9));
  if (!attributes || !tags) return DamagedRecordError(connection);
  record.attributes = std::move(*attributes);
  record.tags = std::move(*tags);
  record.current_at_create = query.Text(10);
  record.initiator = query.Text(11);
  return row;
}

Result<std::optional<UploadRow>> ReadOne(Connection& connection, Query& query,
                                         const Bucket& bucket) {
  PENSTOCK_ASSIGN(const bool found, query.Step());
  if (!found) return std::optional<UploadRow>();
  PENSTOCK_ASSIGN(UploadRow row, ReadUpload(connection, query, bucket));
  return std::optional<UploadRow>(std::move(row));
}

struct Position {  // a page contains greater positions
  std::string key;
  std::int64_t sequence = kFirst;
};

// nullopt: nothing can follow.
Result<std::optional<Position>> PageStart(Connection& connection, const Bucket& bucket,
                                          const ListUploads& query, const KeyFold& fold) {
  const std::string& key = query.key_marker;
  if (!key.empty() && !query.upload_id_marker.empty()) {
    const UploadId id(query.upload_id_marker);
    PENSTOCK_ASSIGN(const auto marker, FindUploadById(connection, bucket, id));
    // The id of an upload that was aborted or completed since the last page still contains its
    // position.
    const auto sequence = marker.has_value() ? std::optional(marker->sequence) : SequenceOf(id);
    if (!sequence.has_value() || (marker.has_value() && marker->record.key.value != key)) {
      Error error = Error::Make(ErrorKind::kInvalidArgument, "Invalid uploadId marker");
      error.code = "InvalidArgument";
      return std::move(error).At("", bucket.record->name.value, key);
    }
    if (fold.Matches(key) && fold.GroupOf(key).empty()) {
      return std::optional<Position>({key, *sequence});
    }
  }
  auto from = fold.LowerBound(key);
  if (!from.has_value()) return std::optional<Position>();
  return std::optional<Position>({std::move(*from), kFirst});
}

}  // namespace

Result<void> InsertUpload(Connection& connection, std::int64_t bucket, const UploadRow& upload) {
  const UploadRecord& record = upload.record;
  const std::string attributes = EncodeAttributes(record.attributes);
  const std::string tags = EncodeAttributes(record.tags);
  Query query(connection,
              "INSERT INTO uploads(bucket, " UPLOAD_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
  query.Bind(bucket).BindBytes(record.key.value).Bind(upload.sequence).BindText(record.id.value);
  query.BindText(record.owner_id)
      .Bind(ToNanoseconds(record.initiated))
      .BindText(record.storage_class);
  query.BindText(record.checksum_algorithm)
      .BindText(record.checksum_type)
      .BindBytes(attributes)
      .BindBytes(tags);
  query.BindText(record.current_at_create).BindText(record.initiator);
  return query.Run();
}

Result<void> DeleteUpload(Connection& connection, std::int64_t bucket, const UploadRow& upload) {
  Query parts(connection, "DELETE FROM parts WHERE upload=?");
  PENSTOCK_TRY(parts.Bind(upload.sequence).Run());
  Query query(connection, "DELETE FROM uploads WHERE bucket=? AND key=? AND sequence=?");
  return query.Bind(bucket).BindBytes(upload.record.key.value).Bind(upload.sequence).Run();
}

Result<std::optional<UploadRow>> FindUploadById(Connection& connection, const Bucket& bucket,
                                                const UploadId& id) {
  Query query(connection, "SELECT " UPLOAD_COLUMNS " FROM uploads WHERE id=? AND bucket=?");
  query.BindText(id.value).Bind(bucket.id);
  return ReadOne(connection, query, bucket);
}

Result<std::optional<UploadRow>> FindFirstUpload(Connection& connection, const Bucket& bucket) {
  Query query(connection, "SELECT " UPLOAD_COLUMNS " FROM uploads WHERE bucket=? LIMIT 1");
  query.Bind(bucket.id);
  return ReadOne(connection, query, bucket);
}

Result<UploadPage> ListUploadRows(Connection& connection, const Bucket& bucket,
                                  const ListUploads& query) {
  UploadPage page;
  if (query.max_uploads <= 0) return page;
  const KeyFold fold(query.prefix, query.delimiter);
  PENSTOCK_ASSIGN(auto from, PageStart(connection, bucket, query, fold));
  Query rows(connection,
             "SELECT " UPLOAD_COLUMNS
             " FROM uploads WHERE bucket=? AND (key, sequence) > (?, ?) ORDER BY key, sequence");
  bool seek = true;
  while (from.has_value()) {
    if (seek) {
      rows.Reset();
      rows.Bind(bucket.id).BindBytes(from->key).Bind(from->sequence);
      seek = false;
    }
    PENSTOCK_ASSIGN(const bool found, rows.Step());
    if (!found || !fold.Matches(rows.Bytes(0))) break;
    if (page.entries.size() == static_cast<std::size_t>(query.max_uploads)) {
      page.truncated = true;
      break;
    }
    const std::string group(fold.GroupOf(rows.Bytes(0)));
    if (group.empty()) {
      PENSTOCK_ASSIGN(UploadRow row, ReadUpload(connection, rows, bucket));
      page.entries.push_back({std::make_shared<const UploadRecord>(std::move(row.record)), {}});
      continue;
    }
    page.entries.push_back({nullptr, group});
    auto next = Successor(group);
    if (!next.has_value()) break;
    from = Position{std::move(*next), kFirst};
    seek = true;
  }
  return page;
}

UploadKeyCursor::UploadKeyCursor(Connection& connection, std::int64_t bucket)
    : query_(connection, "SELECT key FROM uploads WHERE bucket=? AND key<? ORDER BY key DESC"),
      bucket_(bucket) {}

Result<void> UploadKeyCursor::Seek(std::string_view key) {
  query_.Reset();
  query_.Bind(bucket_).BindBytes(key);
  return Next();
}

Result<void> UploadKeyCursor::Next() {
  PENSTOCK_ASSIGN(const bool row, query_.Step());
  at_end_ = !row;
  return Ok();
}

Result<std::vector<PartRow>> FindParts(Connection& connection, std::int64_t upload, int marker,
                                       int limit) {
  std::vector<PartRow> parts;
  Query query(
      connection,
      "SELECT record, content FROM parts WHERE upload=? AND number>? ORDER BY number LIMIT ?");
  query.Bind(upload).Bind(marker).Bind(limit);
  for (;;) {
    PENSTOCK_ASSIGN(const bool found, query.Step());
    if (!found) return parts;
    auto record = DecodeParts(query.Bytes(0));
    if (!record || record->size() != 1) return DamagedRecordError(connection);
    parts.push_back({std::move(record->front()), query.Text(1)});
  }
}

Result<void> WritePart(Connection& connection, std::int64_t upload, const PartRow& part) {
  const std::string record = EncodeParts({part.record});
  Query query(connection, "REPLACE INTO parts(upload, number, record, content) VALUES(?,?,?,?)");
  return query.Bind(upload).Bind(part.record.number).BindBytes(record).BindBytes(part.slices).Run();
}

}  // namespace penstock::emulator::store
