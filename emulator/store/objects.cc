// Object methods of SqliteStore: find, put, delete, tag.
#include <functional>
#include <memory>
#include <utility>

#include "emulator/store/commits/deferred_write.h"
#include "emulator/store/sqlite_store.h"
#include "emulator/store/tables/blob_references.h"
#include "emulator/store/tables/object_writes.h"

namespace penstock::emulator::store {
namespace {

Error NoSuchKey(const BucketName& bucket, const ObjectKey& key) {
  Error error = Error::Make(ErrorKind::kNotFound, "The specified key does not exist.");
  error.code = "NoSuchKey";
  return std::move(error).At("", bucket.value, key.value);
}

Result<ObjectRow> FindRow(Connection& connection, const Bucket& bucket, const ObjectKey& key,
                          const std::optional<VersionId>& version) {
  if (version.has_value()) return FindVersion(connection, bucket, key, *version);
  PENSTOCK_ASSIGN(auto latest, FindLatest(connection, bucket.id, key.value));
  if (!latest.has_value()) return NoSuchKey(bucket.record->name, key);
  return std::move(*latest);
}

Error DeleteMarkerError(const BucketName& bucket, const ObjectKey& key) {
  Error error = Error::Make(ErrorKind::kInvalidArgument,
                            "The specified method is not allowed against this resource.");
  error.code = "MethodNotAllowed";
  return std::move(error).At("", bucket.value, key.value);
}

Result<DeleteOutcome> Remove(const ObjectWrite& write, const DeleteObject& request) {
  return request.version_id.has_value() ? DeleteVersion(write, request.key, *request.version_id)
                                        : DeleteLatest(write, request.key);
}

std::uint64_t RemovedRows(const DeleteOutcome& outcome) {
  return outcome.existed && !outcome.created_marker ? 1 : 0;
}

}  // namespace

Result<ObjectPtr> SqliteStore::FindObject(const BucketName& bucket, const ObjectKey& key,
                                          const std::optional<VersionId>& version) {
  if (ObjectPtr cached = cache_->Find(bucket.value, key.value); cached != nullptr) {
    if (!version.has_value() || cached->version_id == *version) return cached;
  }
  ObjectCache::Ticket ticket = 0;
  const auto read = [&](Connection& connection) -> Result<std::optional<ObjectPtr>> {
    // Taken before the first SELECT, which starts the snapshot.
    ticket = cache_->TakeTicket(bucket.value, key.value);
    PENSTOCK_ASSIGN(const Bucket found, buckets_.Find(bucket));
    PENSTOCK_ASSIGN(ObjectRow row, FindRow(connection, found, key, version));
    return LoadObject(connection, std::move(row));
  };
  PENSTOCK_ASSIGN(ObjectPtr object, ReadSettled<ObjectPtr>(read));
  if (object->is_latest) cache_->Offer(bucket.value, object, ticket);
  return object;
}

class SqliteStore::ObjectPut {
 public:
  static constexpr auto kPurpose = WriteQueue::Purpose::kStore;

  ObjectPut(SqliteStore& store, PutObject request)
      : store_(store),
        bucket_name_(std::move(request.bucket)),
        requested_time_(request.record.last_modified),
        precondition_(std::move(request.precondition)),
        events_(std::move(request.events)) {
    row_.record = std::move(request.record);
  }
  ObjectPut(const ObjectPut&) = delete;
  ObjectPut& operator=(const ObjectPut&) = delete;

  Result<void> operator()(WriteTransaction& transaction) {
    PENSTOCK_ASSIGN(const Bucket bucket, store_.buckets_.Find(bucket_name_));
    const ObjectWrite write = store_.BeginObjectWrite(transaction, bucket);
    PENSTOCK_TRY(CheckPrecondition(write, row_.record.key, precondition_));
    PENSTOCK_TRY(store_.row_memory_.Admit(transaction.connection()));
    row_.record.last_modified = requested_time_;  // an earlier run may have set it
    PENSTOCK_ASSIGN(row_.slices, AddReferences(transaction, store_.registry_, row_.record.content));
    PENSTOCK_TRY(PlaceObject(write, row_));
    PENSTOCK_TRY(RecordEvents(write, events_, row_.record));
    outcome_.versioning = bucket.record->versioning;
    // The effect runs before Done is called or Run returns, so this object is still alive.
    transaction.AroundCommit([this](CommitPhase phase) { Publish(phase); });
    return Ok();
  }

