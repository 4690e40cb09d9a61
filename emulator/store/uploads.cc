// Multipart methods of SqliteStore (Amazon S3 API Reference, "CompleteMultipartUpload").
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "emulator/store/commits/deferred_write.h"
#include "emulator/store/records/ids.h"
#include "emulator/store/sqlite_store.h"
#include "emulator/store/tables/blob_references.h"
#include "emulator/store/tables/upload_rows.h"

namespace penstock::emulator::store {
namespace {

constexpr std::int64_t kMaxRecordedUploads = 10'000;

Error NoSuchUpload(const BucketName& bucket, const ObjectKey& key) {
  Error error = Error::Make(
      ErrorKind::kNotFound,
      "The specified upload does not exist. The upload ID may be invalid, or the upload may have "
      "been aborted or completed.");
  error.code = "NoSuchUpload";
  return std::move(error).At("", bucket.value, key.value);
}

Error PartError(std::string code, std::string message, const CompleteUpload& request) {
  Error error = Error::Make(ErrorKind::kInvalidArgument, std::move(message));
  error.code = std::move(code);
  return std::move(error).At("", request.bucket.value, request.key.value);
}

Error InvalidPart(int number, const ETag& etag, const std::string& what,
                  const CompleteUpload& request) {
  Error error = PartError("InvalidPart", "part " + std::to_string(number) + " " + what, request);
  error.details = {{"UploadId", request.upload_id.value},
                   {"PartNumber", std::to_string(number)},
                   {"ETag", etag.value}};
  return error;
}

// Moves the listed parts from `rows` into the object. The caller releases the references of the
// other parts.
Result<ObjectRow> JoinParts(std::vector<PartRow>& rows, const CompleteUpload& request) {
  ObjectRow object;
  object.record = request.record;
  object.record.key = request.key;
  object.record.size = 0;
  object.record.parts.clear();
  object.record.content = {};
  std::size_t at = 0;
  int previous = 0;
  for (const auto& [number, etag] : request.parts) {
    if (number <= previous) {
      return PartError(
          "InvalidPartOrder",
          "The list of parts was not in ascending order. Parts must be ordered by part number.",
          request);
    }
    previous = number;
    while (at < rows.size() && rows[at].record.number < number) ++at;
    if (at == rows.size() || rows[at].record.number != number) {
      return InvalidPart(number, etag, "was not uploaded", request);
    }
    // The record's size, ETag and checksum were computed from that part. A part that was replaced
    // since then does not match them.
    if (rows[at].record.etag != etag) {
      return InvalidPart(number, etag,
                         "was replaced by a part with ETag " + rows[at].record.etag.value, request);
    }
    PartRow& part = rows[at];
    object.record.size += part.record.size;
    // Packed lists can be concatenated, and the references move with them.
    object.slices += part.slices;
    object.record.parts.push_back(std::move(part.record));
    part.slices.clear();
    part.record.number = number;
  }
  return object;
}

}  // namespace

Result<UploadRow> SqliteStore::FindUploadRow(Connection& connection, const Bucket& bucket,
                                             const ObjectKey& key, const UploadId& id) const {
  PENSTOCK_ASSIGN(auto row, FindUploadById(connection, bucket, id));
  if (!row.has_value() || row->record.key != key) return NoSuchUpload(bucket.record->name, key);
  return std::move(*row);
}

Result<UploadPtr> SqliteStore::CreateUpload(UploadRecord upload) {
  upload.initiated = clock_.Now();
  const auto record = std::make_shared<UploadRecord>(std::move(upload));
  const auto create = [&](WriteTransaction& transaction) -> Result<void> {
    PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(record->bucket));
    PENSTOCK_TRY(row_memory_.Admit(transaction.connection()));
    const std::int64_t sequence = next_number_.fetch_add(1, std::memory_order_relaxed);
    record->id = MakeUploadId(sequence);
    return InsertUpload(transaction.connection(), bucket.id, {*record, sequence});
  };
  PENSTOCK_TRY(queue_.Run(create));
  return UploadPtr(record);
}

