// Bucket methods of SqliteStore.
#include <algorithm>
#include <memory>
#include <utility>

#include "emulator/store/sqlite_store.h"
#include "emulator/store/tables/object_rows.h"

namespace penstock::emulator::store {
namespace {

Error BucketError(ErrorKind kind, std::string code, std::string message, const BucketName& name) {
  Error error = Error::Make(kind, std::move(message));
  error.code = std::move(code);
  error.bucket = name.value;
  return error;
}

// Settings are kept twice: in the bucket's row and in its record. A row takes whole pages.
std::uint64_t RowAndRecord(const BucketRecord& record) {
  std::uint64_t row = 0;
  for (const auto& [sub_resource, document] : record.configuration)
    row += sub_resource.size() + document.size();
  return MemoryOf(record) + row + row / 8;
}

}  // namespace

Result<void> SqliteStore::CreateBucket(BucketRecord bucket, std::size_t max_per_owner) {
  if (bucket.created == WallTime{}) bucket.created = clock_.Now();
  const auto record = std::make_shared<const BucketRecord>(std::move(bucket));
  return queue_.Run(
      [&](WriteTransaction& transaction) -> Result<void> {
        if (const auto existing = buckets_.Find(record->name); existing.ok()) {
          if (existing->record->owner_id == record->owner_id) {
            return BucketError(ErrorKind::kAlreadyExists, "BucketAlreadyOwnedByYou",
                               "Your previous request to create the named bucket succeeded and you "
                               "already own it.",
                               record->name);
          }
          return BucketError(ErrorKind::kAlreadyExists, "BucketAlreadyExists",
                             "The requested bucket name is not available.", record->name);
        }
        if (max_per_owner != SIZE_MAX && buckets_.CountOf(record->owner_id) >= max_per_owner) {
          return BucketError(ErrorKind::kResourceExhausted, "TooManyBuckets",
                             "You have attempted to create more buckets than allowed",
                             record->name);
        }
        PENSTOCK_TRY(row_memory_.Admit(transaction.connection(), RowAndRecord(*record)));
        const Bucket created{next_number_.fetch_add(1, std::memory_order_relaxed), record};
        PENSTOCK_TRY(WriteBucket(transaction.connection(), created));
        transaction.AfterCommit([this, created] { buckets_.Set(created); });
        return Ok();
      },
      WriteQueue::Batching::kAlone);
}

Result<BucketPtr> SqliteStore::FindBucket(const BucketName& name) {
  PENSTOCK_ASSIGN(Bucket bucket, buckets_.Find(name));
  return std::move(bucket.record);
}

Result<std::vector<BucketPtr>> SqliteStore::ListBuckets() { return buckets_.All(); }

Result<void> SqliteStore::DeleteBucket(const BucketName& name, OpenUploads open_uploads) {
  return queue_.Run(
      [&](WriteTransaction& transaction) -> Result<void> {
        PENSTOCK_ASSIGN(const Bucket bucket, buckets_.Find(name));
        PENSTOCK_ASSIGN(const bool has_objects,
                        BucketHasObjects(transaction.connection(), bucket.id));
        if (has_objects) {
          return BucketError(ErrorKind::kConflict, "BucketNotEmpty",
                             "The bucket you tried to delete is not empty", name);
        }
        if (open_uploads == OpenUploads::kBlockIt) {
          PENSTOCK_ASSIGN(const auto upload, FindFirstUpload(transaction.connection(), bucket));
          if (upload.has_value()) {
            return BucketError(ErrorKind::kConflict, "BucketNotEmpty",
                               "The bucket you tried to delete has open uploads", name);
          }
        }
        PENSTOCK_TRY(RemoveUploadsOf(transaction, bucket));
        row_memory_.Release(transaction, 1);
        PENSTOCK_TRY(RemoveBucket(transaction.connection(), bucket.id));
        transaction.AroundCommit([this, &name](CommitPhase phase) {
          // Readers must not see the bucket without its open uploads, which the commit deletes.
          if (phase == CommitPhase::kBefore) return buckets_.Hold(name);
          if (phase == CommitPhase::kCommitted) buckets_.Erase(name);
          buckets_.Release();
        });
        return Ok();
      },
      WriteQueue::Batching::kAlone, WriteQueue::Purpose::kRemove);
}

Result<void> SqliteStore::ChangeBucket(const BucketName& name,
                                       const std::function<Result<void>(BucketRecord&)>& change,
                                       WriteQueue::Purpose purpose,
                                       const std::vector<Event>& events) {
  return queue_.Run(
      [&](WriteTransaction& transaction) -> Result<void> {
        PENSTOCK_ASSIGN(Bucket bucket, buckets_.Find(name));
        BucketRecord changed = *bucket.record;
        PENSTOCK_TRY(change(changed));
        const std::uint64_t before = RowAndRecord(*bucket.record);
        const std::uint64_t after = RowAndRecord(changed);
        // Settings that do not grow can be changed and removed also in a full store.
        if (after > before)
          PENSTOCK_TRY(row_memory_.Admit(transaction.connection(), after - before));
        if (after < before) row_memory_.Release(transaction, 1);
        bucket.record = std::make_shared<const BucketRecord>(std::move(changed));
        PENSTOCK_TRY(WriteBucket(transaction.connection(), bucket));
        PENSTOCK_TRY(AddEvents(transaction, events, *event_signal_));
        transaction.AfterCommit([this, bucket] { buckets_.Set(bucket); });
        return Ok();
      },
      WriteQueue::Batching::kAlone, purpose);
}

Result<void> SqliteStore::SetVersioning(const BucketName& name, Versioning versioning) {
  return ChangeBucket(name, [&](BucketRecord& bucket) -> Result<void> {
    if (versioning == Versioning::kNever && bucket.versioning != Versioning::kNever) {
      return BucketError(ErrorKind::kInvalidArgument, "IllegalVersioningConfigurationException",
                         "versioning that was enabled can be suspended but not removed", name);
    }
    bucket.versioning = versioning;
    return Ok();
  });
}

Result<void> SqliteStore::SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                           std::optional<std::string> document,
                                           std::vector<Event> events) {
  const auto change = [&](BucketRecord& bucket) -> Result<void> {
    Attributes& all = bucket.configuration;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& entry) { return entry.first == sub_resource; });
    if (!document.has_value()) {
      if (found != all.end()) all.erase(found);
    } else if (found != all.end()) {
      found->second = *document;
    } else {
      all.emplace_back(sub_resource, *document);
    }
    return Ok();
  };
  return ChangeBucket(
      name, change, document ? WriteQueue::Purpose::kStore : WriteQueue::Purpose::kRemove, events);
}

}  // namespace penstock::emulator::store
