// The Store on SQLite and blobs. The methods are defined in buckets.cc, objects.cc, listing.cc,
// directory_listing.cc, renaming.cc and uploads.cc. sqlite_store.cc opens and closes the store.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_STORE_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_STORE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/checks/scrubber.h"
#include "emulator/store/commits/disk_guard.h"
#include "emulator/store/commits/write_queue.h"
#include "emulator/store/housekeeper.h"
#include "emulator/store/object_cache.h"
#include "emulator/store/sqlite/connection_pool.h"
#include "emulator/store/store.h"
#include "emulator/store/system/change_signal.h"
#include "emulator/store/system/descriptor.h"
#include "emulator/store/system/directory_lock.h"
#include "emulator/store/tables/bucket_table.h"
#include "emulator/store/tables/event_rows.h"
#include "emulator/store/tables/object_writes.h"
#include "emulator/store/tables/row_memory.h"
#include "emulator/store/tables/upload_rows.h"

namespace penstock::emulator::store {

class SqliteStore final : public Store {
 public:
  static Result<std::unique_ptr<SqliteStore>> Open(StoreOptions options);
  ~SqliteStore() override;

  Result<void> CreateBucket(BucketRecord bucket, std::size_t max_per_owner) override;
  Result<BucketPtr> FindBucket(const BucketName& name) override;
  Result<void> DeleteBucket(const BucketName& name) override {
    return DeleteBucket(name, OpenUploads::kGoWithIt);
  }
  Result<void> DeleteBucket(const BucketName& name, OpenUploads open_uploads) override;
  Result<std::vector<BucketPtr>> ListBuckets() override;
  Result<void> SetVersioning(const BucketName& name, Versioning versioning) override;
  Result<void> SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                std::optional<std::string> document,
                                std::vector<Event> events) override;