  Result<PutOutcome> TakeOutcome() { return std::move(outcome_); }

 private:
  void Publish(CommitPhase phase) {
    if (phase == CommitPhase::kBefore) return store_.HoldInCache(bucket_name_, row_.record.key);
    if (phase == CommitPhase::kUndone)
      return store_.cache_->Erase(bucket_name_.value, row_.record.key.value);
    try {
      outcome_.object = std::make_shared<const ObjectRecord>(std::move(row_.record));
    } catch (...) {  // out of memory, before the record was moved
      store_.cache_->Erase(bucket_name_.value, row_.record.key.value);
      throw;
    }
    store_.cache_->Set(bucket_name_.value, outcome_.object);
  }

  SqliteStore& store_;
  const BucketName bucket_name_;
  const WallTime requested_time_;
  const Precondition precondition_;
  const EventMaker events_;
  ObjectRow row_;
  PutOutcome outcome_;
};

Result<PutOutcome> SqliteStore::Put(PutObject request) {
  return WriteNow<ObjectPut>(queue_, *this, std::move(request));
}

void SqliteStore::Put(PutObject request, Async<PutOutcome> later) {
  WriteDeferred<ObjectPut>(queue_, std::move(later), *this, std::move(request));
}

Result<void> SqliteStore::AdmitMarker(const ObjectWrite& write, const DeleteObject& request) {
  const bool makes_marker =
      !request.version_id && write.bucket.record->versioning != Versioning::kNever;
  return makes_marker ? row_memory_.Admit(write.connection()) : Ok();
}

class SqliteStore::ObjectDelete {
 public:
  static constexpr auto kPurpose = WriteQueue::Purpose::kRemove;

  ObjectDelete(SqliteStore& store, DeleteObject request)
      : store_(store), request_(std::move(request)) {}
  ObjectDelete(const ObjectDelete&) = delete;
  ObjectDelete& operator=(const ObjectDelete&) = delete;

  Result<void> operator()(WriteTransaction& transaction) {
    PENSTOCK_ASSIGN(const Bucket bucket, store_.buckets_.Find(request_.bucket));
    const ObjectWrite write = store_.BeginObjectWrite(transaction, bucket);
    PENSTOCK_TRY(CheckDelete(write, request_));
    PENSTOCK_TRY(store_.AdmitMarker(write, request_));
    PENSTOCK_ASSIGN(outcome_, Remove(write, request_));
    PENSTOCK_TRY(RecordDeletion(write, request_, outcome_));
    store_.row_memory_.Release(transaction, RemovedRows(outcome_));
    store_.Publish(transaction, request_.bucket, request_.key, nullptr);
    return Ok();
  }

  Result<DeleteOutcome> TakeOutcome() { return std::move(outcome_); }