Result<UploadPtr> SqliteStore::FindUpload(const BucketName& bucket, const ObjectKey& key,
                                          const UploadId& id) {
  return Read<UploadPtr>([&](Connection& connection) -> Result<UploadPtr> {
    PENSTOCK_ASSIGN(const Bucket found, buckets_.Find(bucket));
    PENSTOCK_ASSIGN(UploadRow row, FindUploadRow(connection, found, key, id));
    return UploadPtr(std::make_shared<const UploadRecord>(std::move(row.record)));
  });
}

class SqliteStore::PartPut {
 public:
  static constexpr auto kPurpose = WriteQueue::Purpose::kStore;

  PartPut(SqliteStore& store, PutPart request) : store_(store), request_(std::move(request)) {
    if (request_.part.last_modified == WallTime{}) request_.part.last_modified = store.clock_.Now();
  }
  PartPut(const PartPut&) = delete;
  PartPut& operator=(const PartPut&) = delete;

  Result<void> operator()(WriteTransaction& transaction) {
    Connection& connection = transaction.connection();
    PENSTOCK_ASSIGN(const Bucket bucket, store_.buckets_.Find(request_.bucket));
    PENSTOCK_ASSIGN(const UploadRow upload,
                    store_.FindUploadRow(connection, bucket, request_.key, request_.upload_id));
    PENSTOCK_TRY(store_.row_memory_.Admit(connection));
    PartRow row;
    row.record = request_.part;
    PENSTOCK_ASSIGN(row.slices, AddReferences(transaction, store_.registry_, request_.content));
    PENSTOCK_ASSIGN(const auto replaced,
                    FindParts(connection, upload.sequence, request_.part.number - 1, 1));
    if (!replaced.empty() && replaced.front().record.number == request_.part.number) {
      PENSTOCK_TRY(ReleaseReferences(transaction, store_.registry_, replaced.front().slices));
    }
    return WritePart(connection, upload.sequence, row);
  }

  Result<void> TakeOutcome() { return Ok(); }

 private:
  SqliteStore& store_;
  PutPart request_;
};

Result<void> SqliteStore::Put(PutPart request) {
  return WriteNow<PartPut>(queue_, *this, std::move(request));
}

void SqliteStore::Put(PutPart request, Async<void> later) {
  WriteDeferred<PartPut>(queue_, std::move(later), *this, std::move(request));
}

Result<std::vector<StoredPart>> SqliteStore::ListParts(const BucketName& bucket,
                                                       const ObjectKey& key, const UploadId& id,
                                                       int marker, int limit) {
  using Parts = std::vector<StoredPart>;
  const auto read = [&](Connection& connection) -> Result<std::optional<Parts>> {
    PENSTOCK_ASSIGN(const Bucket found, buckets_.Find(bucket));
    PENSTOCK_ASSIGN(const UploadRow upload, FindUploadRow(connection, found, key, id));
    PENSTOCK_ASSIGN(auto rows, FindParts(connection, upload.sequence, marker, limit));
    Parts parts;
    parts.reserve(rows.size());
    for (PartRow& row : rows) {
      PENSTOCK_ASSIGN(auto content, LoadContent(connection, registry_, row.slices));
      if (!content.has_value()) return std::optional<Parts>();
      parts.push_back({std::move(row.record), std::move(*content)});
    }
    return std::optional<Parts>(std::move(parts));
  };
  return ReadSettled<Parts>(read);
}