  Result<ObjectPtr> FindObject(const BucketName& bucket, const ObjectKey& key,
                               const std::optional<VersionId>& version) override;
  Result<PutOutcome> Put(PutObject request) override;
  void Put(PutObject request, Async<PutOutcome> later) override;
  Result<DeleteOutcome> Delete(DeleteObject request) override;
  void Delete(DeleteObject request, Async<DeleteOutcome> later) override;
  std::vector<Result<DeleteOutcome>> Delete(std::vector<DeleteObject> requests) override;
  Result<void> Rename(RenameObject request) override;
  Result<void> SetTags(const BucketName& bucket, const ObjectKey& key,
                       const std::optional<VersionId>& version, Attributes tags,
                       const EventMaker& events) override;
  Result<void> ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                const std::optional<VersionId>& version,
                                const AttributeChange& change, const EventMaker& events) override;
  std::vector<Result<void>> ChangeStorageClass(std::vector<StorageClassChange> changes) override;
  Result<ListPage> List(const ListObjects& query) override;
  Result<VersionPage> List(const ListVersions& query) override;
  Result<ListPage> List(const ListDirectory& query) override;

  Result<UploadPtr> CreateUpload(UploadRecord upload) override;
  Result<UploadPtr> FindUpload(const BucketName& bucket, const ObjectKey& key,
                               const UploadId& id) override;
  Result<void> Put(PutPart request) override;
  void Put(PutPart request, Async<void> later) override;
  Result<std::vector<StoredPart>> ListParts(const BucketName& bucket, const ObjectKey& key,
                                            const UploadId& id, int marker, int limit) override;
  Result<PutOutcome> Complete(CompleteUpload request) override;
  Result<ObjectPtr> FindCompleted(const BucketName& bucket, const ObjectKey& key,
                                  const UploadId& id) override;
  Result<void> AbortUpload(const BucketName& bucket, const ObjectKey& key,
                           const UploadId& id) override;
  Result<UploadPage> List(const ListUploads& query) override;

  Result<std::vector<StoredEvent>> ListEvents(std::uint64_t after, int limit) override;
  Result<std::vector<StoredEvent>> ListUndelivered(std::uint64_t after, int limit) override;
  Result<void> MarkDelivered(const std::vector<std::uint64_t>& numbers) override;
  Result<void> RemoveEvents(std::uint64_t last) override;

  Result<std::unique_ptr<BlobWriter>> NewBlob(std::uint64_t size_hint) override;

 private:
  // Each is one write: constructed from a request, run by the queue, then read for its outcome.
  class ObjectPut;
  class ObjectDelete;
  class PartPut;

  SqliteStore(StoreOptions options, DirectoryLock lock, std::unique_ptr<Connection> writer,
              std::int64_t first_number);

  // Runs `read` on one snapshot of the database.
  template <class T>
  Result<T> Read(const std::function<Result<T>(Connection&)>& read);
  // The same for records with content. Repeats while `read` returns nullopt, because the content
  // was removed concurrently.
  template <class T>
  Result<T> ReadSettled(const std::function<Result<std::optional<T>>(Connection&)>& read);

  void StartHousekeeping(Connection& writer, std::int64_t first_number);
  // Stores the checksums of a blob that was written by a version without checksums.
  Result<void> AdoptChecksums(std::int64_t blob_id, const std::string& checksums);
  Result<void> ChangeBucket(const BucketName& name,
                            const std::function<Result<void>(BucketRecord&)>& change,
                            WriteQueue::Purpose purpose = WriteQueue::Purpose::kStore,
                            const std::vector<Event>& events = {});
  ObjectWrite BeginObjectWrite(WriteTransaction& transaction, const Bucket& bucket);
  // Sets what readers see at the key after the commit: `object`, or null to look it up again.
  void Publish(WriteTransaction& transaction, const BucketName& bucket, const ObjectKey& key,
               ObjectPtr object);
  // Rejects a deletion that would add a delete marker while the memory limit is reached.
  Result<void> AdmitMarker(const ObjectWrite& write, const DeleteObject& request);
  // Keeps the key out of the cache until the following commit is published.
  void HoldInCache(const BucketName& bucket, const ObjectKey& key);
  Result<std::optional<ObjectPtr>> LoadObject(Connection& connection, ObjectRow row);

  // Fails with kNotFound (NoSuchUpload).
  Result<UploadRow> FindUploadRow(Connection& connection, const Bucket& bucket,
                                  const ObjectKey& key, const UploadId& id) const;
  // Removes the row, its parts and their blob references.
  Result<void> RemoveUpload(WriteTransaction& transaction, std::int64_t bucket,
                            const UploadRow& upload);
  Result<void> RemoveUploadsOf(WriteTransaction& transaction, const Bucket& bucket);

  const StoreOptions options_;
  const Clock& clock_;
  const std::shared_ptr<ChangeSignal> event_signal_;
  // With a directory only. Declared before all members that use the directory, so that it is
  // released last.
  const DirectoryLock lock_;
  const std::shared_ptr<BlobRegistry> registry_;
  RowMemory row_memory_;  // used by the writer only
  std::atomic<std::int64_t> next_number_;
  BucketTable buckets_;
  const std::shared_ptr<ObjectCache> cache_;
  // Null in memory mode. Must be destroyed after the connections.
  const std::unique_ptr<DiskGuard> guard_;
  ConnectionPool writer_;
  // Absent in memory mode, where one connection serves all requests in turn.
  std::optional<ConnectionPool> readers_;
  WriteQueue queue_;
  // Run by the housekeeper; with a directory only, unless verification is disabled.
  std::optional<Scrubber> scrubber_;
  std::optional<Housekeeper> housekeeper_;  // with a directory only
};

template <class T>
Result<T> SqliteStore::Read(const std::function<Result<T>(Connection&)>& read) {
  PENSTOCK_ASSIGN(const auto lease, (readers_.has_value() ? *readers_ : writer_).Take());
  PENSTOCK_TRY(Query(*lease, "BEGIN").Run());
  Result<T> result = read(*lease);
  Result<void> ended = Query(*lease, "COMMIT").Run();
  if (result.ok() && !ended.ok()) return std::move(ended).error();
  return result;
}

template <class T>
Result<T> SqliteStore::ReadSettled(
    const std::function<Result<std::optional<T>>(Connection&)>& read) {
  constexpr int kTries = 16;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    PENSTOCK_ASSIGN(std::optional<T> found, Read<std::optional<T>>(read));
    if (found.has_value()) return std::move(*found);
  }
  return Error::Make(ErrorKind::kDataLoss, "the data of the object is missing from " +
                                               options_.directory + "/blobs; upload it again");
}

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_STORE_H_