 private:
  SqliteStore& store_;
  const DeleteObject request_;
  DeleteOutcome outcome_;
};

Result<DeleteOutcome> SqliteStore::Delete(DeleteObject request) {
  return WriteNow<ObjectDelete>(queue_, *this, std::move(request));
}

void SqliteStore::Delete(DeleteObject request, Async<DeleteOutcome> later) {
  WriteDeferred<ObjectDelete>(queue_, std::move(later), *this, std::move(request));
}

std::vector<Result<DeleteOutcome>> SqliteStore::Delete(std::vector<DeleteObject> requests) {
  std::vector<Result<DeleteOutcome>> outcomes;
  const auto remove = [&](WriteTransaction& transaction) -> Result<void> {
    outcomes.clear();  // the queue may run this again
    std::uint64_t removed = 0;
    for (const DeleteObject& request : requests) {
      const auto bucket = buckets_.Find(request.bucket);
      if (!bucket.ok()) {
        outcomes.push_back(bucket.error());
        continue;
      }
      const ObjectWrite write = BeginObjectWrite(transaction, *bucket);
      auto allowed = CheckDelete(write, request);
      if (allowed.ok()) allowed = AdmitMarker(write, request);
      if (!allowed.ok()) {
        outcomes.push_back(std::move(allowed).error());
        continue;
      }
      // Later failures come from the database and fail all deletions.
      PENSTOCK_ASSIGN(DeleteOutcome outcome, Remove(write, request));
      PENSTOCK_TRY(RecordDeletion(write, request, outcome));
      removed += RemovedRows(outcome);
      outcomes.push_back(std::move(outcome));
      Publish(transaction, request.bucket, request.key, nullptr);
    }
    row_memory_.Release(transaction, removed);
    return Ok();
  };
  auto done = queue_.Run(remove, WriteQueue::Batching::kAllowed, WriteQueue::Purpose::kRemove);
  if (!done.ok()) outcomes.assign(requests.size(), done.error());
  return outcomes;
}

Result<void> SqliteStore::SetTags(const BucketName& bucket, const ObjectKey& key,
                                  const std::optional<VersionId>& version, Attributes tags,
                                  const EventMaker& events) {
  const auto change = [&](WriteTransaction& transaction) -> Result<void> {
    PENSTOCK_ASSIGN(const Bucket found, buckets_.Find(bucket));
    PENSTOCK_ASSIGN(const ObjectRow row, FindRow(transaction.connection(), found, key, version));
    if (row.record.is_delete_marker) return DeleteMarkerError(bucket, key);
    if (!tags.empty()) PENSTOCK_TRY(row_memory_.Admit(transaction.connection()));
    PENSTOCK_TRY(WriteTags(transaction.connection(), found.id, row, tags));
    if (events)
      PENSTOCK_TRY(RecordEvents(BeginObjectWrite(transaction, found), events, row.record));
    Publish(transaction, bucket, key, nullptr);
    return Ok();
  };
  return queue_.Run(change, WriteQueue::Batching::kAllowed,
                    tags.empty() ? WriteQueue::Purpose::kRemove : WriteQueue::Purpose::kStore);
}

Result<void> SqliteStore::ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                           const std::optional<VersionId>& version,
                                           const AttributeChange& change,
                                           const EventMaker& events) {
  return queue_.Run([&](WriteTransaction& transaction) -> Result<void> {
    PENSTOCK_ASSIGN(const Bucket found, buckets_.Find(bucket));
    PENSTOCK_ASSIGN(const ObjectRow row, FindRow(transaction.connection(), found, key, version));
    if (row.record.is_delete_marker) return DeleteMarkerError(bucket, key);
    Attributes attributes = row.record.attributes;
    PENSTOCK_TRY(change(row.record, attributes));
    PENSTOCK_TRY(row_memory_.Admit(transaction.connection()));
    PENSTOCK_TRY(WriteAttributes(transaction.connection(), found.id, row, attributes));
    if (events)
      PENSTOCK_TRY(RecordEvents(BeginObjectWrite(transaction, found), events, row.record));
    Publish(transaction, bucket, key, nullptr);
    return Ok();
  });
}

Result<void> Store::SetAttribute(const BucketName& bucket, const ObjectKey& key,
                                 const std::optional<VersionId>& version, const std::string& name,
                                 std::optional<std::string> value) {
  return ChangeAttributes(bucket, key, version, [&](const ObjectRecord&, Attributes& attributes) {
    std::erase_if(attributes, [&](const auto& entry) { return entry.first == name; });
    if (value) attributes.emplace_back(name, *value);
    return Ok();
  });
}

std::vector<Result<void>> SqliteStore::ChangeStorageClass(std::vector<StorageClassChange> changes) {
  std::vector<Result<void>> outcomes;
  const auto change = [&](WriteTransaction& transaction) -> Result<void> {
    outcomes.clear();  // the queue may run this again
    std::vector<Event> events;
    for (const StorageClassChange& each : changes) {
      const auto move = [&]() -> Result<void> {
        PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(each.bucket));
        PENSTOCK_ASSIGN(ObjectRow row,
                        FindVersion(transaction.connection(), bucket, each.key, each.version_id));
        if (row.record.is_delete_marker) return DeleteMarkerError(each.bucket, each.key);
        if (each.condition) PENSTOCK_TRY(each.condition(&row.record));
        PENSTOCK_TRY(row_memory_.Admit(transaction.connection()));
        PENSTOCK_TRY(
            WriteStorageClass(transaction.connection(), bucket.id, row, each.storage_class));
        Publish(transaction, each.bucket, each.key, nullptr);
        row.record.storage_class = each.storage_class;
        const ObjectWrite write = BeginObjectWrite(transaction, bucket);
        AppendEvents(write, each.events, row.record, events);
        return Ok();
      };
      outcomes.push_back(move());
    }
    return AddEvents(transaction, events, *event_signal_);
  };
  auto done = queue_.Run(change, WriteQueue::Batching::kAllowed);
  if (!done.ok()) outcomes.assign(changes.size(), done.error());
  return outcomes;
}

}  // namespace penstock::emulator::store