Result<PutOutcome> SqliteStore::Complete(CompleteUpload request) {
  PutOutcome outcome;
  const auto complete = [&](WriteTransaction& transaction) -> Result<void> {
    Connection& connection = transaction.connection();
    PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(request.bucket));
    PENSTOCK_ASSIGN(const UploadRow upload,
                    FindUploadRow(connection, bucket, request.key, request.upload_id));
    const ObjectWrite write = BeginObjectWrite(transaction, bucket);
    PENSTOCK_TRY(CheckPrecondition(write, request.key, request.precondition));
    PENSTOCK_ASSIGN(auto parts,
                    FindParts(connection, upload.sequence, 0, std::numeric_limits<int>::max()));
    PENSTOCK_ASSIGN(ObjectRow object, JoinParts(parts, request));
    for (const PartRow& unlisted : parts)
      PENSTOCK_TRY(ReleaseReferences(transaction, registry_, unlisted.slices));
    PENSTOCK_TRY(DeleteUpload(connection, bucket.id, upload));
    PENSTOCK_TRY(PlaceObject(write, object));
    PENSTOCK_TRY(RecordEvents(write, request.events, object.record));
    PENSTOCK_TRY(RecordCompleted(connection, bucket.id, request.upload_id.value, object,
                                 kMaxRecordedUploads));
    PENSTOCK_ASSIGN(auto loaded, LoadObject(connection, std::move(object)));
    if (!loaded.has_value()) {
      return Error::Make(ErrorKind::kDataLoss,
                         "the data of a part is missing from " + options_.directory + "/blobs")
          .At("", request.bucket.value, request.key.value);
    }
    outcome.object = std::move(*loaded);
    outcome.versioning = bucket.record->versioning;
    Publish(transaction, request.bucket, request.key, outcome.object);
    return Ok();
  };
  PENSTOCK_TRY(queue_.Run(complete));
  return outcome;
}

Result<ObjectPtr> SqliteStore::FindCompleted(const BucketName& bucket, const ObjectKey& key,
                                             const UploadId& id) {
  return Read<ObjectPtr>([&](Connection& connection) -> Result<ObjectPtr> {
    PENSTOCK_ASSIGN(const Bucket found, buckets_.Find(bucket));
    PENSTOCK_ASSIGN(auto row, FindCompletedRow(connection, found.id, key.value, id.value));
    if (!row.has_value()) return NoSuchUpload(bucket, key);
    return ObjectPtr(std::make_shared<const ObjectRecord>(std::move(row->record)));
  });
}

Result<void> SqliteStore::AbortUpload(const BucketName& bucket, const ObjectKey& key,
                                      const UploadId& id) {
  const auto abort = [&](WriteTransaction& transaction) -> Result<void> {
    PENSTOCK_ASSIGN(const Bucket found, buckets_.Find(bucket));
    PENSTOCK_ASSIGN(const UploadRow upload,
                    FindUploadRow(transaction.connection(), found, key, id));
    return RemoveUpload(transaction, found.id, upload);
  };
  return queue_.Run(abort, WriteQueue::Batching::kAllowed, WriteQueue::Purpose::kRemove);
}

Result<void> SqliteStore::RemoveUpload(WriteTransaction& transaction, std::int64_t bucket,
                                       const UploadRow& upload) {
  Connection& connection = transaction.connection();
  PENSTOCK_ASSIGN(const auto parts,
                  FindParts(connection, upload.sequence, 0, std::numeric_limits<int>::max()));
  for (const PartRow& part : parts)
    PENSTOCK_TRY(ReleaseReferences(transaction, registry_, part.slices));
  row_memory_.Release(transaction, 1 + parts.size());
  return DeleteUpload(connection, bucket, upload);
}

Result<void> SqliteStore::RemoveUploadsOf(WriteTransaction& transaction, const Bucket& bucket) {
  for (;;) {
    PENSTOCK_ASSIGN(const auto upload, FindFirstUpload(transaction.connection(), bucket));
    if (!upload.has_value()) return Ok();
    PENSTOCK_TRY(RemoveUpload(transaction, bucket.id, *upload));
  }
}

Result<UploadPage> SqliteStore::List(const ListUploads& query) {
  return Read<UploadPage>([&](Connection& connection) -> Result<UploadPage> {
    PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(query.bucket));
    return ListUploadRows(connection, bucket, query);
  });
}

}  // namespace penstock::emulator::store
